package matrix

import (
	"go.yaml.in/yaml/v3"

	"github.com/netmatrix/netmatrix/core/cell"
)

// A setting gives a cell its values on some axes.
type setting []assignment

type assignment struct {
	axis  *axis
	value any
	node  *yaml.Node // where it is written; nil: built in
}

func (s setting) apply(to *cell.Cell) {
	for _, a := range s {
		a.axis.set(to, a.value)
	}
}

// A factor is a source of values: one axis, or several that are coupled. Each
// option sets the same axes.
type factor struct {
	key     *yaml.Node // nil: built in
	axes    []*axis
	options []setting
}

// override changes the cells that a condition holds for.
type override struct {
	when condition
	set  setting
}

// exclude takes out the cells that a condition holds for.
type exclude struct {
	when condition
	why  string
}

// factor reads the values of one axis.
func (d *decoder) factor(a *axis, f field) factor {
	out := factor{key: f.key, axes: []*axis{a}}
	for _, n := range d.items(f.value, a.name) {
		out.options = append(out.options, setting{{a, d.value(a, n), n}})
	}
	return out
}

// coupled reads a list of mappings, each with one value on the same axes.
func (d *decoder) coupled(f field) factor {
	out := factor{key: f.key}
	for i, n := range d.list(f.value, f.name()) {
		option := d.setting(n, quote(f.name()))
		if i == 0 {
			for _, a := range option {
				out.axes = append(out.axes, a.axis)
			}
		}
		for _, a := range out.axes {
			if option.node(a) == nil || len(option) != len(out.axes) {
				d.fail(n, "the mappings of %s do not set the same axes; the first sets %s: set these in each", quote(f.name()), names(out.axes))
			}
		}
		out.options = append(out.options, option)
	}
	return out
}

// setting reads a mapping from axes to single values.
func (d *decoder) setting(n *yaml.Node, what string) setting {
	var out setting
	for _, f := range d.mapping(n, what) {
		a := axisNamed(f.name())
		if a == nil {
			d.unknown(f, what, axisNames())
			return nil
		}
		out = append(out, assignment{a, d.value(a, f.value), f.value})
	}
	return out
}

// node is where the setting sets the axis, nil if it does not.
func (s setting) node(on *axis) *yaml.Node {
	for _, a := range s {
		if a.axis == on {
			return a.node
		}
	}
	return nil
}

// condition reads a mapping from axes to one value or several.
func (d *decoder) condition(n *yaml.Node) condition {
	var out condition
	for _, f := range d.mapping(n, "when") {
		a := axisNamed(f.name())
		if a == nil {
			d.unknown(f, "when", axisNames())
			return nil
		}
		c := clause{axis: a}
		for _, item := range d.items(f.value, a.name) {
			c.values = append(c.values, d.value(a, item))
		}
		out = append(out, c)
	}
	return out
}

func (d *decoder) readOverrides(n *yaml.Node) []override {
	var all []override
	for _, item := range d.list(n, "override") {
		keys := d.record(item, "override", overrideKeys)
		if keys["when"] == nil || keys["set"] == nil {
			d.fail(item, "an override needs both keys; write {when: {axis: value}, set: {axis: value}}")
			return nil
		}
		all = append(all, override{d.condition(keys["when"]), d.setting(keys["set"], "set")})
	}
	return all
}

func (d *decoder) readExcludes(n *yaml.Node) []exclude {
	var all []exclude
	for _, item := range d.list(n, "exclude") {
		keys := d.record(item, "exclude", excludeKeys)
		if keys["when"] == nil || keys["why"] == nil {
			d.fail(item, "an exclude needs a condition and its reason; write {when: {axis: value}, why: \"…\"}")
			return nil
		}
		all = append(all, exclude{d.condition(keys["when"]), d.line(keys["why"], "why")})
	}
	return all
}
