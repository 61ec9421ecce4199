package expect

import (
	"errors"
	"iter"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"
)

// Snapshot names files with what a trial once produced. A trial must produce it again. The names are
// relative to the scenario's folder, and contain ".snap". In a file it is either the name for Text or a
// mapping.
type Snapshot struct {
	// Text is the file with the agent's final text, or with its answers to all turns.
	Text string `yaml:"text,omitempty" json:"text,omitempty" jsonschema:"example=snapshots/refund.snap"`
	// Tools is the file with the tools that the model called, in order, with their arguments and results.
	Tools string `yaml:"tools,omitempty" json:"tools,omitempty" jsonschema:"example=snapshots/refund.tools.snap"`
	// Prompts is the file with the messages that the agent sent to the model.
	Prompts string `yaml:"prompts,omitempty" json:"prompts,omitempty" jsonschema:"example=snapshots/refund.prompts.snap"`
	// Ignore lists regular expressions (RE2). Text that they match is replaced by "{ignored}".
	Ignore []string `yaml:"ignore,omitempty" json:"ignore,omitempty"`

	// Stored has the content of the files that exist, by the names of the keys above, such as "text".
	Stored map[string]string `yaml:"-" json:"stored,omitempty"`
}

// Files returns the keys of the files, such as "text", and their names. A nil snapshot has none.
func (s *Snapshot) Files() iter.Seq2[string, string] {
	return func(yield func(key, file string) bool) {
		if s == nil {
			return
		}
		for _, f := range []struct{ key, file string }{{"text", s.Text}, {"tools", s.Tools}, {"prompts", s.Prompts}} {
			if f.file != "" && !yield(f.key, f.file) {
				return
			}
		}
	}
}

// Missing reports whether a file does not exist.
func (s *Snapshot) Missing() bool {
	for key := range s.Files() {
		if _, there := s.Stored[key]; !there {
			return true
		}
	}
	return false
}

// UnmarshalYAML decodes the name of a file, which sets Text, or a mapping with at least one file.
func (s *Snapshot) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.ScalarNode:
		*s = Snapshot{Text: node.Value}
	case yaml.MappingNode:
		type plain Snapshot
		if err := node.Load((*plain)(s), yaml.WithKnownFields()); err != nil {
			return err
		}
	default:
		return errors.New("found a list, not a snapshot; write the name of a file, or a mapping with text, tools and prompts")
	}
	for range s.Files() {
		return nil
	}
	return errors.New("a snapshot needs the name of a file, such as snapshots/refund.snap, for one of text, tools and prompts")
}

// JSONSchemaExtend also allows the name of a file.
func (Snapshot) JSONSchemaExtend(s *jsonschema.Schema) {
	mapping := *s
	mapping.Description = ""
	for _, key := range []string{"text", "tools", "prompts"} {
		mapping.AnyOf = append(mapping.AnyOf, &jsonschema.Schema{Required: []string{key}})
	}
	*s = jsonschema.Schema{
		Description: s.Description,
		OneOf: []*jsonschema.Schema{
			{Type: "string", MinLength: new(uint64(1)), Examples: []any{"snapshots/refund.snap"}}, &mapping,
		},
	}
}
