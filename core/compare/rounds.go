package compare

import "math"

const (
	// power is the chance that the estimated number of rounds decides.
	power = 0.8
	// manyRounds is the number beyond which an estimate is no longer given.
	manyRounds = 1000
)

// missing is about how many rounds more would find the ratio different from 1,
// or equivalent, whichever is sooner, if they went on as they did: by the normal
// approximation, at the level that the least certain of a family is held to.
func (t *test) missing(delta float64, family int) int {
	mean, deviation := moments(t.logs)
	level := Alpha / float64(family)
	rounds := func(level, distance float64) float64 {
		if distance <= 0 {
			return math.Inf(1)
		}
		// Fewer rounds than this have no pattern of signs that is rare enough.
		least := math.Ceil(-math.Log2(level))
		z := (quantile(1-level) + quantile(power)) * deviation / distance
		return max(least, math.Ceil(z*z))
	}
	different := rounds(level/2, math.Abs(mean))
	equivalent := rounds(level, min(math.Log(1+delta)-mean, mean-math.Log(1-delta)))
	needed := min(different, equivalent) - float64(len(t.logs))
	if needed > manyRounds {
		return manyRounds + 1
	}
	return max(1, int(needed))
}

// moments are the mean and the standard deviation of a sample of two or more.
func moments(values []float64) (mean, deviation float64) {
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / (n - 1)
	}
	return mean, math.Sqrt(deviation)
}

// quantile is that of the standard normal distribution.
func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }
