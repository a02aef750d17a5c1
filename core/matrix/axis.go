package matrix

import (
	"slices"

	"github.com/netmatrix/netmatrix/core/cell"
)

// An axis is one field of a cell: its name, its text form and how to reach it.
type axis struct {
	name  string
	text  bool                      // its values are words, which may be quoted
	parse func(string) (any, error) // text → a value, of the field's type
	get   func(*cell.Cell) any
	set   func(*cell.Cell, any)
}

// axes are all axes, in the order of the cell's fields.
var axes = []*axis{
	newAxis("runtime", func(c *cell.Cell) *string { return &c.Runtime }, word),
	newAxis("execution", func(c *cell.Cell) *string { return &c.Execution }, choice("execution")),
	newAxis("io_model", func(c *cell.Cell) *string { return &c.IOModel }, choice("io_model")),
	newAxis("threads", func(c *cell.Cell) *int { return &c.Threads }, whole[int]),
	newAxis("protocol", func(c *cell.Cell) *string { return &c.Protocol }, choice("protocol")),
	newAxis("payload", func(c *cell.Cell) *int { return &c.Payload }, ParseBytes),
	newAxis("clients", func(c *cell.Cell) *int { return &c.Clients }, whole[int]),
	newAxis("window", func(c *cell.Cell) *int { return &c.Window }, whole[int]),
	newAxis("work", func(c *cell.Cell) *int64 { return &c.Work }, whole[int64]),
	newAxis("pattern", func(c *cell.Cell) *string { return &c.Pattern }, choice("pattern")),
	newAxis("placement", func(c *cell.Cell) *string { return &c.Placement }, choice("placement")),
	newAxis("rate", func(c *cell.Cell) *float64 { return &c.Rate }, decimal),
	newAxis("load_wait", func(c *cell.Cell) *string { return &c.LoadWait }, choice("load_wait")),
	newAxis("address_family", func(c *cell.Cell) *string { return &c.AddressFamily }, choice("address_family")),
}

func newAxis[T comparable](name string, field func(*cell.Cell) *T, parse func(string) (T, error)) *axis {
	var zero T
	_, text := any(zero).(string)
	return &axis{
		name:  name,
		text:  text,
		parse: func(s string) (any, error) { return parse(s) },
		get:   func(c *cell.Cell) any { return *field(c) },
		set:   func(c *cell.Cell, v any) { *field(c) = v.(T) },
	}
}

// axisNamed is the axis of that name, nil if there is none.
func axisNamed(name string) *axis {
	for _, a := range axes {
		if a.name == name {
			return a
		}
	}
	return nil
}

func axisNames() []string {
	names := make([]string, len(axes))
	for i, a := range axes {
		names[i] = a.name
	}
	return names
}

// A condition holds for a cell when each of its clauses does.
type condition []clause

// A clause holds when the cell has one of the values on the axis.
type clause struct {
	axis   *axis
	values []any
}

func (c condition) holds(of *cell.Cell) bool {
	for _, cl := range c {
		if !slices.Contains(cl.values, cl.axis.get(of)) {
			return false
		}
	}
	return true
}
