package yamlsrc

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// field is a key of a mapping that is decoded into a struct.
type field struct {
	key      string
	typ      reflect.Type
	required bool
	bounds   *bounds // nil if unrestricted
}

// typeFacts are the properties of a type that reflection finds slowly.
type typeFacts struct {
	text   bool // it decodes text
	itself bool // it decodes YAML
	fields []field
}

// knownTypes maps types to their *typeFacts.
var knownTypes sync.Map

// factsOf returns the properties of a type.
func factsOf(t reflect.Type) *typeFacts {
	if known, ok := knownTypes.Load(t); ok {
		return known.(*typeFacts)
	}
	p := reflect.PointerTo(t)
	facts := &typeFacts{
		text: p.Implements(reflect.TypeFor[encoding.TextUnmarshaler]()),
		itself: p.Implements(reflect.TypeFor[yaml.Unmarshaler]()) ||
			p.Implements(reflect.TypeFor[interface{ UnmarshalYAML(func(any) error) error }]()),
	}
	if t.Kind() == reflect.Struct {
		facts.fields = listFields(t)
	}
	knownTypes.Store(t, facts)
	return facts
}

func isText(t reflect.Type) bool        { return factsOf(t).text }
func decodesItself(t reflect.Type) bool { return factsOf(t).itself }

// fieldsOf lists the keys of a struct in the order of its fields, including the keys of
// inlined structs.
func fieldsOf(t reflect.Type) []field { return factsOf(t).fields }

func listFields(t reflect.Type) []field {
	var fields []field
	for f := range t.Fields() {
		name, options, _ := strings.Cut(f.Tag.Get("yaml"), ",")
		flags := strings.Split(options, ",")
		switch {
		case name == "-" || !f.IsExported():
			continue
		case slices.Contains(flags, "inline"):
			fields = append(fields, fieldsOf(f.Type)...)
			continue
		case name == "":
			name = strings.ToLower(f.Name)
		}
		fields = append(fields, field{name, f.Type, !slices.Contains(flags, "omitempty"), boundsOf(f.Tag.Get("jsonschema"))})
	}
	return fields
}

func keysOf(fields []field) []string {
	keys := make([]string, len(fields))
	for i, f := range fields {
		keys[i] = f.key
	}
	return keys
}

// bounds are the restrictions of a scalar in its jsonschema tag.
type bounds struct {
	enum             []string
	minimum, maximum *float64
}

// boundsOf returns the bounds in a jsonschema tag, or nil.
func boundsOf(tag string) *bounds {
	var b bounds
	for rule := range strings.SplitSeq(tag, ",") {
		name, v, _ := strings.Cut(rule, "=")
		number, err := strconv.ParseFloat(v, 64)
		switch {
		case name == "enum":
			b.enum = append(b.enum, v)
		case name == "minimum" && err == nil:
			b.minimum = &number
		case name == "maximum" && err == nil:
			b.maximum = &number
		}
	}
	if b.enum == nil && b.minimum == nil && b.maximum == nil {
		return nil
	}
	return &b
}

// violation describes the value expected instead of the scalar n; empty if n is within the
// bounds.
func (b *bounds) violation(n *yaml.Node) (expected, nearest string) {
	if b.enum != nil && !slices.Contains(b.enum, n.Value) {
		return "one of " + strings.Join(b.enum, ", "), suggest.Nearest(n.Value, b.enum)
	}
	v, ok := number(n)
	switch {
	case ok && b.minimum != nil && v < *b.minimum:
		return "at least " + strconv.FormatFloat(*b.minimum, 'f', -1, 64), ""
	case ok && b.maximum != nil && v > *b.maximum:
		return "at most " + strconv.FormatFloat(*b.maximum, 'f', -1, 64), ""
	}
	return "", ""
}

// number returns the value of a scalar that is a number.
func number(n *yaml.Node) (v float64, ok bool) {
	if tag := n.ShortTag(); tag != "!!int" && tag != "!!float" {
		return 0, false
	}
	err := n.Load(&v)
	return v, err == nil
}

// describeType describes how a t is written; empty if there is no simple name for it.
func describeType(t reflect.Type) string {
	switch {
	case isText(t):
		return "text"
	case decodesItself(t):
		return ""
	}
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return "a whole number"
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "a whole number of at least 0"
	case reflect.Float32, reflect.Float64:
		return "a number"
	case reflect.String:
		return "text"
	case reflect.Slice:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "a mapping"
	default:
		return ""
	}
}

func describeNode(n *yaml.Node) string {
	switch {
	case n == nil || isNull(n):
		return "nothing"
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!bool":
		return clip(n.Value)
	}
	return fmt.Sprintf("the text %q", clip(n.Value))
}

// clip shortens a value, because a hostile one could fill the screen.
func clip(s string) string { return sanitize.Cut(s, 60) }
