package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Payload is a struct with the attributes of one event, by their JSON names. The package
// that emits the event declares it, and what reads the event back uses the same struct.
type Payload interface {
	// Event returns the kind and the name of the event.
	Event() (Kind, string)
}

// New returns the event of a payload. N is the iteration, or 0, and detail says why, for a
// person. It panics if the payload cannot be encoded as a JSON object, which is a mistake in
// its type.
func New(n int, detail string, p Payload) Event {
	kind, name := p.Event()
	attrs, err := attributes(p)
	if err != nil {
		panic(fmt.Sprintf("event: the attributes %T cannot be encoded: %v", p, err))
	}
	return Event{Kind: kind, Name: name, N: n, Detail: detail, Attrs: attrs}
}

// attributes returns the fields of a struct by their JSON names. Whole numbers are ints.
func attributes(v any) (attrs map[string]any, err error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&attrs); err != nil {
		return nil, err
	}
	for name, value := range attrs {
		number, ok := value.(json.Number)
		if !ok {
			continue
		}
		if whole, err := strconv.Atoi(number.String()); err == nil {
			attrs[name] = whole
		} else if attrs[name], err = number.Float64(); err != nil {
			return nil, err
		}
	}
	return attrs, nil
}

// Read returns the payload of an event that New made of a T. It returns false for any other
// event, and for one whose attributes have other types, as a recording that was edited may
// have. Fields that the event lacks are zero. If the zero T has no name, as where the name
// depends on the payload, events of its kind with any name are read.
func Read[T Payload](e *Event) (payload T, ok bool) {
	if kind, name := payload.Event(); e.Kind != kind || name != "" && e.Name != name {
		return payload, false
	}
	data, err := json.Marshal(e.Attrs)
	if err == nil {
		err = json.Unmarshal(data, &payload)
	}
	return payload, err == nil
}
