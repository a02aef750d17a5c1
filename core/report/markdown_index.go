package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// index is the page that one reads first; others are those it links to.
func (s *site) index(others []Page) Page {
	d := &document{}
	d.heading(1, "Go network runtimes compared")
	s.compared(d)
	d.heading(2, "Test conditions")
	s.conditions(d)
	d.heading(2, "Key findings")
	s.keyFindings(d)
	d.heading(2, "How to choose an IO model")
	d.table("lll", []string{"IO model", "suits", "mind"}, choices)
	d.heading(2, "All figures")
	d.list(s.contents(others))
	d.heading(2, "Definitions")
	d.list(definitions)
	d.heading(2, "What is not covered")
	d.list(limits)
	return d.page("index.md")
}

// compared says what was measured and how much of it.
func (s *site) compared(d *document) {
	planned := 0
	for _, res := range s.all {
		planned += len(res.Run.Schedule)
	}
	t := tallyOf(s.all)
	var bad []string
	for _, status := range statuses {
		bad = append(bad, fmt.Sprintf("%d %s", t.status[status], status))
	}
	d.paragraph("**%d of %d planned trials done, %s** of %d records, one for each contender of a trial and its twin.", t.done, planned, strings.Join(bad, ", "), t.total)
	d.list(s.noiseFloors())
	if len(s.all) > 1 {
		d.paragraph("These are %d runs, each at its own time: rows of different runs are neither ranked together nor divided by each other.", len(s.all))
	}
	var rows [][]string
	for _, suite := range s.suites() {
		rows = append(rows, s.coverage(suite))
	}
	d.table("llllllllll", []string{"suite", "compares", "contenders", "protocols", "payloads", "clients × window", "IO models", "work", "pattern", "placement"}, rows)
}

// coverage lists the values that a suite's rows have on each axis.
func (s *site) coverage(suite string) []string {
	var rows []compare.Row
	for _, r := range s.rows {
		if r.Run.Suite == suite {
			rows = append(rows, r)
		}
	}
	fields := []string{code(suite)}
	for _, of := range []func(compare.Row) string{
		func(r compare.Row) string { return strings.Replace(r.Run.Contrast, "io_", "IO ", 1) },
		func(r compare.Row) string { return r.Contender().String() },
		func(r compare.Row) string { return r.Cell.Protocol },
		func(r compare.Row) string { return cell.Bytes(r.Cell.Payload) },
		func(r compare.Row) string { return fmt.Sprintf("%d × %d", r.Cell.Clients, r.Cell.Window) },
		func(r compare.Row) string { return ioModel(r.Cell) },
		func(r compare.Row) string { return strconv.FormatInt(r.Cell.Work, 10) },
		func(r compare.Row) string { return r.Cell.Pattern },
		func(r compare.Row) string { return r.Cell.Placement },
	} {
		fields = append(fields, escape(strings.Join(distinct(rows, of), ", ")))
	}
	return fields
}

func (s *site) keyFindings(d *document) {
	text := "One workload stands for each protocol, work, pattern and placement: the payload nearest to 1 KiB with the most messages in flight. The pages below have the others. The highest median of a group says nothing of other workloads."
	fewest := slices.MinFunc(s.all, func(a, b compare.Results) int { return a.Run.Rounds - b.Run.Rounds }).Run.Rounds
	if fewest < compare.MinRounds {
		text += fmt.Sprintf(" With fewer than %d rounds (here %d) no verdict is possible: what follows are ratios, the median over rounds of the ratios within a round, and their ranges [min, max].", compare.MinRounds, fewest)
	} else {
		text += " What follows are ratios, the median over rounds of the ratios within a round, with their 95 % intervals and what these allow one to say of the workload."
	}
	d.paragraph("%s", text)
	var list []string
	for _, w := range headlines(s.workloads) {
		for _, f := range s.findings(w) {
			list = append(list, "**"+escape(title(f.scope))+"**: "+f.text)
		}
	}
	if len(list) == 0 {
		d.paragraph("None: in no such group are there two rows that may be ranked.")
		return
	}
	d.list(list)
}

// contents links to the pages, with what stands on each.
func (s *site) contents(pages []Page) []string {
	about := map[string]string{"data.md": "Where the figures come from, and how to repeat them"}
	for _, c := range contrasts {
		about[c.page] = c.title + ", set against each other"
	}
	for _, w := range s.workloads {
		about[protocolPage(w.Cell.Protocol)] = escape(w.Cell.Protocol) + ", every workload"
	}
	var list []string
	for _, p := range pages {
		list = append(list, link(about[p.Name], p.Name))
	}
	return list
}

// choices tell IO models apart by what they are made for.
var choices = [][]string{
	{"shared × 1", "few connections, control traffic, little work for each message", "one slow message holds up every connection"},
	{"shared × N", "connections that are busy at different times: whichever thread is free takes the next", "threads contend for one poller, and a connection moves between CPUs"},
	{"sharded × N", "many connections that are about equally busy, or work that divides by connection", "a connection stays with its poller: a busy one cannot borrow from an idle one"},
}

// definitions say what each figure is.
var definitions = []string{
	"**Round trip**: a message sent, echoed by the server and checked by the load.",
	"**Throughput**: round trips that ended within the counted time, divided by that time.",
	"**MiB/s**: payload in both directions, 2 × payload × round trips/s ÷ 1,048,576. Framing and encryption are not counted.",
	"**RTT**: from the hand-over of a message to its echo, on the load's clock, queueing and work included; with the pattern batch, of a whole window of messages. In a closed loop it is the RTT at that many messages in flight.",
	"**Open loop**: messages are offered at a rate, by a schedule fixed beforehand, however fast the answers come. RTT then counts from the time at which a message was to be sent; **slip** is from there to its actual sending, which comes later when the window is full or the load is late. What was never sent is counted, and above 0.1 % the trial is invalid.",
	"**Percentiles**: p99 is the time within which 99 % of a trial's round trips ended, from a histogram of all of them. A row shows the median over its trials of each trial's percentile. 1,000 µs are 1 ms.",
	"**CPU**: CPU time of the server's process divided by counted time; 100 % is one CPU. Colocated, server and load are one process and its CPU is that of both.",
	"**CPU µs per round trip**: the same CPU time divided by round trips. It depends on the load and is no constant of a runtime.",
	"**Peak RSS**: the most memory resident during the measured window, of the same process.",
	"**Messages per read**: how many messages the server found together when it read. Answers to one read are sent with one write.",
	"**Errors**: content and order (a wrong or misplaced echo), lost and late (datagrams), duplicate, disconnects, unfinished (no echo when all was drained). Late datagrams and few lost ones do no harm, all else makes a trial invalid, which its reason says; an invalid trial stays in the results and its figures count nowhere.",
	"**load-bound**: " + meaning[record.FlagLoadBound] + ": it reads ≥ and is never ranked.",
	"**oversubscribed**: " + meaning[record.FlagOversubscribed] + ".",
	"**disturbed**: " + meaning[record.FlagDisturbed] + ".",
	"**stalled**: " + meaning[record.FlagStalled] + ".",
	"**Noise floor**: two processes of the baseline contender, twins, are measured side by side like any two contenders; within the floor lay the differences of 95 % of their rounds. What a single round shows within it may be chance.",
	"**Verdict**: what 7 rounds or more allow one to say of a ratio, in words and for one metric of one workload. The exact sign-flip test on the logarithms of the ratios, round by round, tells a difference, two of them at the bounds tell that it is too small to matter; the chance of a wrong word is at most 5 %, over all that is set against the same reference (Holm). The metric that a suite is about is named before the run, in run.json; words on others are beside it.",
	"**failed, invalid, unsupported**: could not be measured; was measured while something that must hold did not; is beyond the runtime. The reason stands under the table.",
}

// noiseFloors says of each suite by how much equals differed.
func (s *site) noiseFloors() []string {
	var list []string
	for _, suite := range s.suites() {
		for _, res := range s.all {
			if res.Run.Suite == suite {
				list = append(list, "suite "+code(suite)+", "+escape(noiseFloor(s.all, res.Run)))
				break
			}
		}
	}
	return list
}

// limits say what the figures do not tell.
var limits = []string{
	"Loopback on one machine: nothing follows for a network between machines, for many more connections, or for the capacity of a service.",
	"Trials are short. Temperature, scheduling and neighbours move them; the ranges show some of it.",
	"A contender is a runtime with its libraries at the versions above: a difference is one of the whole, not of a single part.",
	"Connecting, handshakes and idle connections are not measured; work is a loop of simple operations and stands for no real program.",
}
