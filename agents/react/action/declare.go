package action

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// Declaration describes an action to a model that calls tools.
type Declaration struct {
	ID          string
	Description string
	// Inputs is the JSON Schema of the inputs, which is one of an object.
	Inputs json.RawMessage
}

// input is an input of a standard action. Its type is one of JSON Schema; empty: any.
type input struct {
	name, kind string
	required   bool
	about      string
}

// inputsOf are the inputs of the standard actions.
var inputsOf = map[string][]input{
	"analyze": {{"target", "string", true, `a file, a folder, or "full"`}, {"focus", "string", false, "what to look for"}},
	"search": {
		{"query", "string", true, "words or a regular expression"},
		{"scope", "string", false, `a file, a folder, a pattern such as src/**/*.py, or "full"`},
	},
	"generate": {
		{"type", "string", true, "what the file is, such as markdown or json"},
		{"spec", "", true, "the whole content of the file"},
		{"path", "string", false, "the file"},
	},
	"validate": {{"assertion", "string", true, "the assertion"}, {"data", "", true, "the file or text"}},
	"transform": {
		{"input", "string", true, "a file or text"},
		{"from", "string", true, "its format"},
		{"to", "string", true, "the new format"},
		{"output", "string", false, "the file to write"},
	},
	"compare": {
		{"a", "string", true, "a file or text"},
		{"b", "string", true, "a file or text"},
		{"criteria", "string", false, "what to compare them by"},
	},
	shellAction: {{"command", "string", true, "the command line"}, {"timeout", "string", false, "such as 30s"}},
	editAction: {
		{"path", "string", true, "the file"},
		{"old", "string", true, "the exact text to replace, which occurs once"},
		{"new", "string", true, "the text in its place"},
	},
	RequestInfo: {{"question", "string", true, "the question"}, {"context", "string", false, "what the person must know to answer it"}},
	Delegate: {
		{"agent_id", "string", true, "the agent"},
		{"task", "string", true, "the part of the task"},
		{"input", "object", false, "inputs of the agent's contract"},
	},
	Escalate: {{"reason", "string", true, "why a person must decide"}, {"context", "string", false, "what the person must know to decide"}},
}

// inputSchema returns the JSON Schema of inputs. The order of the properties is that of their names.
func inputSchema(inputs []input) json.RawMessage {
	type property struct {
		Type        string `json:"type,omitempty"`
		Description string `json:"description,omitempty"`
	}
	schema := struct {
		Type       string              `json:"type"`
		Properties map[string]property `json:"properties"`
		Required   []string            `json:"required,omitempty"`
	}{Type: "object", Properties: map[string]property{}}
	for _, in := range inputs {
		schema.Properties[in.name] = property{in.kind, in.about}
		if in.required {
			schema.Required = append(schema.Required, in.name)
		}
	}
	data, _ := json.Marshal(schema) // texts only
	return data
}

func customInputs(a agentfile.Action) []input {
	inputs := make([]input, len(a.Inputs))
	for i, in := range a.Inputs {
		inputs[i] = input{in.Name, "string", in.Required, in.Description}
	}
	return inputs
}

// Declare implements Set.
func (s *set) Declare() []Declaration {
	var all []Declaration
	for _, a := range s.standard() {
		all = append(all, Declaration{a.id, a.does, inputSchema(inputsOf[a.id])})
	}
	for _, a := range s.custom {
		all = append(all, Declaration{a.ID, a.Description, inputSchema(customInputs(a))})
	}
	return all
}

// ReportsFiles reports whether the result of an action lists the files that it read. The others, shell and
// the tools of servers, may only have them in their input.
func ReportsFiles(id string) bool { return id != shellAction && !strings.Contains(id, ".") }

// OnlyReads reports whether an action changes nothing, so that it may be repeated.
func OnlyReads(id string) bool {
	return slices.Contains([]string{"analyze", "search", "validate", "compare"}, id)
}
