package compare_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
	"github.com/netmatrix/netmatrix/core/compare"
	"github.com/netmatrix/netmatrix/core/record"
)

// pairsOf makes a pair of each contender's rates with the baseline b, whose rate
// is 100 in every round.
func pairsOf(contenders ...[]float64) []compare.Pair {
	row := func(k cell.Contender, n int, rate func(int) float64) compare.Row {
		r := compare.Row{Run: &record.Run{Suite: "s"}, Cell: tcp.With(k)}
		for i := range n {
			r.Records = append(r.Records, rec(tcp, k, i+1, 1, record.OK, rate(i)))
		}
		return r
	}
	var pairs []compare.Pair
	for i, rates := range contenders {
		k := cell.Contender{Runtime: fmt.Sprint("c", i), Execution: cell.Callback}
		pairs = append(pairs, compare.Pair{
			Row:  row(k, len(rates), func(i int) float64 { return rates[i] }),
			Base: row(b, len(rates), func(int) float64 { return 100 }),
		})
	}
	return pairs
}

func TestVerdicts(t *testing.T) {
	same := func(n int, v float64) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = v
		}
		return list
	}
	wide := []float64{90, 112, 95, 108, 99, 121, 93, 104, 97, 103}
	for _, tt := range []struct {
		name  string
		rates []float64
		delta float64
		want  string
	}{
		{"higher in every round", []float64{120, 131, 118, 125, 122, 130, 119}, 0.03, "more throughput"},
		{"lower in every round", []float64{80, 71, 88, 85, 82, 80, 79}, 0.03, "less throughput"},
		{"identical repeats", same(7, 146), 0.03, "more throughput"},
		{"no difference at all", same(7, 100), 0.03, "equivalent within ±3 %"},
		{"a difference that does not matter", same(7, 101), 0.03, "equivalent within ±3 %"},
		{"the same where it does", same(7, 101), 0.005, "more throughput"},
		{"nearly on the bound", same(7, 103.01), 0.03, "more throughput"},
		{"below it, but not by as much in ratios", same(7, 97.01), 0.03, "equivalent within ±3 %"},
		{"too few rounds for words", same(6, 146), 0.03, ""},
		{"one round", same(1, 146), 0.03, ""},
		{"anything goes", wide, 0.03, "inconclusive (about 191 more rounds)"},
	} {
		v := compare.Judge(pairsOf(tt.rates), compare.Throughput, tt.delta)[0]
		if got := v.String(); got != tt.want {
			t.Errorf("%s: %q, want %q (%+v)", tt.name, got, tt.want, v)
		}
		if n := len(tt.rates); (v.Low > 0) != (n >= compare.MinRounds) {
			t.Errorf("%s: interval [%g, %g] from %d rounds", tt.name, v.Low, v.High, n)
		}
		if v.Low > v.High || v.High > 0 && (v.Ratio.Median < v.Low-1e-9 || v.Ratio.Median > v.High+1e-9) {
			t.Errorf("%s: ratio %g in [%g, %g]", tt.name, v.Ratio.Median, v.Low, v.High)
		}
		if math.IsNaN(v.P) || v.P <= 0 || v.P > 1 {
			t.Errorf("%s: p = %g", tt.name, v.P)
		}
	}
}

// What cannot be divided leaves the rounds, and nothing else.
func TestVerdictsOverWhatIsMissing(t *testing.T) {
	pairs := pairsOf([]float64{120, 131, 118, 0, 122, 130, 119, 125})
	if v := compare.Judge(pairs, compare.Throughput, 0.03)[0]; v.String() != "more throughput" || v.Low < 1.1 || math.IsInf(v.High, 0) {
		t.Errorf("with a rate of 0: %q, [%g, %g]", v, v.Low, v.High)
	}
	if v := compare.Judge(pairs, compare.CPUPerTrip, 0.03)[0]; v.String() != "" || v.Low != 0 || v.P != 1 {
		t.Errorf("of what was not measured: %+v", v)
	}
	if got := compare.Judge(nil, compare.Throughput, 0.03); len(got) != 0 {
		t.Errorf("of no pairs: %v", got)
	}
}

func TestTroubleWithholdsWords(t *testing.T) {
	rates := []float64{120, 131, 118, 125, 122, 130, 119, 127}
	for _, tt := range []struct {
		name  string
		spoil func(*record.Record)
		want  string
	}{
		{"an invalid trial", func(r *record.Record) { r.Status = record.Invalid }, "no verdict: 1 of 8 trials invalid"},
		{"a failed trial", func(r *record.Record) { r.Status, r.Metrics = record.Failed, nil }, "no verdict: 1 of 8 trials failed"},
		{"a lower bound", func(r *record.Record) { r.Validity.Flags = []string{record.FlagLoadBound} }, ""},
		{"a disturbed trial is a note", func(r *record.Record) { r.Validity.Flags = []string{record.FlagDisturbed} }, "more throughput"},
		{"crowded all alike", func(r *record.Record) { r.Validity.Flags = []string{record.FlagOversubscribed} }, "more throughput"},
	} {
		p := pairsOf(rates)[0]
		tt.spoil(&p.Row.Records[3])
		if got := compare.Judge([]compare.Pair{p}, compare.Throughput, 0.03)[0].String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
		p.Row.Cell.IOModel, p.Row.Cell.Threads = cell.Sharded, 4
		if got := compare.Judge([]compare.Pair{p}, compare.Throughput, 0.03)[0].String(); tt.name == "crowded all alike" && got != "no verdict: more IO threads than CPUs" {
			t.Errorf("crowded IO models: %q", got)
		}
	}
}

// Four contenders that differ by as little as seven rounds can show are too many
// for those rounds; each alone would do.
func TestFamilyIsAdjusted(t *testing.T) {
	rates := []float64{120, 131, 118, 125, 122, 130, 119}
	for _, v := range compare.Judge(pairsOf(rates, rates, rates, rates), compare.Throughput, 0.03) {
		if v.Word != compare.Inconclusive || v.More != 1 || math.Abs(v.P-4*2.0/128) > 1e-12 {
			t.Errorf("%q with p = %g, want one more round and 0.0625", v, v.P)
		}
	}
	// The least chance is held to a quarter of the level, the next to a third.
	longer := append([]float64{121, 122}, rates...)
	list := compare.Judge(pairsOf(longer, []float64{120, 131, 118, 125, 122, 130, 119, 80, 100}), compare.Throughput, 0.03)
	if got, want := list[0].P, 2*2.0/512; math.Abs(got-want) > 1e-12 {
		t.Errorf("the least chance: %g, want %g", got, want)
	}
	alone := compare.Judge([]compare.Pair{list[1].Pair}, compare.Throughput, 0.03)[0].P
	if got := list[1].P; got != alone {
		t.Errorf("the larger chance: %g, want %g as alone", got, alone)
	}
}

// noisy are the rates of a contender whose true ratio to 100 is given, with the
// standard deviation of a ratio from round to round.
func noisy(chance *rand.Rand, n int, ratio, deviation float64) []float64 {
	rates := make([]float64, n)
	for i := range rates {
		rates[i] = 100 * ratio * math.Exp(deviation*chance.NormFloat64())
	}
	return rates
}

// said counts the words over many runs of ten rounds.
func said(contenders int, ratio, deviation float64) map[compare.Word]int {
	chance := rand.New(rand.NewPCG(20, 26))
	count := map[compare.Word]int{}
	for range simulations {
		var rates [][]float64
		for range contenders {
			rates = append(rates, noisy(chance, 10, ratio, deviation))
		}
		words := map[compare.Word]bool{} // at least once in the family
		for _, v := range compare.Judge(pairsOf(rates...), compare.Throughput, compare.DefaultDelta) {
			words[v.Word] = true
		}
		for w := range words {
			count[w]++
		}
	}
	return count
}

const simulations = 1000

// fiveInHundred is how often what happens in 5 % of all runs may happen in the
// simulated ones: two standard deviations more than 50.
const fiveInHundred = 64

func TestTwinsAreRarelyToldApart(t *testing.T) {
	for _, contenders := range []int{1, 5} {
		for _, deviation := range []float64{0.03, 0.1} {
			got := said(contenders, 1, deviation)
			if wrong := got[compare.More] + got[compare.Less]; wrong > fiveInHundred {
				t.Errorf("%d identical contenders, deviation %g: told apart in %d of %d runs, want 5 %% or so at most (%v)", contenders, deviation, wrong, simulations, got)
			}
		}
	}
}

func TestTrueDifferencesAreFound(t *testing.T) {
	for _, tt := range []struct {
		ratio float64
		word  compare.Word
		least int
	}{{1.05, compare.More, 980}, {0.95, compare.Less, 980}, {1.03, compare.More, 700}, {1, compare.Equivalent, 750}} {
		if got := said(1, tt.ratio, 0.03); got[tt.word] < tt.least {
			t.Errorf("ratio %g: %v, want %q %d times or more", tt.ratio, got, tt.word, tt.least)
		}
	}
	// A ratio on the bound is called equivalent in no more than one run of twenty.
	if got := said(1, 1.03, 0.03)[compare.Equivalent]; got > fiveInHundred {
		t.Errorf("ratio 1.03 is called equivalent within 3 %% in %d of %d runs", got, simulations)
	}
}

// The estimate of how many rounds are missing is the number that decides in most
// runs.
func TestMissingRoundsDecide(t *testing.T) {
	chance := rand.New(rand.NewPCG(1, 2))
	decided, runs := 0, 0
	for range 200 {
		first := noisy(chance, 10, 1.05, 0.08)
		v := compare.Judge(pairsOf(first), compare.Throughput, 0.03)[0]
		if v.Word != compare.Inconclusive || v.More > 200 {
			continue
		}
		runs++
		if v = compare.Judge(pairsOf(noisy(chance, 10+v.More, v.Ratio.Median, 0.08)), compare.Throughput, 0.03)[0]; v.Word != compare.Inconclusive {
			decided++
		}
	}
	if runs < 50 || decided < runs*6/10 {
		t.Errorf("%d of %d runs were decided by the estimated rounds, want most", decided, runs)
	}
}
