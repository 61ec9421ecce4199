package incident

import (
	"encoding/json"
	"maps"
	"slices"
)

// maxNesting limits the nesting of attributes.
const maxNesting = 20

// attributes returns a list of OTLP's KeyValue as values by key.
func attributes(v *value) map[string]*value {
	all := map[string]*value{}
	for _, item := range v.list() {
		if inner := plain(item.at("value"), 0); inner != nil {
			all[item.at("key").text()] = inner
		}
	}
	return all
}

// plain returns an AnyValue of OTLP as the JSON value that it stands for; nil if it has none or is
// nested too deeply.
func plain(v *value, depth int) *value {
	if depth > maxNesting {
		return nil
	}
	switch {
	case v.at("arrayValue") != nil:
		items := []json.RawMessage{}
		for _, item := range v.at("arrayValue", "values").list() {
			if inner := plain(item, depth+1); inner != nil {
				items = append(items, inner.raw)
			}
		}
		raw, _ := json.Marshal(items) // valid JSON is encoded as it is
		return &value{raw: raw}
	case v.at("kvlistValue") != nil:
		members := map[string]*value{}
		for _, item := range v.at("kvlistValue", "values").list() {
			if inner := plain(item.at("value"), depth+1); inner != nil {
				members[item.at("key").text()] = inner
			}
		}
		return objectOf(members)
	}
	return v.first("stringValue", "intValue", "doubleValue", "boolValue", "bytesValue")
}

// objectOf returns an object with members.
func objectOf(members map[string]*value) *value {
	raw := map[string]json.RawMessage{}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		raw[key] = members[key].raw
	}
	data, _ := json.Marshal(raw) // valid JSON is encoded as it is
	return &value{raw: data}
}
