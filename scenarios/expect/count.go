package expect

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/invopop/jsonschema"
	"go.yaml.in/yaml/v4"
)

// The rules that Expect.Allow can permit.
const (
	UnusedLine     = "unused-line"
	MisjudgedStop  = "misjudged-stop"
	UnexpectedCall = "unexpected-call"
	InvalidRequest = "invalid-request"
	// UnreachedGoal and AvoidedGoal are about the goals of a simulated user.
	UnreachedGoal = "unreached-goal"
	AvoidedGoal   = "avoided-goal"
)

// Allows reports whether n is within the limits.
func (c Count) Allows(n int) bool {
	return (c.Exactly == nil || n == *c.Exactly) &&
		(c.AtLeast == nil || n >= *c.AtLeast) &&
		(c.AtMost == nil || n <= *c.AtMost)
}

// String formats the limits, such as "at least 1 and at most 3".
func (c Count) String() string {
	var words []string
	for _, limit := range []struct {
		word  string
		value *int
	}{{"exactly", c.Exactly}, {"at least", c.AtLeast}, {"at most", c.AtMost}} {
		if limit.value != nil {
			words = append(words, limit.word+" "+strconv.Itoa(*limit.value))
		}
	}
	return strings.Join(words, " and ")
}

// UnmarshalYAML decodes a number, which sets Exactly, or a mapping with satisfiable limits.
func (c *Count) UnmarshalYAML(node *yaml.Node) error {
	switch node.Kind {
	case yaml.ScalarNode:
		var n int
		if err := node.Load(&n); err != nil || n < 0 {
			return fmt.Errorf("%q is not a count; write a whole number, or a mapping with at_least and at_most", node.Value)
		}
		*c = Count{Exactly: &n}
		return nil
	case yaml.MappingNode:
		type plain Count
		if err := node.Load((*plain)(c), yaml.WithKnownFields()); err != nil {
			return err
		}
		return c.check()
	default:
		return errors.New("found a list, not a count; write a whole number, or a mapping with at_least and at_most")
	}
}

func (c *Count) check() error {
	switch {
	case c.Exactly == nil && c.AtLeast == nil && c.AtMost == nil:
		return errors.New("a count needs one of exactly, at_least and at_most")
	case c.Exactly != nil && (c.AtLeast != nil || c.AtMost != nil):
		return errors.New("exactly cannot be combined with at_least and at_most")
	case c.AtLeast != nil && c.AtMost != nil && *c.AtLeast > *c.AtMost:
		return fmt.Errorf("no number is at least %d and at most %d", *c.AtLeast, *c.AtMost)
	}
	return nil
}

// JSONSchemaExtend also allows a number.
func (Count) JSONSchemaExtend(s *jsonschema.Schema) {
	one := uint64(1)
	mapping := *s
	mapping.Description, mapping.MinProperties = "", &one
	*s = jsonschema.Schema{
		Description: s.Description,
		OneOf:       []*jsonschema.Schema{{Type: "integer", Minimum: "0"}, &mapping},
	}
}
