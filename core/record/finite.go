package record

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
)

// nameNonFinite adds to the encoder's complaint about a NaN or an infinity
// which field of v it stands in. Such a value is a fault of who made v: what
// was not measured is nil.
func nameNonFinite(err error, v any) error {
	var unsupported *json.UnsupportedValueError
	if !errors.As(err, &unsupported) {
		return err
	}
	if path, found := nonFinite(reflect.ValueOf(v), ""); found {
		return fmt.Errorf("%s cannot be written: %w", strings.TrimPrefix(path, "."), err)
	}
	return err
}

// nonFinite finds the first NaN or infinity in v, whose own path is given, and
// returns its path in JSON names.
func nonFinite(v reflect.Value, path string) (string, bool) {
	switch v.Kind() {
	case reflect.Float64:
		return path, math.IsNaN(v.Float()) || math.IsInf(v.Float(), 0)
	case reflect.Pointer:
		if !v.IsNil() {
			return nonFinite(v.Elem(), path)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			inner, field := path, v.Type().Field(i)
			if !field.Anonymous { // else its fields stand among ours
				name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
				inner += "." + name
			}
			if at, found := nonFinite(v.Field(i), inner); found {
				return at, true
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if at, found := nonFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); found {
				return at, true
			}
		}
	}
	return "", false
}
