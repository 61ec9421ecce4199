package step

import (
	"encoding/json"
	"slices"
	"strings"
)

// Call is a tool call of an answer: an action with its thought, or a decision.
type Call struct {
	// Tool is the name of the tool, for errors.
	Tool string
	// Arguments is the JSON text that the model wrote.
	Arguments string
	// Decision is set for a tool that decides.
	Decision Decision
	// Action is the action of another tool.
	Action string
	// Beside is the text beside the call, which is the thought of an action without one.
	Beside string
	// Nested reports that the inputs of the action are in the argument "input", because one of
	// them has the name of an argument of the engine.
	Nested bool
}

// inputArgument is the argument of a nested call.
const inputArgument = "input"

// Documents returns the documents of a call, with the rules of Parse: for an action, a reflection
// with the decision to continue if the call has one, and the step; for a decision, the reflection,
// and the verification and the output if the call has them. The error is an *Error whose position
// is in the arguments.
func (c Call) Documents() ([]Document, error) {
	docs, bad := c.documents()
	if bad != nil {
		bad.Call = c.Tool
		return nil, bad
	}
	for i := range docs {
		docs[i].Call, docs[i].InputPos.Call = c.Tool, c.Tool
	}
	return docs, nil
}

func (c Call) documents() ([]Document, *Error) {
	arguments := strings.TrimSpace(c.Arguments)
	if arguments == "" {
		arguments = "{}"
	}
	if len(arguments) > maxBytes {
		return nil, errorAt(Pos{}, "too-large",
			"the arguments have %d bytes; at most %d are read: write less in one call", len(arguments), maxBytes)
	}
	if arguments[0] != '{' {
		return nil, errorAt(Pos{Line: 1, Column: 1}, "json", "the arguments must be a JSON object")
	}
	members, end, bad := readMembers(arguments)
	if bad != nil {
		return nil, bad
	}
	if rest := strings.TrimSpace(arguments[end:]); rest != "" {
		var p placer
		return nil, errorAt(p.pos(arguments, end), "json", "found %s behind the arguments", excerpt(rest))
	}
	if c.Decision != "" {
		return c.decision(members)
	}
	return c.action(members)
}

// decision returns the documents of a tool that decides.
func (c Call) decision(members []member) ([]Document, *Error) {
	kept := members[:0]
	for _, m := range members {
		switch m.name {
		case "thought", "decision": // the tool is the decision; some models add a thought to every call
		default:
			kept = append(kept, m)
		}
	}
	kept = append(kept, member{name: "decision", value: []byte(`"` + string(c.Decision) + `"`)})
	return documents(kept, Pos{})
}

func (c Call) action(members []member) ([]Document, *Error) {
	engine := []string{"thought", "reflection"}
	var own []member
	input := member{name: "action_input"}
	for _, m := range members {
		switch {
		case m.name == engine[0] || m.name == engine[1]:
			if text, ok := m.text(); m.name != engine[1] || !ok || strings.TrimSpace(text) != "" {
				own = append(own, m)
			}
		case c.Nested && m.name == inputArgument:
			input.value, input.at = m.value, m.at
		case c.Nested:
			return nil, errorAt(m.key, "unknown-key",
				"unknown argument %s; the inputs of the action are members of %q", excerpt(m.name), inputArgument)
		}
	}
	if !c.Nested {
		input.value = []byte(without(members, engine...))
	}
	if beside := strings.TrimSpace(c.Beside); beside != "" && !slices.ContainsFunc(own, member.isThought) {
		own = append(own, member{name: "thought", value: []byte(asJSONString(beside))})
	}
	action := member{name: "action", value: []byte(asJSONString(c.Action))}
	own = append(own, action)
	if input.value != nil && !input.isNull() {
		own = append(own, input)
	}
	return documents(own, Pos{})
}

// isThought reports whether the member is a thought that is not empty.
func (m member) isThought() bool {
	text, ok := m.text()
	return m.name == "thought" && (!ok || strings.TrimSpace(text) != "")
}

func asJSONString(text string) string {
	quoted, _ := json.Marshal(text) // a string
	return string(quoted)
}
