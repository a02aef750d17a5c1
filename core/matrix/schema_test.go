package matrix

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/netmatrix/netmatrix/core/cell"
)

// object walks the schema down the names to an object.
func object(t *testing.T, names ...string) map[string]any {
	t.Helper()
	var at map[string]any
	if err := json.Unmarshal(Schema(), &at); err != nil {
		t.Fatal(err)
	}
	for i, name := range names {
		next, ok := at[name].(map[string]any)
		if !ok {
			t.Fatalf("the schema has no object at %v", names[:i+1])
		}
		at = next
	}
	return at
}

// Editors complete and check the keys that Parse takes, and no others.
func TestSchemaHasTheKeys(t *testing.T) {
	definition := func(name string, more ...string) []string {
		return append([]string{"definitions", name}, more...)
	}
	for _, tt := range []struct {
		at   []string
		keys []string
		open bool // takes names of the user's own
	}{
		{nil, fileKeys, false},
		{[]string{"properties", "baseline"}, baselineKeys, false},
		{[]string{"properties", "load"}, loadKeys, false},
		{definition("runtime"), runtimeKeys, false},
		{definition("setting"), axisNames(), false},
		{definition("condition"), axisNames(), false},
		{definition("defaults"), slices.Concat(sharedKeys, axisNames()), false},
		{definition("suite"), slices.Concat(suiteKeys, sharedKeys, axisNames()), true},
		{definition("defaults", "properties", "buffers"), bufferKeys, false},
		{definition("override", "items"), overrideKeys, false},
		{definition("exclude", "items"), excludeKeys, false},
	} {
		o := object(t, tt.at...)
		got := slices.Sorted(maps.Keys(object(t, append(slices.Clone(tt.at), "properties")...)))
		if want := slices.Sorted(slices.Values(tt.keys)); !slices.Equal(got, want) {
			t.Errorf("%v: got keys %q, want %q", tt.at, got, want)
		}
		if closed := o["additionalProperties"] == false; closed == tt.open {
			t.Errorf("%v: got additionalProperties %v", tt.at, o["additionalProperties"])
		}
	}
	forms := object(t, "properties", "cpus")["anyOf"].([]any)
	list := forms[1].(map[string]any)["properties"].(map[string]any)
	if got := slices.Sorted(maps.Keys(list)); !slices.Equal(got, slices.Sorted(slices.Values(cpusKeys))) {
		t.Errorf("cpus: got keys %q, want %q", got, cpusKeys)
	}
}

// Editors know the same values and limits as a cell.
func TestSchemaHasTheValues(t *testing.T) {
	limits := map[string][2]float64{
		"threads": {1, cell.MaxThreads}, "clients": {1, cell.MaxClients}, "window": {1, cell.MaxWindow},
		"work": {0, float64(cell.MaxWork)}, "payload": {cell.MinPayload, cell.MaxPayload}, "rate": {0, 1e9},
	}
	for _, a := range axes {
		o := object(t, "definitions", "setting", "properties", a.name)
		if o["description"] == nil {
			t.Errorf("%s has no description", a.name)
		}
		if want := cell.Values(a.name); want != nil && !reflect.DeepEqual(texts(o["enum"]), want) {
			t.Errorf("%s: got values %v, want %v", a.name, o["enum"], want)
		}
		if forms, ok := o["anyOf"].([]any); ok { // payload: a number or a text with its unit
			o = forms[0].(map[string]any)
		}
		if want, ok := limits[a.name]; ok && (o["minimum"] != want[0] || o["maximum"] != want[1]) {
			t.Errorf("%s: got limits %v to %v, want %v", a.name, o["minimum"], o["maximum"], want)
		}
	}
	shared := object(t, "definitions", "defaults", "properties")
	if got := texts(shared["contrast"].(map[string]any)["enum"]); !slices.Equal(got, Contrasts()) {
		t.Errorf("contrast: got %v, want %v", got, Contrasts())
	}
	if got := shared["rounds"].(map[string]any)["maximum"]; got != float64(MaxRounds) {
		t.Errorf("rounds: got at most %v, want %d", got, MaxRounds)
	}
	if got := texts(object(t, "properties", "load", "properties", "wait")["enum"]); !slices.Equal(got, cell.Values("load_wait")) {
		t.Errorf("wait: got %v, want %v", got, cell.Values("load_wait"))
	}
}

func texts(list any) []string {
	var words []string
	for _, v := range list.([]any) {
		words = append(words, v.(string))
	}
	return words
}

// The axes are the fields of a cell under their JSON names, in their order.
func TestAxesAreTheFieldsOfACell(t *testing.T) {
	of := reflect.TypeFor[cell.Cell]()
	var want []string
	for i := range of.NumField() {
		want = append(want, of.Field(i).Tag.Get("json"))
	}
	if got := axisNames(); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for i, a := range axes {
		var c, again cell.Cell
		field := reflect.ValueOf(&c).Elem().Field(i)
		field.Set(reflect.ValueOf(map[reflect.Kind]any{
			reflect.String: "x", reflect.Int: 7, reflect.Int64: int64(7), reflect.Float64: 7.5,
		}[field.Kind()]))
		if got := a.get(&c); got != field.Interface() {
			t.Errorf("%s: got %v, want %v", a.name, got, field)
		}
		if a.set(&again, a.get(&c)); again != c {
			t.Errorf("%s: set made %+v, want %+v", a.name, again, c)
		}
	}
}
