package report_test

import (
	"bytes"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
	"github.com/netmatrix/netmatrix/core/report"
)

// pages makes a site, by file name.
func pages(all []compare.Results) map[string]string {
	m := map[string]string{}
	for _, p := range report.Markdown(all) {
		m[p.Name] = string(p.Data)
	}
	return m
}

func TestMarkdown(t *testing.T) {
	var names []string
	for _, p := range report.Markdown(twoRuns()) {
		names = append(names, p.Name)
		golden(t, path.Join("site", p.Name), string(p.Data))
	}
	if want := []string{"index.md", "tcp.md", "udp.md", "execution.md", "io-models.md", "data.md"}; !slices.Equal(names, want) {
		t.Errorf("pages %v, want %v", names, want)
	}
}

func TestMarkdownIsDeterministic(t *testing.T) {
	first := report.Markdown(twoRuns())
	for range 5 {
		for i, p := range report.Markdown(twoRuns()) {
			if !bytes.Equal(p.Data, first[i].Data) {
				t.Fatalf("%s differs from one call to the next", p.Name)
			}
		}
	}
}

func TestPagesWithNothingToShowAreNotMade(t *testing.T) {
	run := newRun("r", "quick", "contender", coroutine, rawpoll)
	plan(run, []cell.Cell{scenario("udp")}, coroutine, rawpoll)
	got := pages([]compare.Results{{Run: run, Records: carryOut(run, nil)}})
	for _, absent := range []string{"tcp.md", "execution.md", "io-models.md"} {
		if _, made := got[absent]; made || strings.Contains(got["index.md"], absent) {
			t.Errorf("%s is made or linked to, and has nothing to show", absent)
		}
	}
	if got["udp.md"] == "" || got["data.md"] == "" {
		t.Error("no udp.md or data.md")
	}
}

func TestLinksLead(t *testing.T) {
	link := regexp.MustCompile(`\]\(([a-z-]+\.md)(#[a-z-]+)?\)`)
	all := pages(twoRuns())
	for name, text := range all {
		for _, m := range link.FindAllStringSubmatch(text, -1) {
			target, ok := all[m[1]]
			heading := strings.ReplaceAll(strings.TrimPrefix(m[2], "#"), "-", " ")
			if !ok || !strings.Contains(strings.ToLower(target), "\n## "+heading) {
				t.Errorf("%s links to %s, which leads nowhere", name, m[0])
			}
		}
	}
}

// Every row of a table has as many fields as its head, whatever stands in them.
func TestTablesAreWhole(t *testing.T) {
	unescaped := regexp.MustCompile(`(^|[^\\])\|`)
	for name, text := range pages(twoRuns()) {
		fields := 0
		for i, line := range strings.Split(text, "\n") {
			if !strings.HasPrefix(line, "|") {
				fields = 0
				continue
			}
			n := len(unescaped.FindAllString(line, -1))
			if fields > 0 && n != fields {
				t.Errorf("%s, line %d: %d bars, want %d: %s", name, i+1, n, fields, line)
			}
			fields = n
		}
	}
}

// What records say in words cannot become markup.
func TestRecordsCannotWriteMarkup(t *testing.T) {
	run := newRun("r", "quick", "contender", coroutine, rawpoll)
	plan(run, []cell.Cell{scenario("tcp")}, coroutine, rawpoll)
	got := pages([]compare.Results{{Run: run, Records: carryOut(run, func(r *record.Record) {
		fail(r, record.Failed, "a</details><script>|\n# b `c` \x00\u2028[d](e)")
		r.Provenance.Command = "netmatrix bench\n```\n# f"
	})}})["tcp.md"]
	if want := "failed: a\\</details\\>\\<script\\>\\| # b \\`c\\`   \\[d\\](e)"; !strings.Contains(got, want) {
		t.Errorf("the reason is not escaped as %s in\n%s", want, got)
	}
	if !strings.Contains(got, "````sh") || !strings.Contains(got, "\n````\n") {
		t.Errorf("a command can close its code block:\n%s", got)
	}
}

func TestNothingMeasuredHasNoFindings(t *testing.T) {
	run := newRun("r", "quick", "contender", coroutine, rawpoll)
	plan(run, []cell.Cell{scenario("tcp")}, coroutine, rawpoll)
	for what, recs := range map[string][]record.Record{
		"nothing run": nil,
		"all failed":  carryOut(run, func(r *record.Record) { fail(r, record.Failed, "no") }),
		"no figures":  carryOut(run, func(r *record.Record) { r.Metrics.RTT, r.Server = nil, nil; r.Metrics.RoundTripsPerSecond = 0 }),
		"only one good": carryOut(run, func(r *record.Record) {
			if r.Cell.Runtime == "rawpoll" {
				fail(r, record.Failed, "no")
			}
		}),
	} {
		got := pages([]compare.Results{{Run: run, Records: recs}})
		for name, text := range got {
			for _, bad := range []string{"NaN", "Inf", "%!"} {
				if strings.Contains(text, bad) {
					t.Errorf("%s: %s contains %s", what, name, bad)
				}
			}
		}
		if what != "no figures" && !strings.Contains(got["index.md"], "None: in no such group") {
			t.Errorf("%s: there are findings in\n%s", what, got["index.md"])
		}
		if what == "nothing run" && !strings.Contains(got["tcp.md"], "- 3 of 3 trials not run: coroutine/goroutine, shared × 1; rawpoll/callback, shared × 1") {
			t.Errorf("what was not run is a gap:\n%s", got["tcp.md"])
		}
	}
}

func TestPagesStayInTheirFolder(t *testing.T) {
	run := newRun("r", "quick", "contender", coroutine, rawpoll)
	plan(run, []cell.Cell{scenario("../../<b>tcp")}, coroutine, rawpoll)
	for name := range pages([]compare.Results{{Run: run, Records: carryOut(run, nil)}}) {
		if path.Base(name) != name {
			t.Errorf("a page is called %s", name)
		}
	}
}

func TestStackDifferencesAreSaid(t *testing.T) {
	run := newRun("r", "quick", "contender", coroutine, rawpoll)
	plan(run, []cell.Cell{scenario("tcps")}, coroutine, rawpoll)
	got := pages([]compare.Results{{Run: run, Records: carryOut(run, func(r *record.Record) {
		r.Stack["tls"] = map[string]string{"rawpoll": "crypto/tls@go1.26.8", "coroutine": "other/tls@v1"}[r.Cell.Runtime]
	})}})["tcps.md"]
	if want := "Contenders differ also in tls: `crypto/tls@go1.26.8` (rawpoll), `other/tls@v1` (coroutine)"; !strings.Contains(got, want) {
		t.Errorf("the page does not say %q", want)
	}
	if strings.Contains(got, "differ also in event") {
		t.Error("the event loop, which is the runtime, is called another difference")
	}
}

func TestFindings(t *testing.T) {
	group := func(contrast string, change func(*record.Record)) string {
		run := newRun("r", "quick", contrast, coroutine, rawpoll)
		plan(run, []cell.Cell{scenario("tcp")}, coroutine, rawpoll, rawpollGoroutine)
		return pages([]compare.Results{{Run: run, Records: carryOut(run, change)}})["index.md"]
	}
	rate := func(of map[cell.Contender]float64, perRound float64) func(*record.Record) {
		return func(r *record.Record) {
			r.Metrics.RoundTripsPerSecond = of[r.Cell.Contender()] + perRound*float64(r.Round)
		}
	}
	apart := map[cell.Contender]float64{coroutine: 100_000, rawpollGoroutine: 200_000, rawpoll: 300_000}
	close := map[cell.Contender]float64{coroutine: 100_000, rawpollGoroutine: 100_001, rawpoll: 100_002}
	for _, tt := range []struct {
		name, contrast string
		change         func(*record.Record)
		want           []string
		not            string
	}{
		{"apart", "contender", rate(apart, 0), []string{"highest median throughput of this group: rawpoll/callback, 300,000 round trips/s, 3.00 × that of coroutine/goroutine [3.00, 3.00]; p99"}, "throughput.*ranges overlap"},
		{"overlapping", "contender", rate(close, 10_000), []string{"1.00 × that of coroutine/goroutine [1.00, 1.00] (ranges overlap, no difference can be confirmed)",
			"Its range overlaps with rawpoll/goroutine: no difference from these can be confirmed."}, "best"},
		{"executions", "execution", rate(apart, 0), []string{"1.50 × that of rawpoll/goroutine"}, "coroutine/goroutine \\["},
		{"the reference itself is highest", "contender", rate(map[cell.Contender]float64{coroutine: 9}, 0), []string{"this group: coroutine/goroutine, 9.00 round trips/s; p99"}, "× that of"},
		{"load-bound", "contender", func(r *record.Record) {
			rate(apart, 0)(r)
			if r.Cell.Contender() == rawpoll {
				r.Validity.Flags = []string{record.FlagLoadBound}
			}
		}, []string{"this group: rawpoll/goroutine, 200,000 round trips/s", "Not ranked, the load was the limit: rawpoll/callback."}, "3.00 ×"},
		{"a bad trial", "contender", func(r *record.Record) {
			rate(apart, 0)(r)
			if r.Cell.Contender() == rawpoll && r.Round == 3 {
				r.Status = record.Invalid
			}
		}, []string{"this group: rawpoll/goroutine", "Not ranked, 1 of 3 trials invalid: rawpoll/callback."}, "3.00 ×"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := group(tt.contrast, tt.change)
			for _, want := range tt.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if regexp.MustCompile(tt.not).MatchString(got) {
				t.Errorf("%q is said in\n%s", tt.not, got)
			}
		})
	}
}
