package event

import (
	"encoding"
	"encoding/json"
	"math"
	"reflect"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxExact is the largest number up to which every whole number is a float64.
const maxExact = 1 << 53

// field is a field of a payload.
type field struct {
	name      string
	index     int
	omitEmpty bool
}

// plans maps types of payloads to their []field; nil for a type that only encoding/json can convert.
var plans sync.Map

// fieldsOf returns the fields of a struct of strings, booleans, numbers, and lists and the like that may be left out;
// nil for any other type. Events are made and read all the time, and the detour through JSON takes ten times as long.
func fieldsOf(t reflect.Type) []field {
	if known, ok := plans.Load(t); ok {
		return known.([]field)
	}
	fields := planOf(t)
	plans.Store(t, fields)
	return fields
}

func planOf(t reflect.Type) []field {
	if t.Kind() != reflect.Struct || encodesItself(t) {
		return nil
	}
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Tag.Get("json") == "-":
			continue
		case name == "", options != "" && options != "omitempty", !f.IsExported():
			return nil
		case plain(f.Type.Kind()) && !encodesItself(f.Type), options == "omitempty" && nillable(f.Type.Kind()):
		default:
			return nil
		}
		fields = append(fields, field{name, i, options == "omitempty"})
	}
	return fields
}

// plain reports whether values of a kind are strings, booleans or numbers.
func plain(k reflect.Kind) bool {
	return k == reflect.String || k == reflect.Bool || k == reflect.Int || k == reflect.Int64 || k == reflect.Float64
}

// nillable reports whether values of a kind are left out with omitempty if they are nil.
func nillable(k reflect.Kind) bool {
	return k == reflect.Slice || k == reflect.Map || k == reflect.Pointer || k == reflect.Interface
}

// encodesItself reports whether a type has its own form in JSON.
func encodesItself(t reflect.Type) bool {
	p := reflect.PointerTo(t)
	return p.Implements(reflect.TypeFor[json.Marshaler]()) || p.Implements(reflect.TypeFor[encoding.TextMarshaler]()) ||
		p.Implements(reflect.TypeFor[json.Unmarshaler]()) || p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}

// plainAttributes returns what attributes returns, for most payloads; otherwise false.
func plainAttributes(v any) (attrs map[string]any, ok bool) {
	value := reflect.ValueOf(v)
	if !value.IsValid() {
		return nil, false
	}
	fields := fieldsOf(value.Type())
	if fields == nil {
		return nil, false
	}
	attrs = make(map[string]any, len(fields))
	for _, f := range fields {
		part := value.Field(f.index)
		if f.omitEmpty && part.IsZero() {
			continue
		}
		switch part.Kind() {
		case reflect.String:
			if attrs[f.name] = part.String(); !utf8.ValidString(part.String()) {
				return nil, false
			}
		case reflect.Bool:
			attrs[f.name] = part.Bool()
		case reflect.Float64:
			n := part.Float()
			if math.IsNaN(n) || math.Abs(n) > maxExact {
				return nil, false
			}
			if attrs[f.name] = n; n == math.Trunc(n) {
				attrs[f.name] = int(n)
			}
		case reflect.Int, reflect.Int64:
			attrs[f.name] = int(part.Int())
		default:
			return nil, false
		}
	}
	return attrs, true
}

// setPlain sets the fields of the struct that payload points to, as encoding/json does. It returns false, perhaps after
// it has set some fields, if only encoding/json can decide.
func setPlain(payload any, attrs map[string]any) bool {
	value := reflect.ValueOf(payload).Elem()
	fields, set := fieldsOf(value.Type()), 0
	for _, f := range fields {
		attr, ok := attrs[f.name]
		if !ok {
			continue
		}
		if !assign(value.Field(f.index), attr) {
			return false
		}
		set++
	}
	return fields != nil && (set == len(attrs) || !similar(fields, attrs))
}

// similar reports whether a name of an attribute differs from that of a field only in case. To encoding/json the two
// are the same.
func similar(fields []field, attrs map[string]any) bool {
	for name := range attrs {
		for _, f := range fields {
			if name != f.name && strings.EqualFold(name, f.name) {
				return true
			}
		}
	}
	return false
}

// assign sets a field to a value of the same kind.
func assign(part reflect.Value, attr any) bool {
	switch v := attr.(type) {
	case string:
		if part.Kind() == reflect.String && utf8.ValidString(v) {
			part.SetString(v)
			return true
		}
	case bool:
		if part.Kind() == reflect.Bool {
			part.SetBool(v)
			return true
		}
	case int:
		return assignNumber(part, float64(v))
	case float64:
		return assignNumber(part, v)
	}
	return false
}

func assignNumber(part reflect.Value, n float64) bool {
	switch {
	case math.IsNaN(n), math.Abs(n) > maxExact:
	case part.Kind() == reflect.Float64:
		part.SetFloat(n)
		return true
	case part.CanInt() && n == math.Trunc(n):
		part.SetInt(int64(n))
		return true
	}
	return false
}
