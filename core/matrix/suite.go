package matrix

import (
	"slices"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/netmatrix/netmatrix/core/cell"
)

// The keys of suites and of what is in them. The schema is held to the same lists.
var (
	sharedKeys   = []string{"rounds", "warmup", "measure", "contrast", "twin", "delta", "repeats", "buffers"} // of defaults and of a suite
	suiteKeys    = []string{"question", "override", "exclude"}
	bufferKeys   = []string{"send", "receive"}
	overrideKeys = []string{"when", "set"}
	excludeKeys  = []string{"when", "why"}
)

// suites reads the suites of a file. It holds what they have in common.
type suites struct {
	*decoder
	base     Suite
	baseline cell.Contender
	defaults map[*axis]factor
	excludes []exclude // of the whole file
	cells    float64   // counted so far, before any is made
}

func (d *decoder) newSuites(baseline cell.Contender, wait string) *suites {
	s := &suites{
		decoder: d,
		base: Suite{Rounds: defaultRounds, Warmup: defaultWarmup, Measure: defaultMeasure, Contrast: Contrasts()[0],
			Twin: baseline, Delta: defaultDelta, Repeats: MaxRepeats},
		baseline: baseline,
		defaults: make(map[*axis]factor),
	}
	builtIn := func(name string, values ...any) {
		a := axisNamed(name)
		f := factor{axes: []*axis{a}}
		for _, v := range values {
			f.options = append(f.options, setting{{axis: a, value: v}})
		}
		s.defaults[a] = f
	}
	names := make([]any, len(d.runtimes))
	for i, name := range d.runtimes {
		names[i] = name
	}
	builtIn("runtime", names...)
	builtIn("execution", cell.Callback, cell.Goroutine)
	builtIn("io_model", cell.Shared)
	builtIn("threads", 1)
	builtIn("work", int64(0))
	builtIn("pattern", cell.Stream)
	builtIn("placement", cell.Split)
	builtIn("rate", 0.0)
	builtIn("load_wait", wait)
	builtIn("address_family", cell.IPv4)
	return s
}

func (s *suites) readDefaults(n *yaml.Node) {
	for _, f := range s.mapping(n, "defaults") {
		a := axisNamed(f.name())
		switch {
		case a != nil:
			s.defaults[a] = s.factor(a, f)
		case !s.readShared(&s.base, f):
			s.unknown(f, "defaults", slices.Concat(sharedKeys, axisNames()))
		}
	}
}

// readShared reads a key that defaults and suites have in common, and reports
// whether f is one.
func (s *suites) readShared(to *Suite, f field) bool {
	switch f.name() {
	case "rounds":
		to.Rounds = s.integer(f.value, "rounds", 1, MaxRounds)
	case "warmup":
		to.Warmup = s.time(f.value, "warmup", 0)
	case "measure":
		to.Measure = s.time(f.value, "measure", time.Millisecond)
	case "contrast":
		to.Contrast = s.choice(f.value, "contrast", Contrasts())
	case "twin":
		to.Twin = cell.Contender{}
		if s.choice(f.value, "twin", []string{"true", "false"}) == "true" {
			to.Twin = s.baseline
		}
	case "delta":
		to.Delta = s.percent(f.value, "delta", MaxDelta)
	case "repeats":
		to.Repeats = s.integer(f.value, "repeats", 0, MaxRepeats)
	case "buffers":
		keys := s.record(f.value, "buffers", bufferKeys)
		if n := keys["send"]; n != nil {
			to.SendBuffer = s.bytes(n, "send", MaxBuffer)
		}
		if n := keys["receive"]; n != nil {
			to.ReceiveBuffer = s.bytes(n, "receive", MaxBuffer)
		}
	default:
		return false
	}
	return true
}

func (s *suites) readAll(n *yaml.Node) []*Suite {
	var all []*Suite
	for _, f := range s.mapping(n, "suites") {
		s.name(f, "suite")
		if s.err != nil {
			return nil
		}
		all = append(all, s.read(f))
	}
	return all
}

// read reads one suite and expands it.
func (s *suites) read(f field) *Suite {
	suite := s.base
	suite.Name = f.name()
	what := describe("suite", f)
	e := &expansion{suites: s, suite: &suite, key: f.key, excludes: s.excludes}
	for _, entry := range s.mapping(f.value, what) {
		a := axisNamed(entry.name())
		switch {
		case s.readShared(&suite, entry):
		case entry.name() == "question":
			suite.Question = s.line(entry.value, "question")
		case entry.name() == "override":
			e.overrides = s.readOverrides(entry.value)
		case entry.name() == "exclude":
			e.excludes = slices.Concat(s.readExcludes(entry.value), s.excludes)
		case a != nil:
			e.add(s.factor(a, entry))
		case isCoupled(entry):
			e.add(s.coupled(entry))
		default:
			s.unknown(entry, what, slices.Concat(suiteKeys, sharedKeys, axisNames()))
		}
	}
	e.run(what)
	return &suite
}

// isCoupled tells a list of mappings, which couples axes, from a misspelt key.
func isCoupled(f field) bool {
	n := f.value
	return n.Kind == yaml.SequenceNode && len(n.Content) > 0 && n.Content[0].Kind == yaml.MappingNode &&
		nearest(f.name(), []string{"override", "exclude"}) == ""
}
