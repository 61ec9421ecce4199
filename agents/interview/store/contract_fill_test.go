package store_test

import (
	"fmt"
	"reflect"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// filled returns a value without zero fields, which reveals a field that a store
// loses. Equal n give equal values.
func filled[T any](n int) T {
	var v T
	f := filler{n: n}
	f.fill(reflect.ValueOf(&v).Elem())
	return v
}

type filler struct{ n int }

func (f *filler) fill(v reflect.Value) {
	f.n++
	switch p := v.Addr().Interface().(type) {
	case *time.Time:
		*p = start.Add(time.Duration(f.n) * 1_000_000_007)
		return
	case *session.Step:
		steps := session.Steps()
		*p = steps[f.n%len(steps)]
		return
	case *quantity.Money:
		*p = quantity.Money{Amount: float64(f.n) / 7, Currency: quantity.USD}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f.fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem())
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		f.fill(v.Index(0))
		f.fill(v.Index(1))
	case reflect.String:
		v.SetString(fmt.Sprintf("text %d", f.n))
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(f.n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		panic(fmt.Sprintf("no way to fill a %s; teach the filler", v.Type()))
	}
}

// start is when the first session of a spec is created.
var start = time.Date(2026, 3, 1, 9, 30, 0, 123_456_789, time.UTC)
