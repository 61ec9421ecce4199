package yamlsrc

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"
)

// Change is one change to a document.
type Change struct {
	// Path is the path of the value, as for Document.At.
	Path string
	// Key is a new name for the value's key; empty keeps the name.
	Key string
	// Value replaces the value; nil removes it and its key.
	Value any
	// Make adds the key and the mappings around it if they are missing.
	Make bool
}

// Edit applies changes to a YAML document in order. It keeps the order, the
// comments and the style of everything else, but not blank lines. A change without Make
// skips a missing value, unless its path is a single key, which is added at the end of the
// document. With Make, every alias is first replaced by a copy of its value, so that only
// one place changes.
func Edit(data []byte, changes []Change) ([]byte, error) {
	doc := &Document{}
	whole, problem := load(doc, data)
	if problem != nil {
		return nil, problem
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return c.Make }) {
		if _, err := expand(whole, 0); err != nil {
			return nil, err
		}
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
	if c.Make && value != nil {
		return c.make(root, value)
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
		root.Content = append(root.Content, keyNode(c.name(last)), value)
	}
	return nil
}

// make sets the value at its path and adds the missing mappings around it.
func (c *Change) make(root, value *yaml.Node) error {
	place := root
	for segment := range segments(c.Path) {
		var err error
		if place, err = inner(place, segment); err != nil {
			return err
		}
	}
	value.LineComment = place.LineComment
	*place = *value
	return nil
}

// inner returns the value of a mapping or list at a segment of a path. If a mapping does not have
// the key, inner adds it with an empty mapping.
func inner(n *yaml.Node, segment string) (*yaml.Node, error) {
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" {
		*n = yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	}
	if _, value := child(n, segment); value != nil && keyOf(n, segment) < 0 && n.Kind == yaml.MappingNode {
		// The value is merged into the mapping: give the mapping its own copy.
		n.Content = append(n.Content, keyNode(segment), clone(value))
		return n.Content[len(n.Content)-1], nil
	} else if value != nil {
		return value, nil
	}
	if n.Kind != yaml.MappingNode {
		return nil, fmt.Errorf("%s has no %q", describeNode(n), segment)
	}
	value := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	n.Content = append(n.Content, keyNode(segment), value)
	return value, nil
}

func keyNode(name string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}
}

// clone returns a deep copy of a node.
func clone(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = make([]*yaml.Node, len(n.Content))
	for i, inside := range n.Content {
		c.Content[i] = clone(inside)
	}
	return &c
}

// expand replaces aliases by copies of their values, and removes the anchors. It returns
// the number of copied values, and fails if it exceeds maxAliased.
func expand(n *yaml.Node, made int) (int, error) {
	for n.Kind == yaml.AliasNode {
		made += count(target(n))
		if made > maxAliased {
			return made, fmt.Errorf("aliases expand to more than %d values", maxAliased)
		}
		*n = *clone(target(n))
	}
	n.Anchor = ""
	for _, inside := range n.Content {
		var err error
		if made, err = expand(inside, made); err != nil {
			return made, err
		}
	}
	return made, nil
}

// count returns the number of nodes in n, including n.
func count(n *yaml.Node) int {
	sum := 1
	for _, inside := range n.Content {
		sum += count(inside)
	}
	return sum
}

// name returns the name of the value's key after the change.
func (c *Change) name(before string) string {
	if c.Key != "" {
		return c.Key
	}
	return before
}

// keyOf returns the index of a key of a mapping, or -1.
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
