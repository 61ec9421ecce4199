package event

import (
	"encoding/json"
	"fmt"
)

// Attrs returns the fields of a struct, by their JSON names, as the attributes of an
// event. An agent declares one struct for each event that it emits; Payload reads it back.
// It panics if v cannot be encoded as a JSON object, which is a mistake in its type.
func Attrs(v any) map[string]any {
	var attrs map[string]any
	data, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(data, &attrs)
	}
	if err != nil {
		panic(fmt.Sprintf("event: the attributes %T cannot be encoded: %v", v, err))
	}
	return attrs
}

// Payload returns the attributes of an event as the struct that they were made of. Fields
// that the event lacks are zero. The error is that of an attribute of another type, as a
// recording that was edited may have.
func Payload[T any](e Event) (T, error) {
	var payload T
	data, err := json.Marshal(e.Attrs)
	if err == nil {
		err = json.Unmarshal(data, &payload)
	}
	if err != nil {
		return payload, fmt.Errorf("read the attributes of the event %s %q: %w", e.Kind, e.Name, err)
	}
	return payload, nil
}
