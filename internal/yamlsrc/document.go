package yamlsrc

import (
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Document is a parsed file with the position of each value.
type Document struct {
	file  string
	lines []string
	root  *yaml.Node // nil if the file could not be parsed
}

// mark is a position in the file; both fields count from 1.
type mark struct{ line, column int }

func at(n *yaml.Node) mark { return mark{n.Line, n.Column} }

// Scalar returns the text of the value under a key of the mapping in data, to find a file
// by this value before it is decoded. The text is empty if the key does not have a single value.
// The error reports data that is not valid YAML.
func Scalar(data []byte, key string) (string, error) {
	doc, problem := Parse("", data)
	if problem != nil {
		return "", problem
	}
	if _, value := child(doc.root, key); value != nil && target(value).Kind == yaml.ScalarNode {
		return target(value).Value, nil
	}
	return "", nil
}

// Has reports whether the document has a value at path.
func (doc *Document) Has(path string) bool {
	_, _, found := doc.find(path)
	return found
}

// Lines returns the lines, by path, of the values at the given paths and of the values
// inside them, down to a depth; depth 1 includes only their members. The line of a mapping's
// member is the line of its key. Lines returns at most limit lines, the first ones of each path.
func (doc *Document) Lines(limit, depth int, paths ...string) map[string]int {
	lines := map[string]int{}
	add := func(path string, line int) {
		if len(lines) < limit {
			lines[path] = line
		}
	}
	var walk func(n *yaml.Node, path string, depth int)
	inside := func(n *yaml.Node, path string, line, depth int) {
		add(path, line)
		if n.Kind != yaml.AliasNode { // its value is elsewhere in the file
			walk(n, path, depth)
		}
	}
	walk = func(n *yaml.Node, path string, depth int) {
		for i := 0; depth > 0 && i < len(n.Content); i++ {
			switch {
			case n.Kind == yaml.SequenceNode:
				inside(n.Content[i], index(path, i), n.Content[i].Line, depth-1)
			case n.Kind == yaml.MappingNode && i%2 == 0 && !isMerge(n.Content[i]):
				inside(n.Content[i+1], Join(path, n.Content[i].Value), n.Content[i].Line, depth-1)
			}
		}
	}
	for _, path := range paths {
		if n, place, found := doc.find(path); found {
			add(path, place.line)
			walk(n, path, depth)
		}
	}
	return lines
}

// At returns a diagnostic for the value at path, such as "rules[2].when.user.matches",
// "expect.that[0]" or `metadata["a.b"]`. The position of a mapping or list is that of its
// key. If there is no such value, the position is that of the innermost existing value on the
// path. Line and column are 0 if the file could not be parsed.
func (doc *Document) At(path, message, nearest string) Diagnostic {
	_, place, _ := doc.find(path)
	d := doc.diagnostic(place, path, message)
	d.Nearest = nearest
	return d
}

func (doc *Document) diagnostic(m mark, path, message string) Diagnostic {
	d := Diagnostic{File: doc.file, Line: m.line, Column: m.column, Path: path, Message: message}
	if 0 < m.line && m.line <= len(doc.lines) {
		d.excerpt = doc.lines[m.line-1]
	}
	return d
}

// find returns the value at path and its position, or the innermost existing value on the path
// and its position.
func (doc *Document) find(path string) (n *yaml.Node, place mark, found bool) {
	if doc.root == nil {
		return nil, mark{}, false
	}
	n, place = doc.root, at(doc.root)
	for segment := range segments(path) {
		key, value := child(n, segment)
		if value == nil {
			return n, place, false
		}
		place = at(value)
		if key != nil && target(value).Kind != yaml.ScalarNode {
			place = at(key)
		}
		n = target(value)
	}
	return n, place, true
}

// target returns the value of an alias, and any other node unchanged.
func target(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode && n.Alias != nil {
		return n.Alias
	}
	return n
}

// child returns the value of n under a key or an index, and its key if it has
// one. Keys of n take precedence over keys of merged mappings.
func child(n *yaml.Node, segment string) (key, value *yaml.Node) {
	switch n.Kind {
	case yaml.SequenceNode:
		if i, err := strconv.Atoi(segment); err == nil && 0 <= i && i < len(n.Content) {
			return nil, n.Content[i]
		}
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			if k := n.Content[i]; k.Value == segment && !isMerge(k) {
				return k, n.Content[i+1]
			}
		}
		return mergedChild(n, segment)
	default: // a scalar has no members
	}
	return nil, nil
}

// mergedChild searches merged mappings one level deep: a value from a merge of a merge gets the
// position of the outer mapping. This also prevents an endless loop if a mapping merges itself.
func mergedChild(n *yaml.Node, segment string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if !isMerge(n.Content[i]) {
			continue
		}
		for _, source := range mergeSources(n.Content[i+1]) {
			for j := 0; j+1 < len(source.Content); j += 2 {
				if source.Content[j].Value == segment {
					return source.Content[j], source.Content[j+1]
				}
			}
		}
	}
	return nil, nil
}

func isMerge(key *yaml.Node) bool { return key.ShortTag() == "!!merge" }

// mergeSources returns the mappings that the value of a merge key refers to.
func mergeSources(n *yaml.Node) []*yaml.Node {
	n = target(n)
	switch n.Kind {
	case yaml.MappingNode:
		return []*yaml.Node{n}
	case yaml.SequenceNode:
		var sources []*yaml.Node
		for _, item := range n.Content {
			if item = target(item); item.Kind == yaml.MappingNode {
				sources = append(sources, item)
			}
		}
		return sources
	default:
		return nil
	}
}

// segments splits a path: keys after dots, indices and quoted keys in brackets.
// A malformed path ends at the first error.
func segments(path string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for path != "" {
			var segment string
			switch {
			case path[0] == '.':
				path = path[1:]
				continue
			case strings.HasPrefix(path, `["`):
				quoted, err := strconv.QuotedPrefix(path[1:])
				if err != nil {
					return
				}
				segment, _ = strconv.Unquote(quoted)
				path = strings.TrimPrefix(path[1+len(quoted):], "]")
			case path[0] == '[':
				segment, path, _ = strings.Cut(path[1:], "]")
			default:
				end := strings.IndexAny(path, ".[")
				if end < 0 {
					end = len(path)
				}
				segment, path = path[:end], path[end:]
			}
			if !yield(segment) {
				return
			}
		}
	}
}

// Join returns the path of the value under a key of the mapping at path.
func Join(path, key string) string {
	switch {
	case key == "" || strings.ContainsAny(key, ".[]\""):
		return path + "[" + strconv.Quote(key) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }
