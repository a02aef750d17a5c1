package matrix

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// decoder turns nodes into values. It keeps the first error and goes on with
// zero values, so that what reads a file stays a straight line; results count
// only while err is nil.
type decoder struct {
	*source
	err      error
	runtimes []string // names, once they are read
}

// fail notes what is wrong with node n, unless something was wrong before.
func (d *decoder) fail(n *yaml.Node, format string, args ...any) {
	if d.err == nil {
		d.err = d.errorf(n.Line, n.Column, format, args...)
	}
}

// field is one entry of a mapping.
type field struct {
	key, value *yaml.Node
}

func (f field) name() string { return f.key.Value }

// mapping reads the entries of n in the order of the file, each key once. what
// names n in errors.
func (d *decoder) mapping(n *yaml.Node, what string) []field {
	if n.Kind != yaml.MappingNode {
		d.fail(n, "%s is %s; write a mapping, one `key: value` a line or {key: value, …}", what, kind(n))
		return nil
	}
	if len(n.Content) == 0 {
		d.fail(n, "%s is an empty mapping; put something in or remove it", what)
	}
	fields := make([]field, 0, len(n.Content)/2)
	lines := make(map[string]int)
	for pair := range slices.Chunk(n.Content, 2) {
		f := field{pair[0], pair[1]}
		if f.key.Kind != yaml.ScalarNode {
			d.fail(f.key, "a key of %s is %s; a key is a word", what, kind(f.key))
			return nil
		}
		if first, twice := lines[f.name()]; twice {
			d.fail(f.key, "duplicate key %s in %s, first on line %d and again on line %d; keep one",
				quote(f.name()), what, first, f.key.Line)
		}
		lines[f.name()] = f.key.Line
		fields = append(fields, f)
	}
	return fields
}

// record reads a mapping that may hold the known keys only.
func (d *decoder) record(n *yaml.Node, what string, known []string) map[string]*yaml.Node {
	values := make(map[string]*yaml.Node)
	for _, f := range d.mapping(n, what) {
		if !slices.Contains(known, f.name()) {
			d.unknown(f, what, known)
		}
		values[f.name()] = f.value
	}
	return values
}

func (d *decoder) unknown(f field, what string, known []string) {
	if name, _, joined := strings.Cut(f.name(), ":"); joined && slices.Contains(known, name) {
		d.fail(f.key, "unknown key %s in %s; put a space after the colon", quote(f.name()), what)
		return
	}
	d.fail(f.key, "unknown key %s in %s; %s", quote(f.name()), what, suggest(f.name(), known))
}

// scalar reads a single value as it is written.
func (d *decoder) scalar(n *yaml.Node, what string) string {
	switch {
	case n.Kind != yaml.ScalarNode:
		d.fail(n, "%s is %s; write a single value", what, kind(n))
	case n.Tag == "!!null", n.Value == "":
		d.fail(n, "%s has no value; write one", what)
	default:
		return n.Value
	}
	return ""
}

// line reads text of one line.
func (d *decoder) line(n *yaml.Node, what string) string {
	text := d.scalar(n, what)
	if strings.ContainsFunc(text, forbidden) {
		d.fail(n, "%s has more than one line; write one", what)
	}
	return text
}

// plain reads a value that has to be written without quotes: a number or a time.
func (d *decoder) plain(n *yaml.Node, what string) string {
	text := d.scalar(n, what)
	if n.Kind == yaml.ScalarNode && n.Style != 0 {
		d.fail(n, "%s is text in quotes; write the bare value: %s", what, quote(text)[1:len(quote(text))-1])
	}
	return text
}

// integer reads a whole number between least and most.
func (d *decoder) integer(n *yaml.Node, what string, least, most int) int {
	return ranged(d, n, what, whole[int], least, most)
}

// bytes reads a byte count of at most most.
func (d *decoder) bytes(n *yaml.Node, what string, most int) int {
	return ranged(d, n, what, ParseBytes, 0, most)
}

// time reads a duration between least and MaxDuration.
func (d *decoder) time(n *yaml.Node, what string, least time.Duration) time.Duration {
	return ranged(d, n, what, duration, least, MaxDuration)
}

func ranged[T int | time.Duration](d *decoder, n *yaml.Node, what string, parse func(string) (T, error), least, most T) T {
	text := d.plain(n, what)
	v, err := parse(text)
	switch {
	case err != nil:
		d.fail(n, "%s: %v", what, err)
	case v < least || v > most:
		d.fail(n, "%s: %s lies outside %v to %v", what, text, least, most)
	}
	return v
}

// percent reads a share of more than nothing and at most most of 1.
func (d *decoder) percent(n *yaml.Node, what string, most float64) float64 {
	text := d.plain(n, what)
	v, err := ParsePercent(text)
	switch {
	case err != nil:
		d.fail(n, "%s: %v", what, err)
	case v <= 0 || v > most:
		d.fail(n, "%s: %s lies outside 0%% to %.3g%%; write at least 0.1%%", what, text, 100*most)
	}
	return v
}

// choice reads one of a fixed set of words.
func (d *decoder) choice(n *yaml.Node, what string, values []string) string {
	v, err := oneOf(d.scalar(n, what), values)
	if err != nil {
		d.fail(n, "%s: %v", what, err)
	}
	return v
}

// runtime reads the name of a runtime of this file.
func (d *decoder) runtime(n *yaml.Node, what string) string {
	name := d.scalar(n, what)
	d.checkRuntime(n, name)
	return name
}

func (d *decoder) checkRuntime(n *yaml.Node, name string) {
	if !slices.Contains(d.runtimes, name) {
		d.fail(n, "runtime %s is not among runtimes; %s", quote(name), suggest(name, d.runtimes))
	}
}

// items reads one value or a list of at least one.
func (d *decoder) items(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		return []*yaml.Node{n}
	}
	return d.list(n, what)
}

// list reads a list of at least one value.
func (d *decoder) list(n *yaml.Node, what string) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		d.fail(n, "%s is %s; write a list: [ … ]", what, kind(n))
		return nil
	}
	if len(n.Content) == 0 {
		d.fail(n, "%s is an empty list; put a value in or remove the key", what)
	}
	return n.Content
}

// value reads a value of an axis.
func (d *decoder) value(a *axis, n *yaml.Node) any {
	text := ""
	if a.text {
		text = d.scalar(n, a.name)
	} else {
		text = d.plain(n, a.name)
	}
	v, err := a.parse(text)
	if err != nil {
		d.fail(n, "%s: %v", a.name, err)
	}
	if a.name == "runtime" {
		d.checkRuntime(n, text)
	}
	return v
}

// kind names what a node is, for errors.
func kind(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Tag == "!!null":
		return "empty"
	}
	return quote(n.Value)
}

// describe names an entry in errors, such as `suite "quick"`.
func describe(thing string, f field) string {
	return thing + " " + quote(f.name())
}
