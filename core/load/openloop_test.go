package load_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/control"
	"github.com/netmatrix/netmatrix/core/load"
	"github.com/netmatrix/netmatrix/core/protocol/udp"
)

// near reports whether two times are the same to the three digits that a
// histogram keeps.
func near(got, want int64) bool { return math.Abs(float64(got-want)) <= float64(want)/1000 }

// allSent are the times at which any client of a target sent, in order.
func (b *bench) allSent(target int) []int64 {
	var all []int64
	for _, c := range b.clients[target] {
		all = append(all, c.sent...)
	}
	slices.Sort(all)
	return all
}

// Whatever the rate and the number of clients, message j of all is sent at
// j ÷ rate, and the clients take them in turn.
func TestSendsAtTheVeryTime(t *testing.T) {
	for _, c := range []struct {
		rate    float64
		clients int
		length  int64
		want    int
	}{
		{3, 8, 10 * second, 30}, // fewer than clients a second
		{1000, 1, second, 1000},
		{1000, 16, second, 1000},
		{12_345.678, 7, second, 12_346},
		{0.5, 3, 9 * second, 5},
		{100_000, 16, second / 10, 10_000},
	} {
		t.Run(fmt.Sprint(c.rate, " ", c.clients), func(t *testing.T) {
			b := newBench(t, load.Config{Rate: c.rate, Clients: c.clients, Window: 4}, 1)
			res := b.measure(control.Slice{Length: c.length, Counted: true})
			for j, at := range b.allSent(0) {
				if want := int64(float64(j) * 1e9 / c.rate); at != want {
					t.Fatalf("message %d was sent %d ns into the plan, want %d", j, at, want)
				}
			}
			fewest, most := math.MaxInt, 0
			for _, x := range b.clients[0] {
				fewest, most = min(fewest, len(x.sent)), max(most, len(x.sent))
			}
			if most-fewest > 1 {
				t.Errorf("the clients sent between %d and %d messages", fewest, most)
			}
			y := res.Targets[0]
			if got := int(y.Counts[control.CountSent]); got != c.want {
				t.Errorf("%d messages sent, want %d", got, c.want)
			}
			sent, intended, slip := histograms(t, y)
			if y.MaxRTT != 2*latency || !near(sent.Percentile(1), 2*latency) || slip.Max() > 1 || intended.Count() != slip.Count() {
				t.Errorf("RTT %d to %d, slip up to %d; want %d, no slip", sent.Percentile(0), y.MaxRTT, slip.Max(), 2*latency)
			}
			if y.Counts[control.CountUnsent]+y.Counts[control.CountBlocked]+y.Counts[control.CountTardy] != 0 {
				t.Errorf("%v, want all sent in time", y.Counts)
			}
		})
	}
}

// Intended times exist only within a target's own slices: the schedule stands
// still while another has its turn and goes on where it stopped.
func TestScheduleStandsStillBetweenTurns(t *testing.T) {
	b := newBench(t, load.Config{Rate: 3000, Clients: 4, Window: 4}, 2)
	const slice = 17 * ms // no multiple of the gap
	var plan []control.Slice
	for i := range 6 {
		plan = append(plan, control.Slice{Target: i % 2, Length: slice, Settle: 3 * ms, Counted: i > 1})
	}
	plan = append(plan, control.Slice{Target: 1, Length: slice, Counted: true}) // one turn with the one before
	res := b.measure(plan...)
	// own is how long a target had had its turn at a time of the plan.
	own := func(target int, at int64) int64 {
		var sum int64
		for i, s := range plan {
			if start := int64(i) * slice; s.Target == target && at > start {
				sum += min(at-start, slice)
			}
		}
		return sum
	}
	for target, want := range []int{153, 204} { // 3 × 51 ms, 4 × 51 ms
		sent := b.allSent(target)
		if len(sent) != want {
			t.Errorf("target %d: %d messages sent, want %d", target, len(sent), want)
		}
		for j, at := range sent {
			if i := min(int(at/slice), len(plan)-1); plan[i].Target != target {
				t.Fatalf("target %d: a message was sent at %d, in a slice of the other", target, at)
			}
			if got, want := own(target, at), int64(float64(j)*1e9/3000); got != want {
				t.Fatalf("target %d: message %d was sent after %d ns of its own time, want %d", target, j, got, want)
			}
		}
		if n := res.Targets[target].Counts[control.CountUnsent]; n != 0 {
			t.Errorf("target %d: %d unsent", target, n)
		}
	}
}

// A server that stops for 500 ms at 1000 messages a second: those due meanwhile
// have waited from 500 ms downward, though all but a window were not even sent.
func TestPauseShowsInEveryMessageDueMeanwhile(t *testing.T) {
	const window, stop = 16, 500 * ms
	b := newBench(t, load.Config{Rate: 1000, Window: window}, 1)
	b.pause = [2]int64{200 * ms, 200*ms + stop}
	y := b.measure(control.Slice{Length: second, Counted: true}).Targets[0]
	sent, intended, slip := histograms(t, y)
	// The last of the backlog waits for a round trip of each window before it,
	// in which time two more become due.
	const catchUp = (500/window + 1) * 2 * latency
	const waited = 500 - window + 2
	if n := y.Counts; n[control.CountSent] != 1000 || n[control.CountUnsent] != 0 || n[control.CountBlocked] != waited || n[control.CountTardy] != 0 {
		t.Fatalf("%v, want 1000 sent, of them %d late for want of a place", n, waited)
	}
	for k := range int64(10) { // message k × 50 of the 500
		want := stop - k*50*ms
		rank := float64(1000-k*50) / 10
		if got := intended.Percentile(rank); got < want-ms || got > want+catchUp+ms {
			t.Errorf("percentile %g from the intended time is %d, want %d to %d", rank, got, want, want+catchUp)
		}
	}
	if got, want := intended.Mean(), 0.125*float64(second); math.Abs(got-want) > float64(2*ms) { // 500 × 250 ms ÷ 1000
		t.Errorf("the mean from the intended time is %g, want about %g", got, want)
	}
	// From the sending, only what was in flight shows: this is what a closed loop would tell.
	if got := sent.Percentile(100 - 1.7); got > 4*latency {
		t.Errorf("percentile 98.3 from the sending is %d, want a mere round trip", got)
	}
	if got := y.MaxRTT; got < stop || got > stop+4*latency {
		t.Errorf("the longest RTT is %d, want %d", got, stop)
	}
	if got, want := slip.Max(), stop-window*ms; got < want || got > want+ms {
		t.Errorf("the longest slip is %d, want %d", got, want)
	}
}

// Frozen for 3 s of 6: the mean is near 0.75 s, and no percentile looks clean.
func TestFrozenServer(t *testing.T) {
	b := newBench(t, load.Config{Rate: 500, Clients: 4, Window: 16}, 1)
	b.pause = [2]int64{second, 4 * second}
	res := b.measure(control.Slice{Length: 6 * second, Counted: true})
	_, intended, _ := histograms(t, res.Targets[0])
	if got := intended.Mean() / float64(second); math.Abs(got-0.75) > 0.01 {
		t.Errorf("the mean is %g s, want 0.75", got)
	}
	if got := intended.Percentile(75) / ms; got < 1450 || got > 1550 {
		t.Errorf("the third quartile is %d ms, want 1500", got)
	}
	if got := res.Targets[0].MaxRTT; got < 3*second-3*ms {
		t.Errorf("the longest RTT is %d, want 3 s", got)
	}
}

// What waits for a place when the turn ends is not sent in a slice of the other
// target, nor in the next turn: it is unsent.
func TestBacklogEndsWithTheTurn(t *testing.T) {
	const window, clients = 2, 3
	b := newBench(t, load.Config{Rate: 20_000, Clients: clients, Window: window}, 2)
	b.pause = [2]int64{6 * ms, 12 * ms} // places come free long after the turn
	var plan []control.Slice
	for i := range 8 {
		plan = append(plan, control.Slice{Target: i % 2, Length: 10 * ms, Settle: 3 * ms, Counted: true})
	}
	res := b.measure(plan...)
	for target, want := range []int64{
		200 - 120 - clients*window, // sent in the first turn: what is answered by 6 ms, and a window each
		0,                          // it has caught up by then
	} {
		n := res.Targets[target].Counts
		if n[control.CountUnsent] != want || n[control.CountSent] != 800-want {
			t.Errorf("target %d: %v, want %d of 800 unsent", target, n, want)
		}
		for _, at := range b.allSent(target) {
			if plan[at/(10*ms)].Target != target {
				t.Fatalf("target %d: a message was sent %d ns into the plan, in a slice of the other", target, at)
			}
		}
	}
}

// A server that never answers gets its window; all else is counted.
func TestNothingIsDroppedSilently(t *testing.T) {
	b := newBench(t, load.Config{Rate: 1000, Clients: 2, Window: 8}, 1)
	b.pause = [2]int64{0, 100 * second}
	b.start(control.Slice{Length: second, Counted: true})
	if err := b.memory.Run(func() bool { return b.now() > second }); err != nil {
		t.Fatal(err)
	}
	n := b.result().Targets[0].Counts
	if n[control.CountSent] != 2*8 || n[control.CountUnsent] != 1000-2*8 || n[control.CountUnfinished] != 2*8 {
		t.Errorf("%v, want two windows sent and the rest of 1000 unsent", n)
	}
}

// A message that waited for a minute is given up, and the others go out.
func TestPatienceEnds(t *testing.T) {
	b := newBench(t, load.Config{Rate: 10, Window: 1}, 1)
	b.pause = [2]int64{0, 80 * second}
	y := b.measure(control.Slice{Length: 100 * second, Counted: true}).Targets[0]
	// Due after 0 and up to 20 s, they have waited for more than 60 s when the
	// first answer arrives.
	if n := y.Counts; n[control.CountUnsent] != 200 || n[control.CountSent] != 800 {
		t.Errorf("%v, want 200 of 1000 unsent", n)
	}
	if got := y.MaxRTT; got < 80*second { // the first, which was in flight
		t.Errorf("the longest RTT is %d, want 80 s", got)
	}
	if got := y.Counts[control.CountOverRange]; got != 1 {
		t.Errorf("%d RTTs over range, want that of the first", got)
	}
}

// More than a window is never in flight, and a rate beyond the server's is no
// less accounted for.
func TestOverload(t *testing.T) {
	const window = 4 // at 40 µs a round trip: 100,000 a second for each client
	b := newBench(t, load.Config{Rate: 1e6, Clients: 2, Window: window}, 1)
	y := b.measure(control.Slice{Length: 50 * ms, Counted: true}).Targets[0]
	n := y.Counts
	if due := n[control.CountSent] + n[control.CountUnsent]; due != 50_000 {
		t.Errorf("%d sent or unsent, want the 50000 that were due", due)
	}
	if got := n[control.CountSent]; got < 9900 || got > 10_100 {
		t.Errorf("%d sent, want about 10000: a window for each round trip", got)
	}
	for _, c := range b.clients[0] {
		for i := window; i < len(c.sent); i++ {
			if c.sent[i]-c.sent[i-window] < 2*latency {
				t.Fatalf("messages %d to %d were in flight at once", i-window, i)
			}
		}
	}
	if n[control.CountTardy] != 0 {
		t.Errorf("%d tardy: it was the window", n[control.CountTardy])
	}
	sent, intended, slip := histograms(t, y)
	if sent.Percentile(99) > 3*latency || slip.Max() < 30*ms || intended.Max() < slip.Max() {
		t.Errorf("RTT p99 %d, slip up to %d, RTT from the intended time up to %d", sent.Percentile(99), slip.Max(), intended.Max())
	}
}

// The load's own lateness is told from waiting for a place in the window.
func TestTardy(t *testing.T) {
	b := newBench(t, load.Config{Rate: 1000, Window: 8}, 1)
	b.start(control.Slice{Length: 100 * ms}, control.Slice{Length: 100 * ms, Counted: true})
	for _, at := range []int64{50 * ms, 150 * ms} { // the first is warm-up
		if err := b.memory.Run(func() bool { return b.now() >= at }); err != nil {
			t.Fatal(err)
		}
		b.memory.Advance(4*ms + 500*us) // the load gets no CPU for as long
	}
	run(t, b.memory, b.load.Done())
	n := b.result().Targets[0].Counts
	if n[control.CountTardy] != 3 || n[control.CountBlocked] != 0 || n[control.CountUnsent] != 0 || n[control.CountSent] != 200 {
		t.Errorf("%v, want 3 tardy: 4 were late, of them 1 by no more than 1 ms", n)
	}
}

// Exponential gaps come from the seed, the same for every target, and have the
// mean and the spread of such.
func TestExponentialGaps(t *testing.T) {
	offered := func(seed uint64) [][]int64 {
		b := newBench(t, load.Config{Rate: 20_000, Clients: 5, Window: 64, Gaps: control.GapsExponential, Seed: seed}, 2)
		b.measure(control.Slice{Length: second}, control.Slice{Target: 1, Length: second, Counted: true})
		second := b.allSent(1)
		for i := range second {
			second[i] -= 1_000_000_000
		}
		return [][]int64{b.allSent(0), second}
	}
	a, again, other := offered(1), offered(1), offered(2)
	if !slices.Equal(a[0], a[1]) {
		t.Error("the two targets were not offered the same")
	}
	if !slices.Equal(a[0], again[0]) || slices.Equal(a[0], other[0]) {
		t.Error("the gaps do not follow from the seed")
	}
	n, sum, squares := float64(len(a[0])-1), 0.0, 0.0
	for i := 1; i < len(a[0]); i++ {
		gap := float64(a[0][i] - a[0][i-1])
		sum += gap
		squares += gap * gap
	}
	mean := sum / n
	if deviation := math.Sqrt(squares/n-mean*mean) / mean; math.Abs(mean-50_000) > 1500 || math.Abs(deviation-1) > 0.03 {
		t.Errorf("gaps of %g ns with a coefficient of variation of %g, want 50000 and 1", mean, deviation)
	}
}

// In batch a whole window is offered at once, and its RTT is one.
func TestBatchesAreOfferedWhole(t *testing.T) {
	b := newBench(t, load.Config{Rate: 800, Window: 8, Batch: true}, 1)
	b.pause = [2]int64{500 * ms, 550 * ms} // the first due in it is in flight, five more wait
	y := b.measure(control.Slice{Length: second, Counted: true}).Targets[0]
	for i, at := range b.clients[0][0].sent {
		if want := int64(i/8) * 10 * ms; at != want && (want < 500*ms || want > 560*ms) {
			t.Fatalf("message %d was sent at %d, want %d", i, at, want)
		}
	}
	if n := y.Counts; n[control.CountSent] != 800 || n[control.CountBlocked] != 5*8 || n[control.CountUnsent] != 0 {
		t.Errorf("%v, want 100 batches of 8, 5 of them late", n)
	}
	if _, intended, _ := histograms(t, y); intended.Count() != 100 {
		t.Errorf("%d RTTs, want one for each of 100 batches", intended.Count())
	}
}

// A datagram that is lost holds its place and nothing else.
func TestLossInAnOpenLoop(t *testing.T) {
	b := newBench(t, load.Config{Protocol: udp.Protocol(), Rate: 1000, Window: 2, LossAfter: 10 * ms}, 1)
	b.pause = [2]int64{500 * ms, 600 * ms} // what is sent meanwhile is lost
	n := b.measure(control.Slice{Length: second, Counted: true}).Targets[0].Counts
	if n[control.CountSent] != 1000 || n[control.CountUnsent] != 0 || n[control.CountLost] < 18 || n[control.CountLost] > 22 {
		t.Errorf("%v, want all of 1000 sent and about 20 of them, given up after 10 ms each, lost", n)
	}
}

func TestRefusedRates(t *testing.T) {
	for _, c := range []load.Config{{Rate: -1}, {Rate: math.NaN()}, {Rate: math.Inf(1)}, {Rate: 1, Gaps: "uneven"}} {
		c.Protocol, c.Payload, c.Clients, c.Window, c.Clock = udp.Protocol(), 64, 1, 1, func() int64 { return 1 }
		if _, err := load.New(c, 1); err == nil {
			t.Errorf("rate %g, gaps %q: no error", c.Rate, c.Gaps)
		}
	}
}
