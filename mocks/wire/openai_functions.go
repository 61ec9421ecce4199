package wire

import (
	"fmt"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// The older form of tools: functions, function_call and messages with the role function. See
// https://platform.openai.com/docs/api-reference/chat/create#chat-create-functions.
const (
	roleFunction       = "function"
	finishFunctionCall = "function_call"
)

// functionChoice is "none", "auto", or an object with the name of a function.
type functionChoice struct{ mode, name string }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (c *functionChoice) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	*c = functionChoice{}
	if d.PeekKind() != '{' {
		return jsonv2.UnmarshalDecode(d, &c.mode)
	}
	var named struct {
		Name string `json:"name"`
	}
	err := jsonv2.UnmarshalDecode(d, &named)
	c.mode, c.name = toolFunction, named.Name
	return err
}

// checkFunctions validates what convertFunctions cannot express.
func (r *chatRequest) checkFunctions() *APIError {
	if r.Functions != nil && len(r.Functions) == 0 {
		return emptyArray("functions")
	}
	if r.Functions != nil && r.Tools != nil {
		return bad("functions", "", "'functions' and 'tools' cannot be specified at the same time.")
	}
	for i := range r.Functions {
		if err := checkName(fmt.Sprintf("functions[%d].name", i), r.Functions[i].Name); err != nil {
			return err
		}
	}
	switch c := r.FunctionCall; {
	case c.mode == "":
	case len(r.Functions) == 0:
		return bad("function_call", "", "Invalid value for 'function_call': 'function_call' is only allowed when 'functions' are specified.")
	case c.mode == toolFunction && !slices.ContainsFunc(r.Functions, func(f functionDefinition) bool { return f.Name == c.name }):
		return bad("function_call", "",
			"Invalid value for 'function_call': no function named '%.64s' was specified in the 'functions' parameter.", c.name)
	case c.mode != toolFunction && c.mode != "none" && c.mode != "auto":
		return unsupported("function_call", c.mode, "none", "auto")
	}
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.Role == roleFunction && m.Name == "" {
			return missing(fmt.Sprintf("messages[%d].name", i))
		}
		if m.FunctionCall != nil && llm.Role(m.Role) != llm.Assistant {
			return bad(fmt.Sprintf("messages[%d].function_call", i), "",
				"Invalid 'messages[%d].function_call': only messages with role 'assistant' can have function calls.", i)
		}
	}
	return nil
}

// convertFunctions replaces functions, and calls and results of functions, by tools. Calls in the older form
// have no ids, and a result need not follow its call: a call without its result, and a result without
// its call, become texts. It reports whether the request has functions.
func (r *chatRequest) convertFunctions() bool {
	for i := range r.Messages {
		m := &r.Messages[i]
		if m.FunctionCall != nil && i+1 < len(r.Messages) && r.Messages[i+1].Role == roleFunction {
			id := fmt.Sprintf("function_call_%d", i)
			m.ToolCalls = []chatToolCall{{ID: id, Type: toolFunction, Function: *m.FunctionCall}}
			next := &r.Messages[i+1]
			next.Role, next.ToolCallID = string(llm.ToolRole), id
			continue
		}
		if m.FunctionCall != nil && (m.Content.kind == 0 || m.Content.kind == 'n') {
			m.Content = content{kind: '"', text: m.FunctionCall.Arguments}
		}
		if m.Role == roleFunction {
			m.Role = string(llm.User)
		}
	}
	for _, f := range r.Functions {
		r.Tools = append(r.Tools, chatTool{Type: toolFunction, Function: f})
	}
	if c := r.FunctionCall; c.name != "" {
		chosen := chatTool{Type: toolFunction, Function: functionDefinition{Name: c.name}}
		r.ToolChoice = toolChoice{mode: toolFunction, object: true, tools: []chatTool{chosen}}
	}
	return len(r.Functions) > 0
}
