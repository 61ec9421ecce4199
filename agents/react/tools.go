package react

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/llm"
)

// Interface is the form in which a model writes its steps.
type Interface string

// The interfaces. A text in place of a tool call is read in the forms of package step, too.
const (
	// ByTools declares the actions and decisions as tools of the API.
	ByTools Interface = "tools"
	// ByYAML describes the form of the documents in the system message.
	ByYAML Interface = "yaml"
)

// rejectsTools reports whether the first call failed because the server has no tools for this model.
func (r *runner) rejectsTools(err error) bool {
	return r.tools != nil && r.deps.TakesTools && len(r.dialogue.turns) == 1 &&
		llm.KindOf(err) == llm.InvalidRequest && strings.Contains(strings.ToLower(err.Error()), "tool")
}

// writeYAML begins the dialogue anew, without tools, for this agent and those that it delegates to.
func (r *runner) writeYAML() {
	r.guard(guardNoTools, "the server rejects tools; the agent writes YAML")
	r.options.Interface, r.tools = ByYAML, nil
	r.begin()
}

// toolset has the tools that are declared to the model.
type toolset struct {
	declared []llm.Tool
	calls    map[string]step.Call // by the name of the tool, without arguments
}

// newToolset declares actions and the decisions on an output of the contract.
func newToolset(actions []action.Declaration, output json.RawMessage) *toolset {
	t := &toolset{calls: map[string]step.Call{}}
	for _, d := range decisionTools(output) {
		t.add(d.tool, step.Call{Decision: d.decision})
	}
	for _, a := range actions {
		if a.ID == action.Escalate {
			continue // the decision of this name has the trigger, too
		}
		parameters, nested := actionParameters(a.Inputs)
		t.add(llm.Tool{Name: a.ID, Description: a.Description, Parameters: parameters}, step.Call{Action: a.ID, Nested: nested})
	}
	return t
}

// add declares a tool under a name that the APIs accept and that is not taken.
func (t *toolset) add(tool llm.Tool, c step.Call) {
	tool.Name = freeName(tool.Name, func(name string) bool { _, taken := t.calls[name]; return taken })
	c.Tool = tool.Name
	t.declared = append(t.declared, tool)
	t.calls[tool.Name] = c
}

// maxToolName is the longest name of a tool that the APIs accept.
const maxToolName = 64

// freeName replaces the characters that the APIs reject, and adds a number to a name that is taken.
func freeName(name string, taken func(string) bool) string {
	name = strings.Map(func(r rune) rune {
		if r == '-' || r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
			return r
		}
		return '_'
	}, name)
	free := name[:min(len(name), maxToolName)]
	for n := 2; free == "" || taken(free); n++ {
		suffix := fmt.Sprintf("_%d", n)
		free = name[:min(len(name), maxToolName-len(suffix))] + suffix
	}
	return free
}

// call returns the call of a tool. The name of an unknown tool is that of an action, which the set of
// actions refuses.
func (t *toolset) call(c llm.ToolCall, beside string) step.Call {
	known, ok := t.calls[c.Name]
	if !ok {
		known = step.Call{Tool: c.Name, Action: c.Name}
	}
	known.Arguments, known.Beside = c.Arguments, beside
	return known
}

// schema is a JSON Schema.
type schema = map[string]any

var (
	thoughtSchema    = schema{"type": "string", "description": "what you know, what is missing, and why this action comes next"}
	reflectionSchema = schema{"type": "string", "description": "what the last result shows, with facts of it, and what is still open"}
	reasonSchema     = schema{"type": "string", "description": "the reason, in one sentence"}
)

// actionParameters returns the parameters of an action: its inputs, the thought and the reflection. Nested
// reports that the inputs are in a parameter of their own, because one of them has such a name.
func actionParameters(inputs json.RawMessage) (parameters json.RawMessage, nested bool) {
	all := schema{}
	if json.Unmarshal(inputs, &all) != nil || all["type"] != "object" {
		all = schema{"type": "object", "additionalProperties": true}
	}
	properties, _ := all["properties"].(map[string]any)
	_, thought := properties["thought"]
	_, reflection := properties["reflection"]
	if thought || reflection {
		if bytes.Contains(inputs, []byte(`"$ref"`)) { // which would be relative to another root
			all = schema{"type": "object", "description": "as in this JSON Schema: " + clip(string(inputs), maxSchema)}
		}
		all = schema{"type": "object", "properties": schema{"input": all}, "required": []any{"input"}}
		properties, nested = all["properties"].(schema), true
	}
	merged := schema{"thought": thoughtSchema, "reflection": reflectionSchema}
	for name, property := range properties {
		merged[name] = property
	}
	required, _ := all["required"].([]any)
	all["properties"], all["required"] = merged, append([]any{"thought"}, required...)
	return encodeSchema(all), nested
}

func encodeSchema(s schema) json.RawMessage {
	data, err := json.Marshal(s)
	if err != nil {
		return nil // it was decoded from JSON
	}
	return data
}

// decisionTool is the tool of a decision.
type decisionTool struct {
	decision step.Decision
	tool     llm.Tool
}

// decisionTools returns the tools of the decisions. "continue" has none: the next action implies it.
func decisionTools(output json.RawMessage) []decisionTool {
	decision := func(d step.Decision, name, description string, properties schema, required ...any) decisionTool {
		properties["reflection"], properties["reason"] = reflectionSchema, reasonSchema
		parameters := encodeSchema(schema{"type": "object", "properties": properties, "required": required})
		return decisionTool{d, llm.Tool{Name: name, Description: description, Parameters: parameters}}
	}
	text := func(description string) schema { return schema{"type": "string", "description": description} }
	missing := schema{"type": "array", "items": schema{"type": "string"}, "description": "what is not done"}
	trigger := schema{"type": "string", "enum": triggersByRank, "description": "why a person is needed"}
	return []decisionTool{
		decision(step.Done, "done", "the task is finished: gives the verification and the final output",
			schema{"verification": verificationSchema(), "output": outputSchema(output)}, "reflection", "verification", "output"),
		decision(step.DonePartial, "done_partial", "only a part can be done: lists what is missing, and gives the verification and the output",
			schema{"verification": verificationSchema(), "output": outputSchema(output), "missing": missing},
			"reflection", "missing", "verification", "output"),
		decision(step.Escalate, "escalate", "a person must decide or give something: ends the work with a question",
			schema{"trigger": trigger}, "reason"),
		decision(step.Delegate, "hand_over", "another agent takes over for good",
			schema{"agent_id": text("the agent"), "task": text("what it has to do")}, "agent_id", "task"),
		decision(step.Blocked, "blocked", "the work cannot go on", schema{}, "reason"),
	}
}

// verificationSchema returns the schema of a verification in the schema form.
func verificationSchema() schema {
	part := schema{
		"type": "object",
		"properties": schema{
			"check":  schema{"type": "array", "items": schema{"type": "string"}},
			"passed": schema{"type": "boolean"},
		},
		"required": []any{"check", "passed"},
	}
	properties, required := schema{}, []any{}
	for _, p := range []step.Part{step.Completeness, step.Consistency, step.Correctness, step.Constraints} {
		properties[string(p)], required = part, append(required, string(p))
	}
	return schema{"type": "object", "properties": properties, "required": required}
}

// outputSchema returns the schema of the final output: that of the contract, unless it is too long or has
// references, which would be relative to another root. The system message has it in any case.
func outputSchema(contract json.RawMessage) schema {
	var own schema
	switch {
	case contract == nil:
		return schema{"type": "string", "description": "the final output"}
	case len(contract) > maxSchema, bytes.Contains(contract, []byte(`"$ref"`)), json.Unmarshal(contract, &own) != nil:
		return schema{"description": "the final output, as the contract describes it"}
	}
	return own
}
