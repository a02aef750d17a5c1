package goplugin

import (
	"fmt"
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"github.com/netmatrix/netmatrix/core/control"
	pb "github.com/netmatrix/netmatrix/core/goplugin/proto"
)

// A field that is added on one side only does not survive the trip from there
// and back.
func TestEveryFieldCrosses(t *testing.T) {
	trip(t, descriptionToProto, descriptionFromProto, &pb.Description{})
	trip(t, setupToProto, setupFromProto, &pb.Setup{})
	trip(t, readyToProto, readyFromProto, &pb.Ready{})
	trip(t, planToProto, planFromProto, &pb.Plan{})
	trip(t, resultToProto, resultFromProto, &pb.Result{})
	trip(t, countersToProto, countersFromProto, &pb.Counters{})
}

func trip[G any, M proto.Message](t *testing.T, to func(G) M, from func(M) G, msg M) {
	t.Helper()
	var want G
	n := 0
	fill(t, reflect.ValueOf(&want).Elem(), &n)
	if got := from(to(want)); !reflect.DeepEqual(got, want) {
		t.Errorf("Go to protobuf and back:\n got %+v\nwant %+v", got, want)
	}
	fillMessage(msg.ProtoReflect(), &n)
	if got := to(from(msg)); !proto.Equal(got, msg) {
		t.Errorf("protobuf to Go and back:\n got %v\nwant %v", got, msg)
	}
}

// fill sets everything in v to values that differ from each other and from zero.
func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		for i := range 2 {
			fill(t, v.Index(i), n)
		}
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, n)
		fill(t, value, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(uint64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + 0.5)
	default:
		t.Fatalf("the test does not know how to fill a %s", v.Type())
	}
}

// fillMessage does the same for a message.
func fillMessage(m protoreflect.Message, n *int) {
	fields := m.Descriptor().Fields()
	for i := range fields.Len() {
		f := fields.Get(i)
		switch {
		case f.IsMap():
			entry := m.Mutable(f).Map()
			entry.Set(scalar(f.MapKey(), n).MapKey(), scalar(f.MapValue(), n))
		case f.IsList() && f.Message() != nil:
			fillMessage(m.Mutable(f).List().AppendMutable().Message(), n)
		case f.IsList():
			m.Mutable(f).List().Append(scalar(f, n))
		case f.Message() != nil:
			fillMessage(m.Mutable(f).Message(), n)
		default:
			m.Set(f, scalar(f, n))
		}
	}
}

func scalar(f protoreflect.FieldDescriptor, n *int) protoreflect.Value {
	*n++
	switch f.Kind() {
	case protoreflect.StringKind:
		return protoreflect.ValueOfString(fmt.Sprint("text ", *n))
	case protoreflect.BytesKind:
		return protoreflect.ValueOfBytes([]byte{byte(*n)})
	case protoreflect.BoolKind:
		return protoreflect.ValueOfBool(true)
	case protoreflect.DoubleKind:
		return protoreflect.ValueOfFloat64(float64(*n) + 0.5)
	case protoreflect.Uint64Kind:
		return protoreflect.ValueOfUint64(uint64(*n))
	}
	return protoreflect.ValueOfInt64(int64(*n))
}

// Whatever a plugin sends as a result is taken without a panic and, once in Go
// types, crosses unchanged.
func FuzzResult(f *testing.F) {
	var r control.Result
	r.Slices = []control.Sample{{Start: 1, End: 2, RoundTrips: 3}, {ServerCPU: -1}}
	r.Targets = []control.Tally{{RTT: []byte{1}, Counts: map[string]int64{"sent": 4}, FirstErrors: []string{"x"}}}
	seed, err := proto.Marshal(resultToProto(r))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(seed)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		var m pb.Result
		if proto.Unmarshal(b, &m) != nil {
			return
		}
		got := resultFromProto(&m)
		if again := resultFromProto(resultToProto(got)); !reflect.DeepEqual(again, got) {
			t.Errorf("%+v became %+v", got, again)
		}
	})
}

func FuzzHandshake(f *testing.F) {
	f.Add("1|1|unix|/tmp/x|grpc|")
	f.Add("hello")
	f.Fuzz(func(t *testing.T, line string) {
		contract, valid := parseHandshake(line)
		if valid == (contract == "") {
			t.Errorf("parseHandshake(%q) = %q, %v", line, contract, valid)
		}
	})
}
