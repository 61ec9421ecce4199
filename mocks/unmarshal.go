package mocks

import (
	"errors"
	"fmt"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"
)

// The plain types have no methods, to decode mappings without recursion.
type (
	plainMatch   Match
	plainLatency Latency
	plainFault   Fault
)

// UnmarshalYAML reads a string, for Contains, or a mapping with exactly one key.
func (m *Match) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		if err := node.Load(&m.Contains); err != nil {
			return err
		}
		return m.check()
	}
	if err := node.Load((*plainMatch)(m), yaml.WithKnownFields()); err != nil {
		return err
	}
	return m.check()
}

// check returns an error unless exactly one of the conditions is given.
func (m *Match) check() error {
	given := 0
	for _, s := range []string{m.Contains, m.Matches, m.Equals} {
		if s != "" {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("a condition on a text is a string or has exactly one of contains, matches and equals, not %d", given)
	}
	return nil
}

// UnmarshalYAML reads a duration, for First, or a mapping.
func (l *Latency) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Load(&l.First)
	}
	return node.Load((*plainLatency)(l), yaml.WithKnownFields())
}

// UnmarshalYAML reads a kind of fault, or a mapping.
func (f *Fault) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		return node.Load(&f.Kind)
	}
	if err := node.Load((*plainFault)(f), yaml.WithKnownFields()); err != nil {
		return err
	}
	if f.Kind == "" {
		return errors.New("a fault needs its kind")
	}
	return nil
}

// JSONSchemaExtend allows the string beside the mapping.
func (Match) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	s.MinProperties, s.MaxProperties = &one, &one
	orString(s, &jsonschema.Schema{Type: "string", MinLength: &one})
}

// JSONSchemaExtend allows the duration beside the mapping.
func (Latency) JSONSchemaExtend(s *jsonschema.Schema) {
	orString(s, &jsonschema.Schema{Type: "string"})
}

// JSONSchemaExtend allows the kind alone beside the mapping, and lists the kinds.
func (Fault) JSONSchemaExtend(s *jsonschema.Schema) {
	kind := &jsonschema.Schema{Type: "string"}
	for _, name := range faultNames() {
		kind.Enum = append(kind.Enum, name)
	}
	if before, ok := s.Properties.Get("kind"); ok {
		described := *kind
		described.Description = before.Description
		s.Properties.Set("kind", &described)
	}
	orString(s, kind)
}

// orString turns the schema of a mapping into that of a string or the mapping.
func orString(s, scalar *jsonschema.Schema) {
	mapping := *s
	mapping.Description = ""
	*s = jsonschema.Schema{
		Description: s.Description,
		OneOf:       []*jsonschema.Schema{scalar, &mapping},
	}
}
