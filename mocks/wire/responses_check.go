package wire

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// minOutputTokens is the smallest limit that the Responses API accepts.
const minOutputTokens = 16

// check validates a request as the provider does, cheapest rules first. It accepts unknown types
// of items, because the provider often adds new ones.
func (r *responsesRequest) check() *APIError {
	if r.Model == "" {
		return missing("model")
	}
	if r.Background {
		return bad("background", "unsupported_value", "The scripted server answers at once and has no GET /v1/responses/ID, "+
			"and so does not support 'background': true. Leave it out in tests.")
	}
	return firstError(r.checkSampling, func() *APIError { return checkMetadata(r.Metadata) },
		func() *APIError { return checkOffered("tools", r.Tools) }, r.checkChoice, r.checkInput, r.checkOutputs, r.checkFormat)
}

func (r *responsesRequest) checkSampling() *APIError {
	if err := cmp.Or(
		checkDecimal("temperature", r.Temperature, 2), checkDecimal("top_p", r.TopP, 1),
		checkLeast("max_output_tokens", r.MaxOutputTokens, minOutputTokens),
	); err != nil {
		return err
	}
	switch r.Truncation {
	case "", "auto", "disabled":
		return nil
	}
	return unsupported("truncation", r.Truncation, "auto", "disabled")
}

// checkOffered validates tools, including those of namespaces.
func checkOffered(at string, tools []responsesTool) *APIError {
	for i, t := range tools {
		param := func(field string) string { return fmt.Sprintf("%s[%d].%s", at, i, field) }
		switch t.Type {
		case "":
			return missing(param("type"))
		case "function", "custom":
			if err := checkName(param("name"), t.Name); err != nil {
				return err
			}
			if p := t.Parameters; p != nil && p.Kind() != '{' && p.Kind() != 'n' {
				return wrongType(param("parameters"), "an object", p.Kind())
			}
		case "namespace":
			if err := checkOffered(param("tools"), t.Tools); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkChoice requires that a chosen tool exists, unless a prompt or the input may have it.
func (r *responsesRequest) checkChoice() *APIError {
	var choice struct {
		Type string `json:"type"`
		Name string `json:"name"`
	}
	switch r.ToolChoice.Kind() {
	case '"':
		mode := unquoted(r.ToolChoice)
		if modes := []string{"none", "auto", "required"}; !slices.Contains(modes, mode) {
			return unsupported("tool_choice", mode, modes...)
		}
		return nil
	case '{':
		if err := jsonv2.Unmarshal(r.ToolChoice, &choice); err != nil {
			return decodeError(err)
		}
	default: // missing or null; the provider ignores other types
	}
	if choice.Type != "function" && choice.Type != "custom" || given(r.Prompt) ||
		slices.ContainsFunc(r.allItems(), func(t item) bool { return t.Type == "additional_tools" }) {
		return nil
	}
	if !offers(r.Tools, choice.Name) {
		return bad("tool_choice", "", "Tool choice '%.64s' not found in 'tools' parameter.", choice.Name)
	}
	return nil
}

// offers reports whether a tool is among tools or in one of their namespaces.
func offers(tools []responsesTool, name string) bool {
	return slices.ContainsFunc(tools, func(t responsesTool) bool { return t.Name == name || offers(t.Tools, name) })
}

// continues reports whether the provider has earlier parts of the conversation.
func (r *responsesRequest) continues() bool {
	return r.PreviousResponseID != "" || given(r.Conversation) || given(r.Prompt)
}

// given reports whether a field is present and not null.
func given(v jsontext.Value) bool { return v != nil && v.Kind() != 'n' }

// isReference reports whether an item refers to a stored one.
func (t *item) isReference() bool {
	return t.Type == "item_reference" || t.Type == "" && t.Role == "" && t.ID != "" && t.Content.kind == 0
}

func (r *responsesRequest) checkInput() *APIError {
	switch k := r.Input.kind; k {
	case '"':
		return nil
	case '[':
	case 0, 'n':
		if r.continues() {
			return nil
		}
		return missing("input")
	default:
		return wrongType("input", "one of a string or array of input items", k)
	}
	if len(r.Input.list) == 0 && !r.continues() {
		return emptyArray("input")
	}
	for i := range r.Input.list {
		if err := r.Input.list[i].check(i); err != nil {
			return err
		}
	}
	return nil
}

// check validates one item by itself; i is its index.
func (t *item) check(i int) *APIError {
	if t.stored {
		return nil
	}
	param := func(field string) string { return fmt.Sprintf("input[%d].%s", i, field) }
	if prefix := strings.TrimSuffix(itemPrefixes[t.Type], "_"); t.ID != "" && isStrict(t.Type) && !strings.HasPrefix(t.ID, prefix) {
		return bad(param("id"), "invalid_value", "Invalid '%s': '%.64s'. Expected an ID that begins with '%s'.", param("id"), t.ID, prefix)
	}
	switch t.Type {
	case itemMessage, "":
		if t.isReference() {
			return nil
		}
		return t.checkMessage(param)
	case itemFunctionCall:
		return t.checkCall(param, t.Arguments.Kind() == '"', "arguments")
	case itemCustomCall:
		return t.checkCall(param, true, "input")
	case "function_call_output", "custom_tool_call_output":
		switch {
		case t.CallID == "":
			return missing(param("call_id"))
		case t.Output.kind == 0:
			return missing(param("output"))
		case t.Output.kind != '"' && t.Output.kind != '[':
			return wrongType(param("output"), "one of a string or array of content parts", t.Output.kind)
		}
	case "additional_tools":
		return checkOffered(param("tools"), t.Tools)
	}
	return nil
}

// isStrict reports whether the ids of items of that type need their prefix.
func isStrict(kind string) bool {
	return slices.Contains([]string{itemMessage, itemFunctionCall, itemCustomCall, itemReasoning}, kind)
}

func (t *item) checkCall(param func(string) string, written bool, field string) *APIError {
	switch {
	case t.CallID == "":
		return missing(param("call_id"))
	case t.Name == "":
		return missing(param("name"))
	case t.Type == itemFunctionCall && t.Arguments == nil:
		return missing(param(field))
	case !written:
		return wrongType(param(field), "a string", t.Arguments.Kind())
	}
	return nil
}

func (t *item) checkMessage(param func(string) string) *APIError {
	role := llm.Role(t.Role)
	switch role {
	case llm.System, llm.Developer, llm.User, llm.Assistant:
	case "":
		return missing(param("role"))
	default:
		return unsupported(param("role"), t.Role, "assistant", "system", "developer", "user")
	}
	switch k := t.Content.kind; k {
	case '"', '[':
	case 0:
		return missing(param("content"))
	default:
		return wrongType(param("content"), "one of a string or array of content parts", k)
	}
	types := []string{"input_text", "input_image", "input_file"}
	if role == llm.Assistant {
		types = []string{"output_text", "refusal"}
	}
	for j := range t.Content.list {
		p := &t.Content.list[j]
		at := param(fmt.Sprintf("content[%d]", j))
		if !slices.Contains(types, p.Type) {
			return unsupported(at, p.Type, types...)
		}
		if err := p.checkAttachment(at); err != nil {
			return err
		}
	}
	return nil
}

// checkOutputs requires exactly one output after each call of a client's tool, and no other
// outputs. Stored conversations and prompts, and references without a store, may have calls that
// are unknown here.
func (r *responsesRequest) checkOutputs() *APIError {
	before := r.PreviousResponseID != "" && !r.resolved || given(r.Conversation) || given(r.Prompt) ||
		slices.ContainsFunc(r.Input.list, func(t item) bool { return t.isReference() })
	var calls pending
	answered := map[string]bool{}
	all := r.allItems()
	for i := range all {
		t := &all[i]
		switch id := t.callID(); {
		case isCall(t.Type):
			calls.ask(id)
		case !isOutput(t.Type):
		case calls.answer(id):
			answered[id] = true
		case answered[id]:
			return bad("input", "", "Duplicate tool output for function call with call_id %.64s.", id)
		case !before:
			what := strings.ReplaceAll(strings.TrimPrefix(t.Type, "custom_"), "_", " ")
			return bad("input", "", "No tool call found for %s with call_id %.64s.", what, id)
		}
	}
	if left := calls.left(); len(left) > 0 {
		return bad("input", "", "No tool output found for function call %.64s.", left[0])
	}
	return nil
}

// isOutput reports whether an item of that type is the output of a client's tool.
func isOutput(kind string) bool {
	call, ok := strings.CutSuffix(kind, "_output")
	return ok && isCall(call)
}

func (r *responsesRequest) checkFormat() *APIError {
	f := r.Text.Format
	if f == nil {
		return nil
	}
	mentioned := func() bool {
		return strings.Contains(strings.ToLower(r.Input.text), "json") ||
			slices.ContainsFunc(r.allItems(), func(t item) bool { return mentionsJSON(&t.Content) })
	}
	if err := checkFormat("text.format", f.Type, "name", f.Name); err != nil || f.Type != formatObject || mentioned() {
		return err
	}
	return bad("input", "",
		"Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.")
}
