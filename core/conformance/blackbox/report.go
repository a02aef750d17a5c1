package blackbox

import (
	"github.com/netmatrix/netmatrix/core/conformance"
	"github.com/netmatrix/netmatrix/core/control"
)

// The verdicts of a finding.
const (
	Pass    = "pass"
	Fail    = "fail"
	Skipped = "skipped" // could not be tried; Seen says why
)

// Finding is what one rule showed.
type Finding struct {
	Rule     string  `json:"rule"`
	Sentence string  `json:"sentence"` // the rule in words: "a plugin …"
	Verdict  string  `json:"verdict"`
	Seen     string  `json:"seen"` // what was seen, or what is wrong
	Seconds  float64 `json:"seconds"`
	Stderr   string  `json:"stderr,omitempty"` // of a plugin that failed the rule, its end
}

// Combination is what one process runs: a protocol in one variant. The zero
// value stands for the plugin as a whole.
type Combination struct {
	Protocol string
	conformance.Variant
}

func (c Combination) String() string {
	if c.Protocol == "" {
		return "plugin"
	}
	return c.Protocol + " " + c.Variant.String()
}

// MarshalText makes a combination a JSON string.
func (c Combination) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// Chapter is the findings on one combination.
type Chapter struct {
	Combination Combination `json:"combination"`
	Findings    []Finding   `json:"findings"`
}

// Report is what Verify found.
type Report struct {
	Path     string              `json:"path"`
	Plugin   control.Description `json:"-"` // what it says of itself
	Notes    []string            `json:"notes,omitempty"`
	Chapters []Chapter           `json:"chapters"`
}

func (r *Report) add(at Combination, f Finding) {
	if last := len(r.Chapters) - 1; last < 0 || r.Chapters[last].Combination != at {
		r.Chapters = append(r.Chapters, Chapter{Combination: at})
	}
	c := &r.Chapters[len(r.Chapters)-1]
	c.Findings = append(c.Findings, f)
}

// Count is how many findings have a verdict.
func (r *Report) Count(verdict string) (n int) {
	for _, c := range r.Chapters {
		for _, f := range c.Findings {
			if f.Verdict == verdict {
				n++
			}
		}
	}
	return n
}
