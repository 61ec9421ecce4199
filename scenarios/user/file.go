package user

import (
	"fmt"
	"strings"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"
)

// UnmarshalYAML reads the value alone, or a mapping.
func (f *Fact) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind == yaml.ScalarNode {
		// Numbers and dates are facts as they are spelled.
		f.Value = node.Value
		return nil
	}
	type plain Fact
	return node.Load((*plain)(f), yaml.WithKnownFields())
}

// JSONSchemaExtend allows the value beside the mapping.
func (Fact) JSONSchemaExtend(s *jsonschema.Schema) {
	mapping := *s
	mapping.Description = ""
	*s = jsonschema.Schema{Description: s.Description, OneOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}, &mapping}}
}

// Step is a step of a conversation. In a file it is either the name of the step or a mapping with
// the name as its only key.
type Step struct {
	// User sends this text; without one the simulated user writes the message.
	User *string `yaml:"user,omitempty" json:"user,omitempty"`
	// Agent is the agent's answer to the user's message before it. It is always awaited and may be omitted.
	Agent *string `yaml:"agent,omitempty" json:"agent,omitempty"`
	// Proceed goes on between the user and the agent until the user leaves, for this number of turns at most.
	Proceed *int `yaml:"proceed,omitempty" json:"proceed,omitempty" jsonschema:"minimum=1"`
	// Check is an expression as under expect.that, over the facts of the conversation so far.
	Check string `yaml:"check,omitempty" json:"check,omitempty"`
	// Succeed ends the conversation, and open goals are not failures. The text is the reason.
	Succeed *string `yaml:"succeed,omitempty" json:"succeed,omitempty"`
	// Fail ends the conversation, and the trial fails. The text is the reason.
	Fail *string `yaml:"fail,omitempty" json:"fail,omitempty"`
}

// steps are the names of steps that need no value.
const stepNames = "user, agent, proceed, succeed, fail"

// UnmarshalYAML reads the name of a step, or a mapping with one key.
func (s *Step) UnmarshalYAML(node *yaml.Node) error {
	if node.Kind != yaml.ScalarNode {
		type plain Step
		if err := node.Load((*plain)(s), yaml.WithKnownFields()); err != nil {
			return err
		}
		if s.Proceed != nil && *s.Proceed < 1 {
			return fmt.Errorf("proceed must be at least 1, got %d; proceed alone has no limit", *s.Proceed)
		}
		return s.check()
	}
	switch strings.TrimSpace(node.Value) {
	case "user":
		s.User = new("")
	case "agent":
		s.Agent = new("")
	case "proceed":
		s.Proceed = new(0)
	case "succeed":
		s.Succeed = new("")
	case "fail":
		s.Fail = new("")
	default:
		return fmt.Errorf("%q is not a step; write one of %s, or a mapping such as check: turns.size() == 1", node.Value, stepNames)
	}
	return nil
}

// MarshalYAML writes the name of a step that has no value.
func (s Step) MarshalYAML() (any, error) {
	if s.Proceed != nil && *s.Proceed == 0 {
		return "proceed", nil
	}
	type plain Step
	return plain(s), nil
}

// check returns an error unless the step has exactly one key.
func (s *Step) check() error {
	given := 0
	for _, is := range []bool{s.User != nil, s.Agent != nil, s.Proceed != nil, s.Check != "", s.Succeed != nil, s.Fail != nil} {
		if is {
			given++
		}
	}
	if given != 1 {
		return fmt.Errorf("a step has exactly one of %s and check, not %d", stepNames, given)
	}
	return nil
}

// Simulated reports whether the simulated user writes messages in this step.
func (s *Step) Simulated() bool { return s.Proceed != nil || s.User != nil && *s.User == "" }

// JSONSchemaExtend allows the name of a step beside the mapping.
func (Step) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	mapping := *s
	mapping.Description, mapping.MinProperties, mapping.MaxProperties = "", &one, &one
	names := &jsonschema.Schema{Type: "string"}
	for name := range strings.SplitSeq(stepNames, ", ") {
		names.Enum = append(names.Enum, name)
	}
	*s = jsonschema.Schema{Description: s.Description, OneOf: []*jsonschema.Schema{names, &mapping}}
}
