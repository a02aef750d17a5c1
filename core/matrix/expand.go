package matrix

import (
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/netmatrix/netmatrix/core/cell"
)

// expansion makes the cells of one suite: the product of its factors, changed
// by the overrides in order, less what is excluded. Exclusion comes before
// validation, so that a file can take out the combinations that make no sense.
type expansion struct {
	*suites
	suite     *Suite
	key       *yaml.Node // the suite's name
	factors   []factor   // in the order of the file
	overrides []override
	excludes  []exclude // the suite's own first
	seen      map[cell.Cell]bool
}

// add puts in a factor whose axes no other factor may set.
func (e *expansion) add(f factor) {
	for _, a := range f.axes {
		if other := e.setBy(a); other != nil {
			e.fail(f.key, "%s is set twice in suite %s, by %s on line %d and by %s on line %d; keep one",
				a.name, quote(e.suite.Name), quote(other.key.Value), other.key.Line, quote(f.key.Value), f.key.Line)
		}
	}
	e.factors = append(e.factors, f)
}

func (e *expansion) setBy(a *axis) *factor {
	for i := range e.factors {
		if slices.Contains(e.factors[i].axes, a) {
			return &e.factors[i]
		}
	}
	return nil
}

// run completes the factors with defaults and expands them. The first factor of
// the file varies slowest; contenders that the file leaves open vary fastest.
func (e *expansion) run(what string) {
	for _, a := range slices.Concat(axes[2:], axes[:2]) {
		if e.setBy(a) != nil {
			continue
		}
		f, known := e.defaults[a]
		if !known {
			e.fail(e.key, "%s has no %s; add %s: … to the suite or to defaults", what, a.name, a.name)
		}
		e.factors = append(e.factors, f)
	}
	count := 1.0 // a float, since a product of lists may be larger than any integer
	for _, f := range e.factors {
		count *= float64(len(f.options))
	}
	if e.suites.cells += count; e.suites.cells > MaxCells {
		e.fail(e.key, "%s asks for %.15g cells, which makes %.15g so far; a matrix has at most %d: shorten its lists",
			what, count, e.suites.cells, MaxCells)
	}
	e.seen = make(map[cell.Cell]bool)
	e.walk(e.factors, nil)
	if e.err == nil && len(e.suite.Cells) == 0 {
		e.fail(e.key, "every cell of %s is excluded; widen the suite or remove an exclude", what)
	}
}

// walk picks an option of each factor in turn, in every combination.
func (e *expansion) walk(rest []factor, picked []setting) {
	if len(rest) == 0 {
		e.make(picked)
		return
	}
	for _, option := range rest[0].options {
		if e.err != nil {
			return
		}
		e.walk(rest[1:], append(picked, option))
	}
}

// make puts the cell that the settings make into the suite.
func (e *expansion) make(picked []setting) {
	var c cell.Cell
	for _, s := range picked {
		s.apply(&c)
	}
	c = c.Canonical()
	for _, o := range e.overrides {
		if o.when.holds(&c) {
			o.set.apply(&c)
			c = c.Canonical()
			picked = append(picked, o.set)
		}
	}
	if e.seen[c] {
		return
	}
	e.seen[c] = true
	for _, x := range e.excludes {
		if x.when.holds(&c) {
			e.suite.Excluded = append(e.suite.Excluded, Exclusion{c, x.why})
			return
		}
	}
	e.check(c, picked)
	e.suite.Cells = append(e.suite.Cells, c)
}

// check validates a cell and maps what is wrong back to where it is written:
// the last setting of the axis at fault.
func (e *expansion) check(c cell.Cell, picked []setting) {
	var wrong *cell.Error
	if !errors.As(c.Validate(), &wrong) {
		return
	}
	at := e.key
	for _, s := range slices.Backward(picked) {
		if n := s.node(axisNamed(wrong.Axis)); n != nil {
			at = n
			break
		}
	}
	e.fail(at, "%s: %s (in the cell %s)", wrong.Axis, wrong.Msg, c)
}

// names lists axes for errors.
func names(list []*axis) string {
	words := make([]string, len(list))
	for i, a := range list {
		words[i] = a.name
	}
	return strings.Join(words, ", ")
}
