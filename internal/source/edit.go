package source

import (
	"fmt"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Change is one change to a document.
type Change struct {
	// Path is where the value stands, in the form of Document.At.
	Path string
	// Key is a new name for the value's key; empty leaves it.
	Key string
	// Value takes the place of the value; nil removes it and its key.
	Value any
}

// Edit makes changes to a YAML document, one after the other, and keeps order,
// comments and the style of all else, but no blank lines. What is not there is not changed; only a
// single key with a value is then added to the end of the document.
func Edit(data []byte, changes []Change) ([]byte, error) {
	doc := &Document{}
	whole, problem := load(doc, data)
	if problem != nil {
		return nil, problem
	}
	for _, c := range changes {
		if err := c.apply(whole.Content[0]); err != nil {
			return nil, fmt.Errorf("change %s: %w", c.Path, err)
		}
	}
	return yaml.Dump(whole, yaml.WithIndent(2), yaml.WithCompactSeqIndent(false), yaml.WithLineWidth(-1))
}

func (c *Change) apply(root *yaml.Node) error {
	var value *yaml.Node
	if c.Value != nil {
		value = &yaml.Node{}
		if err := value.Dump(c.Value); err != nil {
			return err
		}
	}
	parent, last := root, ""
	for segment := range segments(c.Path) {
		if last != "" {
			if _, parent = child(parent, last); parent == nil {
				return nil
			}
			parent = target(parent)
		}
		last = segment
	}
	if i := keyOf(parent, last); i >= 0 {
		c.replace(parent, i, value)
	} else if value != nil && last != "" && parent == root && !strings.ContainsAny(c.Path, ".[") {
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: c.name(last)}
		root.Content = append(root.Content, key, value)
	}
	return nil
}

// name is what the key of the value is called afterwards.
func (c *Change) name(before string) string {
	if c.Key != "" {
		return c.Key
	}
	return before
}

// keyOf is the index of a key of a mapping; -1 if it has none.
func keyOf(n *yaml.Node, name string) int {
	if n.Kind != yaml.MappingNode {
		return -1
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if k := n.Content[i]; k.Value == name && !isMerge(k) {
			return i
		}
	}
	return -1
}

// replace changes the key at index i and its value, or removes both.
func (c *Change) replace(n *yaml.Node, i int, value *yaml.Node) {
	if value == nil {
		n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
		return
	}
	n.Content[i].Value = c.name(n.Content[i].Value)
	value.LineComment = n.Content[i+1].LineComment
	n.Content[i+1] = value
}
