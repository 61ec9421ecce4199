package redact

import (
	"encoding/json"
	"reflect"
)

// Copy returns a deep copy of v in which text replaced all strings: those in exported fields, in elements, and in
// keys and values of maps, also within JSON. text is usually Redactor.Text. Errors are not copied.
func Copy[T any](v T, text func(string) string) T {
	replaceStrings(reflect.ValueOf(&v).Elem(), text)
	return v
}

// replaceStrings replaces the strings in v, and what v refers to by copies.
func replaceStrings(v reflect.Value, text func(string) string) {
	// An embedded struct that cannot be set has fields that can be.
	if v.IsZero() || !v.CanSet() && v.Kind() != reflect.Struct {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text(v.String()))
	case reflect.Struct:
		for i := range v.NumField() {
			replaceStrings(v.Field(i), text)
		}
	case reflect.Array:
		for i := range v.Len() {
			replaceStrings(v.Index(i), text)
		}
	case reflect.Slice:
		if raw, ok := v.Interface().(json.RawMessage); ok {
			v.SetBytes(inRawJSON(raw, text))
			return
		}
		list := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			list.Index(i).Set(copied(v.Index(i), text))
		}
		v.Set(list)
	case reflect.Map:
		all := reflect.MakeMapWithSize(v.Type(), v.Len())
		for key, value := range v.Seq2() {
			all.SetMapIndex(copied(key, text), copied(value, text))
		}
		v.Set(all)
	case reflect.Pointer:
		v.Set(copied(v.Elem(), text).Addr())
	case reflect.Interface:
		if v.Type().NumMethod() == 0 { // the copy of an error would be another error
			v.Set(copied(v.Elem(), text))
		}
	default:
	}
}

// copied returns an addressable copy of v with its strings replaced.
func copied(v reflect.Value, text func(string) string) reflect.Value {
	c := reflect.New(v.Type()).Elem()
	c.Set(v)
	replaceStrings(c, text)
	return c
}

// inRawJSON replaces the strings in JSON. It does not change JSON in which text replaces nothing.
func inRawJSON(raw json.RawMessage, text func(string) string) json.RawMessage {
	var value any
	if json.Unmarshal(raw, &value) != nil { // also empty
		return json.RawMessage(text(string(raw)))
	}
	replaced := false
	value = Copy(value, func(s string) string {
		t := text(s)
		replaced = replaced || t != s
		return t
	})
	if !replaced {
		return raw
	}
	after, err := json.Marshal(value)
	if err != nil { // impossible: value is decoded JSON
		return nil
	}
	return after
}
