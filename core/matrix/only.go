package matrix

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/netmatrix/netmatrix/core/cell"
)

// Only keeps the cells that expr asks for: axis=value,axis=value. Values of one
// axis are alternatives, different axes must all hold. The name contender
// stands for both its axes: contender=rawpoll/callback. A value that no cell
// has is an error, since it is misspelt or in another suite.
func Only(cells []cell.Cell, expr string) ([]cell.Cell, error) {
	kept := cells
	terms, err := parseOnly(expr)
	if err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(terms)) {
		field := onlyField(name)
		for _, v := range terms[name] {
			if !slices.ContainsFunc(cells, func(c cell.Cell) bool { return field(&c) == v }) {
				return nil, fmt.Errorf("--only %s=%v: no cell has it; %s is one of %s", name, v, name, seen(cells, field))
			}
		}
		kept = slices.DeleteFunc(slices.Clone(kept), func(c cell.Cell) bool { return !slices.Contains(terms[name], field(&c)) })
	}
	if len(kept) == 0 {
		return nil, fmt.Errorf("--only %s: no cell has all of it at once; drop one of the axes", expr)
	}
	return kept, nil
}

// contenderName is what --only takes beside the axes.
const contenderName = "contender"

// parseOnly reads the values asked for of each name.
func parseOnly(expr string) (map[string][]any, error) {
	terms := make(map[string][]any)
	for term := range strings.SplitSeq(expr, ",") {
		name, text, ok := strings.Cut(strings.TrimSpace(term), "=")
		if !ok {
			return nil, fmt.Errorf("--only %s: write axis=value,axis=value; an axis may be repeated", quote(term))
		}
		a := axisNamed(name)
		switch {
		case name == contenderName:
			k, err := parseContender(text)
			if err != nil {
				return nil, err
			}
			terms[name] = append(terms[name], k)
		case a == nil:
			return nil, fmt.Errorf("--only %s: unknown axis %s; %s", quote(term), quote(name), suggest(name, append(axisNames(), contenderName)))
		default:
			v, err := a.parse(text)
			if err != nil {
				return nil, fmt.Errorf("--only %s: %w", quote(term), err)
			}
			terms[name] = append(terms[name], v)
		}
	}
	return terms, nil
}

func parseContender(text string) (cell.Contender, error) {
	runtime, execution, ok := strings.Cut(text, "/")
	if !ok {
		return cell.Contender{}, fmt.Errorf("--only contender=%s: write runtime/execution, such as rawpoll/callback", text)
	}
	return cell.Contender{Runtime: runtime, Execution: execution}, nil
}

// onlyField reads from a cell what the name stands for.
func onlyField(name string) func(*cell.Cell) any {
	if name == contenderName {
		return func(c *cell.Cell) any { return c.Contender() }
	}
	return axisNamed(name).get
}

// seen lists the values of a field over the cells, in the order they come.
func seen(cells []cell.Cell, field func(*cell.Cell) any) string {
	var words []string
	for i := range cells {
		if w := fmt.Sprint(field(&cells[i])); !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	return strings.Join(words, ", ")
}
