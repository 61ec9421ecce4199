package event

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
)

// Payload is a struct whose fields are the attributes of an event, by their JSON names. The
// package that emits the event declares it, and readers of the event use the same struct.
type Payload interface {
	// Event returns the kind and the name of the event.
	Event() (Kind, string)
}

// New returns the event of a payload, in iteration n (0 outside an iteration) and with its
// reason. It panics if the payload's type cannot be encoded as a JSON object.
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
	if plain, ok := plainAttributes(v); ok {
		return plain, nil
	}
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

// Read returns the payload of an event that New made from a T. It returns false for any other
// event, and for attributes of other types, as in an edited recording. Fields that the event
// lacks are zero. If the zero T has no name, because the name
// depends on the payload, Read accepts events of its kind with any name.
func Read[T Payload](e *Event) (payload T, ok bool) {
	if kind, name := payload.Event(); e.Kind != kind || name != "" && e.Name != name {
		return payload, false
	}
	return payloadOf[T](e.Attrs)
}

// payloadOf allocates, which Read does not for other events.
func payloadOf[T Payload](attrs map[string]any) (payload T, ok bool) {
	if setPlain(&payload, attrs) {
		return payload, true
	}
	data, err := json.Marshal(attrs)
	if err == nil {
		payload = *new(T)
		err = json.Unmarshal(data, &payload)
	}
	return payload, err == nil
}
