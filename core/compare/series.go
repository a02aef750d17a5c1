package compare

import "github.com/netmatrix/netmatrix/core/record"

// Round is what trials are paired by.
type Round struct {
	RunID string
	N     int
}

// Series is one metric of one row, round by round.
type Series map[Round]float64

// Series takes a metric from the row's good trials.
func (r Row) Series(m Metric) Series {
	s := Series{}
	for i := range r.Records {
		rec := &r.Records[i]
		if v := m.Of(rec); v != nil && rec.Status == record.OK {
			s[Round{rec.RunID, rec.Round}] = *v
		}
	}
	return s
}

// Spread is the spread of the series over its rounds.
func (s Series) Spread() Spread {
	values := make([]float64, 0, len(s))
	for _, v := range s {
		values = append(values, v)
	}
	return SpreadOf(values)
}

// Ratios divides s by base in each round that both have and in which base is
// not 0.
func (s Series) Ratios(base Series) Series {
	ratios := Series{}
	for round, v := range s {
		if b, ok := base[round]; ok && b != 0 {
			ratios[round] = v / b
		}
	}
	return ratios
}
