package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/netmatrix/netmatrix/core/conformance/blackbox"
	"github.com/netmatrix/netmatrix/core/goplugin"
	"github.com/netmatrix/netmatrix/core/protocol/all"
)

// conformanceError says that a plugin breaks the contract.
type conformanceError struct{ text string }

func (e *conformanceError) Error() string { return e.text }

func newVerify() *cobra.Command {
	var format string
	cfg := blackbox.Config{Protocols: all.Protocols()}
	c := &cobra.Command{
		Use:   "verify PLUGIN",
		Short: "Hold any plugin executable to the contract, from outside",
		Long: `verify starts a plugin as a run does and tries the rules of the contract on
everything it claims: each protocol with each execution and IO model, each rule
in a fresh process, with a time limit. What the plugin says that it cannot do is
not held against it. The findings go to stdout; exit 4 says that a rule was
broken. The plugin may be written in any language.

The rules, in words that follow "a plugin":
` + ruleList(),
		Example: `  netmatrix verify bin/plugins/rawpoll
  netmatrix verify --rule Work --rule Stop --protocol tcp ./my-plugin
  netmatrix verify --format json ./my-plugin | jq '.chapters[].findings[] | select(.verdict == "fail")'`,
		Args: oneArgument("the path of a plugin"),
	}
	c.Flags().StringVar(&format, "format", "text", "`text` or json")
	c.Flags().StringSliceVar(&cfg.Rules, "rule", nil, "only this `rule`, besides Starts and Serves; may be repeated")
	c.Flags().StringSliceVar(&cfg.Only, "protocol", nil, "only this `protocol`; may be repeated")
	c.Flags().BoolVar(&cfg.Quick, "quick", false, "fewer connections, bytes and combinations")
	_ = c.RegisterFlagCompletionFunc("format", cobra.FixedCompletions([]string{"text", "json"}, cobra.ShellCompDirectiveNoFileComp))
	c.RunE = func(c *cobra.Command, args []string) error {
		if format != "text" && format != "json" {
			return usagef("--format: %q is neither text nor json", format)
		}
		if err := cfg.Validate(); err != nil {
			return usagef("%w", err)
		}
		path, err := pluginPath(args[0])
		if err != nil {
			return err
		}
		return verify(c, path, cfg, format == "json")
	}
	return c
}

// ruleList is the rules for a help text.
func ruleList() string {
	var b strings.Builder
	for _, r := range blackbox.Rules() {
		fmt.Fprintf(&b, "  %-12s %s\n", r.Name, r.Sentence)
	}
	return b.String()
}

// pluginPath is the path of a file that is there.
func pluginPath(arg string) (string, error) {
	st, err := os.Stat(arg)
	if err != nil {
		return "", usagef("no plugin to verify: %w", err)
	}
	if st.IsDir() {
		return "", usagef("no plugin to verify: %s is a folder", arg)
	}
	return filepath.Abs(arg)
}

// verify verifies one plugin and prints what it finds, text as it comes.
func verify(c *cobra.Command, path string, cfg blackbox.Config, asJSON bool) (err error) {
	host, err := goplugin.NewHost("")
	if err != nil {
		return err
	}
	defer func() {
		if closeErr := host.Close(); err == nil {
			err = closeErr
		}
	}()
	fmt.Fprintf(c.ErrOrStderr(), "Verifying %s; each rule runs in a fresh process ...\n", path)
	p := &findingPrinter{w: c.OutOrStdout()}
	watch := p.print
	if asJSON {
		watch = nil
	}
	report, err := blackbox.Verify(c.Context(), host, path, cfg, watch)
	if err != nil {
		return err
	}
	if asJSON {
		err = writeVerification(c.OutOrStdout(), report)
	} else {
		p.summarise(report)
		err = p.err
	}
	if failed := report.Count(blackbox.Fail); err == nil && failed > 0 {
		return &conformanceError{fmt.Sprintf("the plugin breaks the contract: %d of %d findings", failed, failed+report.Count(blackbox.Pass)+report.Count(blackbox.Skipped))}
	}
	return err
}

// verification is what verify prints as JSON.
type verification struct {
	Name      string   `json:"name"` // as the plugin says, and what it claims
	Version   string   `json:"version"`
	Roles     []string `json:"roles"`
	Protocols []string `json:"protocols"`
	Pass      int      `json:"pass"`
	Fail      int      `json:"fail"`
	Skipped   int      `json:"skipped"`
	*blackbox.Report
}

func writeVerification(w io.Writer, r *blackbox.Report) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	p := r.Plugin
	return enc.Encode(verification{
		p.Info.Name, p.Info.Version, p.Roles, p.Protocols,
		r.Count(blackbox.Pass), r.Count(blackbox.Fail), r.Count(blackbox.Skipped), r,
	})
}

// findingPrinter prints findings for a person, a line each under the
// combination they are about.
type findingPrinter struct {
	w   io.Writer
	at  *blackbox.Combination // the heading printed last
	err error                 // the first one of w
}

func (p *findingPrinter) line(format string, args ...any) {
	if _, err := fmt.Fprintf(p.w, format+"\n", args...); p.err == nil {
		p.err = err
	}
}

func (p *findingPrinter) print(at blackbox.Combination, f blackbox.Finding) {
	if p.at == nil || *p.at != at {
		if p.at != nil {
			p.line("")
		}
		p.at = &at
		p.line("%s", at)
	}
	p.line("  %-7s %-12s %s", f.Verdict, f.Rule, f.Seen)
	if f.Verdict != blackbox.Fail {
		return
	}
	p.line("  %21s(the rule: a plugin %s)", "", f.Sentence)
	for said := range strings.Lines(strings.TrimSpace(f.Stderr)) {
		p.line("  %21s| %s", "", strings.TrimRight(said, "\n"))
	}
}

// summarise prints what a reader has to know beside the findings.
func (p *findingPrinter) summarise(r *blackbox.Report) {
	p.line("")
	for _, note := range r.Notes {
		p.line("note: %s", note)
	}
	verdict := "conforms"
	if r.Count(blackbox.Fail) > 0 {
		verdict = "does NOT conform"
	}
	p.line("%s %s: %d passed, %d failed, %d skipped", filepath.Base(r.Path), verdict,
		r.Count(blackbox.Pass), r.Count(blackbox.Fail), r.Count(blackbox.Skipped))
}
