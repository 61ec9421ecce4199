package yamlsrc

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// checker validates a document against the Go type that it is decoded into. The YAML
// library could report unknown keys itself, but without their position in the document,
// the valid keys, and the other errors of the value.
type checker struct {
	doc      *Document
	found    Diagnostics
	reported map[mark]bool
	values   map[mark]value // by position, to explain the library's errors; nil unless there are any
	inAlias  int            // aliases around the current value
	aliased  int            // values visited inside aliases
	exploded bool           // aliased is above the limit
}

type value struct {
	node *yaml.Node
	typ  reflect.Type
	path string
}

func (c *checker) report(n *yaml.Node, path, message, expected, nearest string) {
	d := c.doc.diagnostic(at(n), path, message)
	d.Expected, d.Nearest = expected, nearest
	c.reported[at(n)] = true
	c.found = append(c.found, d)
}

// wrong reports that n cannot be decoded into a t.
func (c *checker) wrong(n *yaml.Node, t reflect.Type, path string) {
	if isNull(n) {
		c.report(n, path, "the value is missing", describeType(t), "")
		return
	}
	c.report(n, path, "found "+describeNode(n), describeType(t), "")
}

// check validates the value n, which is decoded into a t. rules are the rules of its
// struct field, or nil; the rules of a list apply to its items.
func (c *checker) check(n *yaml.Node, t reflect.Type, rules *bounds, path string) {
	if n.Kind == yaml.AliasNode {
		c.inAlias++
		defer func() { c.inAlias-- }()
		n = target(n)
	}
	if !c.affordable(n, path) {
		return
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if _, known := c.values[at(n)]; !known && c.values != nil {
		c.values[at(n)] = value{n, t, path}
	}
	switch short := decodesItself(t); {
	case t == reflect.TypeFor[yaml.Node](), short && t.Kind() == reflect.Struct && len(fieldsOf(t)) == 0:
		// Document.Decode validates it when its type is known.
	case t.Kind() == reflect.Interface:
		c.checkAny(n, path)
	case isNull(n):
		c.wrong(n, t, path)
	case short && n.Kind != yaml.MappingNode:
		// Its own method validates the short form.
	case t.Kind() == reflect.Struct && !isText(t):
		c.checkStruct(n, t, path)
	case t.Kind() == reflect.Map:
		c.checkMap(n, t, path)
	case t.Kind() == reflect.Slice:
		c.checkList(n, t, rules, path)
	default:
		c.checkScalar(n, t, rules, path)
	}
}

// affordable counts values inside aliases and reports whether they are within the limit: a few
// aliases of aliases can expand to billions of values.
func (c *checker) affordable(n *yaml.Node, path string) bool {
	if c.inAlias > 0 {
		c.aliased++
	}
	if c.aliased > maxAliased && !c.exploded {
		c.exploded = true
		c.report(n, path, fmt.Sprintf("aliases expand to more than %d values", maxAliased), "fewer aliases of aliases", "")
	}
	return !c.exploded
}

func (c *checker) checkStruct(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		c.wrong(n, t, path)
		return
	}
	fields := fieldsOf(t)
	given := c.checkKeys(n, path, func(key, v *yaml.Node) {
		i := slices.IndexFunc(fields, func(f field) bool { return f.key == key.Value })
		if i < 0 {
			keys := keysOf(fields)
			c.report(key, Join(path, key.Value), fmt.Sprintf("unknown key %q", clip(key.Value)),
				"one of "+strings.Join(keys, ", "), suggest.Nearest(key.Value, keys))
			return
		}
		c.check(v, fields[i].typ, fields[i].bounds, Join(path, key.Value))
	})
	for _, f := range fields {
		if _, ok := given[f.key]; f.required && !ok {
			c.report(n, Join(path, f.key), fmt.Sprintf("the key %q is missing", f.key), "", "")
		}
	}
}

func (c *checker) checkMap(n *yaml.Node, t reflect.Type, path string) {
	if n.Kind != yaml.MappingNode {
		c.wrong(n, t, path)
		return
	}
	c.checkKeys(n, path, func(key, v *yaml.Node) { c.check(v, t.Elem(), nil, Join(path, key.Value)) })
}

// checkKeys calls visit for each pair of a mapping and of the mappings merged into it,
// reports keys that are duplicates or not text, and returns the keys with their lines; the line of a merged
// key is 0.
func (c *checker) checkKeys(n *yaml.Node, path string, visit func(key, v *yaml.Node)) map[string]int {
	given := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, v := target(n.Content[i]), n.Content[i+1]
		switch line := given[key.Value]; {
		case isMerge(key):
			c.checkMerge(v, path, visit, given)
			continue
		case key.Kind != yaml.ScalarNode || isNull(key):
			c.report(key, path, "found "+describeNode(key)+" as a key", "text", "")
			continue
		case line > 0:
			c.report(key, Join(path, key.Value), fmt.Sprintf("the key %q is given twice; first on line %d", clip(key.Value), line), "", "")
			continue
		}
		given[key.Value] = key.Line
		visit(key, v)
	}
	return given
}

func (c *checker) checkMerge(v *yaml.Node, path string, visit func(key, v *yaml.Node), given map[string]int) {
	c.inAlias++
	defer func() { c.inAlias-- }()
	sources := mergeSources(v)
	if len(sources) == 0 {
		c.report(v, path, "found "+describeNode(target(v))+" to merge", "a mapping or a list of mappings", "")
	}
	for _, source := range sources {
		if !c.affordable(source, path) {
			return
		}
		for key := range c.checkKeys(source, path, visit) {
			if _, own := given[key]; !own {
				given[key] = 0
			}
		}
	}
}

func (c *checker) checkList(n *yaml.Node, t reflect.Type, rules *bounds, path string) {
	if n.Kind != yaml.SequenceNode {
		c.wrong(n, t, path)
		return
	}
	for i, item := range n.Content {
		c.check(item, t.Elem(), rules, index(path, i))
	}
}

// checkAny validates a value of any type, which must be representable in JSON.
func (c *checker) checkAny(n *yaml.Node, path string) {
	anything := reflect.TypeFor[any]()
	switch n.Kind {
	case yaml.MappingNode:
		c.checkKeys(n, path, func(key, v *yaml.Node) {
			// The library decodes a mapping with a key that is not text into a map[any]any.
			key.Tag = "!!str"
			c.check(v, anything, nil, Join(path, key.Value))
		})
	case yaml.SequenceNode:
		for i, item := range n.Content {
			c.check(item, anything, nil, index(path, i))
		}
	case yaml.ScalarNode:
		switch n.ShortTag() {
		case "!!timestamp":
			n.Tag = "!!str" // decode a date as its text
		case "!!float":
			c.checkScalar(n, reflect.TypeFor[float64](), nil, path)
		}
	default: // aliases were resolved above
	}
}

func (c *checker) checkScalar(n *yaml.Node, t reflect.Type, rules *bounds, path string) {
	if n.Kind != yaml.ScalarNode || !fits(n, t) {
		c.wrong(n, t, path)
		return
	}
	if rules == nil {
		return
	}
	if expected, nearest := rules.violation(n); expected != "" {
		c.report(n, path, "found "+describeNode(n), expected, nearest)
	}
}

// fits reports whether a scalar can be decoded into a t. Text accepts every scalar, since
// `text: 42` means the text; a type that decodes text validates it itself.
func fits(n *yaml.Node, t reflect.Type) bool {
	tag := n.ShortTag()
	if isText(t) {
		return true
	}
	switch t.Kind() {
	case reflect.Bool:
		return tag == "!!bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return tag == "!!int" // the library checks sign and range
	case reflect.Float32, reflect.Float64:
		f, ok := number(n)
		return ok && !math.IsInf(f, 0) && !math.IsNaN(f)
	default:
		return true
	}
}

func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }
