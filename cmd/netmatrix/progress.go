package main

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"time"

	"github.com/schollz/progressbar/v3"

	"github.com/netmatrix/netmatrix/core/driver"
	"github.com/netmatrix/netmatrix/core/record"
)

// progress shows how a run goes on: a line for each record, and on a terminal a
// bar below them that counts the time left.
type progress struct {
	w   io.Writer
	bar *progressbar.ProgressBar // nil: no terminal

	mu   sync.Mutex
	last driver.Progress
	at   time.Time // when last was told
	stop chan struct{}
	done sync.WaitGroup
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, stop: make(chan struct{})}
}

// redraw is how often the time left is counted down: rarely, since the display
// shares the machine with what is measured.
const redraw = time.Second

func (p *progress) begin(d *driver.Driver, dir string, trials []driver.Trial) {
	var takes time.Duration
	for _, t := range trials {
		takes += d.PlannedTime(t)
	}
	fmt.Fprintf(p.w, "%d trials into %s, about %v\n", len(trials), dir, takes.Round(time.Second))
	for _, x := range d.Plugins() {
		if x.Err != nil {
			fmt.Fprintf(p.w, "warning: plugin %s cannot be asked what it can do: %v\n", x.Name, x.Err)
		}
	}
	if _, ok := terminal(p.w); !ok || len(trials) == 0 {
		return
	}
	p.bar = progressbar.NewOptions(len(trials),
		progressbar.OptionSetWriter(p.w), progressbar.OptionSetWidth(20), progressbar.OptionSetPredictTime(false),
		progressbar.OptionSetElapsedTime(false), progressbar.OptionShowCount(), progressbar.OptionClearOnFinish(),
		progressbar.OptionUseANSICodes(true))
	p.done.Go(func() {
		tick := time.NewTicker(redraw)
		defer tick.Stop()
		for {
			select {
			case <-p.stop:
				return
			case <-tick.C:
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			}
		}
	})
}

// tell is what the driver calls between trials.
func (p *progress) tell(x driver.Progress) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.last, p.at = x, time.Now()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
	for _, r := range x.Records {
		fmt.Fprintf(p.w, "%*d/%d  %s", len(fmt.Sprint(x.Of)), x.Done, x.Of, recordLine(r))
		if p.bar == nil && x.Next != nil {
			fmt.Fprintf(p.w, "  ETA %v", x.Remaining.Round(time.Second))
		}
		fmt.Fprintln(p.w)
	}
	if p.bar != nil {
		_ = p.bar.Set(x.Done)
		p.draw()
	}
}

// draw renews the bar; the caller holds mu.
func (p *progress) draw() {
	if p.last.Next == nil {
		return
	}
	left := max(0, p.last.Remaining-time.Since(p.at))
	p.bar.Describe(fmt.Sprintf("ETA %v  %s", left.Round(time.Second), p.last.Next.Scenario))
}

func (p *progress) end() {
	close(p.stop)
	p.done.Wait()
	if p.bar != nil {
		_ = p.bar.Clear()
	}
}

// recordLine is one record in one line.
func recordLine(r record.Record) string {
	head := fmt.Sprintf("round %d  %s", r.Round, r.Cell)
	if r.Twin {
		head += " (twin)"
	}
	if r.Metrics == nil {
		return fmt.Sprintf("%s  %s: %s", head, r.Status, r.Reason)
	}
	line := fmt.Sprintf("%s  %.0f/s", head, r.Metrics.RoundTripsPerSecond)
	if t := r.Metrics.RTT; t != nil && t.P50 != nil {
		line += fmt.Sprintf("  p50 %.1f µs", *t.P50)
	}
	if slices.Contains(r.Validity.Flags, record.FlagDisturbed) {
		line += "  " + record.FlagDisturbed
	}
	if r.Status != record.OK {
		line += fmt.Sprintf("  %s: %s", r.Status, r.Reason)
	}
	return line
}
