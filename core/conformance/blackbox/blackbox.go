// Package blackbox holds a plugin executable to the contract from outside: it
// starts the plugin as a driver does, talks to it with peers of package net, and
// judges by what comes back and by what the operating system shows of the
// process. It knows no runtime by name and nothing of a plugin's inside, so a
// plugin in another language is judged as one in Go is.
//
// A plugin is judged by what it claims: every protocol, execution, IO model and
// role that it does not say it lacks is tried, each rule in a fresh process.
package blackbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/netmatrix/netmatrix/core/authority"
	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol"
)

// Rule is one sentence of the contract, as far as it shows from outside, and
// the function that tries it.
type Rule struct {
	Name     string
	Sentence string // without its subject: "answers every message …"

	// only says which claims the rule is about; nil: all.
	only func(*env) bool
	// try returns what was seen, or what is wrong.
	try func(*env) (seen string, err error)
}

// Rules are the rules there are, in the order they are tried: what later ones
// rely on comes first.
func Rules() []Rule {
	return slices.Concat(pluginRules, combinationRules())
}

func combinationRules() []Rule {
	return slices.Concat(messageRules, connectionRules, flowRules, processRules, loadRules)
}

// Config says how much is tried: everything, but for what it leaves out.
type Config struct {
	Protocols []protocol.Protocol // that this build can talk
	Only      []string            // names of protocols to try; nil: all that the plugin claims
	Rules     []string            // names of rules to try; nil: all
	// Quick tries less, for a test run: fewer connections and bytes, and only
	// the first protocol in every variant, the others in one each, in turn.
	Quick bool
}

// Validate finds names of rules and protocols that there are not.
func (c Config) Validate() error {
	var names []string
	for _, r := range Rules() {
		names = append(names, r.Name)
	}
	for _, name := range c.Rules {
		if !slices.Contains(names, name) {
			return fmt.Errorf("there is no rule %q; there are %s", name, strings.Join(names, ", "))
		}
	}
	for _, name := range c.Only {
		if !slices.ContainsFunc(c.Protocols, func(p protocol.Protocol) bool { return p.Name == name }) {
			return fmt.Errorf("this build does not know the protocol %q", name)
		}
	}
	return nil
}

func (c Config) tries(r Rule) bool { return c.Rules == nil || slices.Contains(c.Rules, r.Name) }

// limit is how long one rule may take. It is no measure of speed: a rule that
// needs it all hangs.
const limit = 30 * time.Second

// Verify holds the plugin at path to the rules. watch (may be nil) is told of
// each finding when it is made. The error says why the plugin could not be
// judged; what it does wrong is in the report.
func Verify(ctx context.Context, host *goplugin.Host, path string, cfg Config, watch func(Combination, Finding)) (*Report, error) {
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	certs, err := authority.New()
	if err != nil {
		return nil, fmt.Errorf("make certificates: %w", err)
	}
	if watch == nil {
		watch = func(Combination, Finding) {}
	}
	v := &verification{host: host, path: path, cfg: cfg, certs: certs, watch: watch}
	report := v.run(ctx)
	return report, ctx.Err()
}

// verification is one plugin being verified.
type verification struct {
	host   *goplugin.Host
	path   string
	cfg    Config
	certs  *authority.Certificates
	watch  func(Combination, Finding)
	plugin control.Description // what it says of itself, from rule Starts on
}

// run tries the rules about the plugin as a whole, then those about each of
// its combinations.
func (v *verification) run(ctx context.Context) *Report {
	report := &Report{Path: v.path}
	works := v.try(ctx, report, Combination{}, protocol.Protocol{}, pluginRules)
	report.Plugin, report.Notes = v.plugin, v.notes()
	if !works {
		return report
	}
	variants := conformance.Variants(v.plugin.Info)
	for i, p := range v.protocols() {
		for j, variant := range variants {
			if v.cfg.Quick && i > 0 && j != i%len(variants) {
				continue
			}
			v.try(ctx, report, Combination{p.Name, variant}, p, combinationRules())
		}
	}
	return report
}

// protocols are those to be tried: claimed, known, and asked for.
func (v *verification) protocols() []protocol.Protocol {
	return slices.DeleteFunc(slices.Clone(v.cfg.Protocols), func(p protocol.Protocol) bool {
		return !slices.Contains(v.plugin.Protocols, p.Name) || lacks(v.plugin.Info, "protocol", p.Name) ||
			v.cfg.Only != nil && !slices.Contains(v.cfg.Only, p.Name)
	})
}

// notes are what a reader has to know about the verdict.
func (v *verification) notes() []string {
	var notes []string
	for _, name := range v.plugin.Protocols {
		if !slices.ContainsFunc(v.cfg.Protocols, func(p protocol.Protocol) bool { return p.Name == name }) {
			notes = append(notes, fmt.Sprintf("it carries %s, which this build cannot talk: not tried", name))
		}
	}
	for _, name := range v.cfg.Only {
		if !slices.ContainsFunc(v.protocols(), func(p protocol.Protocol) bool { return p.Name == name }) {
			notes = append(notes, fmt.Sprintf("it does not carry %s: nothing of that was tried", name))
		}
	}
	if why := v.plugin.Info.ReadsOn; why != "" {
		notes = append(notes, "it cannot pause reading: "+why)
	}
	return notes
}

// try adds the findings of some rules on one combination to the report. The
// first rule is what all others need: without it they are not tried, and the
// result is false.
func (v *verification) try(ctx context.Context, report *Report, at Combination, p protocol.Protocol, rules []Rule) bool {
	works := true
	for i, r := range rules {
		e := &env{verification: v, at: at, protocol: p}
		if r.only != nil && !r.only(e) || i > 0 && !v.cfg.tries(r) {
			continue
		}
		f := Finding{Rule: r.Name, Sentence: r.Sentence, Verdict: Skipped, Seen: "not tried: it fails " + rules[0].Name}
		if works {
			f = e.judge(ctx, r)
		}
		if ctx.Err() != nil {
			return false // interrupted: whatever was found means nothing
		}
		works = works && (i > 0 || f.Verdict != Fail)
		report.add(at, f)
		v.watch(at, f)
	}
	return works
}

// judge tries one rule in an environment of its own.
func (e *env) judge(ctx context.Context, r Rule) Finding {
	began := time.Now()
	var cancel context.CancelFunc
	e.ctx, cancel = context.WithTimeout(ctx, limit)
	defer cancel()
	defer context.AfterFunc(ctx, e.closeAll)()
	seen, err := r.try(e)
	f := Finding{Rule: r.Name, Sentence: r.Sentence, Verdict: Pass, Seen: seen}
	var skip *skipped
	switch {
	case errors.As(err, &skip):
		f.Verdict, f.Seen = Skipped, skip.why
	case err != nil:
		f.Verdict, f.Seen = Fail, e.explain(err)
		if e.process != nil {
			f.Stderr = e.process.Stderr()
		}
	}
	e.finish()
	f.Seconds = time.Since(began).Seconds()
	return f
}

// skipped is the error of a rule that cannot be tried here.
type skipped struct{ why string }

func (s *skipped) Error() string { return s.why }
