package wire

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/llm"
)

// Limits of OpenAI's API.
const (
	maxTools         = 128 // tools of a request, and tool calls of a message
	maxToolName      = 64
	maxChoices       = 128
	maxMetadata      = 16
	maxMetadataKey   = 64
	maxMetadataValue = 512
)

// bad returns the provider's error for an invalid request.
func bad(param, code, format string, args ...any) *APIError {
	return &APIError{
		Status: http.StatusBadRequest, Type: invalidRequest, Param: param, Code: code,
		Message: fmt.Sprintf(format, args...),
	}
}

func missing(param string) *APIError {
	return bad(param, "missing_required_parameter", "Missing required parameter: '%s'.", param)
}

func unsupported(param, value string, supported ...string) *APIError {
	return bad(param, "invalid_value", "Invalid value: '%.64s'. Supported values are: '%s'.",
		value, strings.Join(supported, "', '"))
}

func tooLong(param, what string, limit, got int) *APIError {
	return bad(param, what+"_above_max_length", "Invalid '%s': %s too long. Expected at most %d, but got %d instead.",
		param, what, limit, got)
}

func emptyArray(param string) *APIError {
	return bad(param, "empty_array",
		"Invalid '%s': empty array. Expected an array with minimum length 1, but got an empty array instead.", param)
}

func wrongType(param, expected string, got jsontext.Kind) *APIError {
	return bad(param, "invalid_type", "Invalid type for '%s': expected %s, but got %s instead.", param, expected, kindName(got))
}

// firstError returns the error of the first broken rule.
func firstError(rules ...func() *APIError) *APIError {
	for _, rule := range rules {
		if err := rule(); err != nil {
			return err
		}
	}
	return nil
}

// check validates a request as the provider does, cheapest rules first.
func (r *chatRequest) check() *APIError {
	if r.Model == "" {
		return missing("model")
	}
	return firstError(r.checkSampling, func() *APIError { return checkMetadata(r.Metadata) },
		r.checkTools, r.checkMessages, r.checkToolAnswers, r.checkFormat)
}

func (r *chatRequest) checkSampling() *APIError {
	if err := cmp.Or(
		checkDecimal("temperature", r.Temperature, 2), checkLeast("max_tokens", r.MaxTokens, 1),
		checkLeast("max_completion_tokens", r.MaxCompletionTokens, 1), checkLeast("n", r.N, 1),
	); err != nil {
		return err
	}
	if r.MaxTokens != nil && r.MaxCompletionTokens != nil {
		return bad("max_tokens", "invalid_parameter_combination",
			"Setting 'max_tokens' and 'max_completion_tokens' at the same time is not supported.")
	}
	if r.N != nil && *r.N > maxChoices {
		return bad("n", "integer_above_max_value",
			"Invalid 'n': integer above maximum value. Expected a value <= %d, but got %d instead.", maxChoices, *r.N)
	}
	if r.StreamOptions != nil && !r.Stream {
		return bad("stream_options", "", "The 'stream_options' parameter is only allowed when 'stream' is enabled.")
	}
	return nil
}

// checkLeast validates that an optional value is at least least.
func checkLeast(param string, value *int, least int) *APIError {
	if value == nil || *value >= least {
		return nil
	}
	return bad(param, "integer_below_min_value",
		"Invalid '%s': integer below minimum value. Expected a value >= %d, but got %d instead.", param, least, *value)
}

// checkDecimal validates that an optional value is in [0, limit].
func checkDecimal(param string, value *float64, limit float64) *APIError {
	switch {
	case value == nil:
	case *value < 0:
		return bad(param, "decimal_below_min_value",
			"Invalid '%s': decimal below minimum value. Expected a value >= 0, but got %v instead.", param, *value)
	case *value > limit:
		return bad(param, "decimal_above_max_value",
			"Invalid '%s': decimal above maximum value. Expected a value <= %v, but got %v instead.", param, limit, *value)
	}
	return nil
}

func checkMetadata(metadata map[string]string) *APIError {
	if n := len(metadata); n > maxMetadata {
		return bad("metadata", "object_above_max_properties",
			"Invalid 'metadata': too many properties. Expected at most %d, but got %d instead.", maxMetadata, n)
	}
	if len(metadata) == 0 {
		return nil // sorting no keys costs three allocations for each request
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		value := metadata[key]
		if len(key) > maxMetadataKey {
			return tooLong("metadata", "string", maxMetadataKey, len(key))
		}
		if len(value) > maxMetadataValue {
			return tooLong("metadata."+key, "string", maxMetadataValue, len(value))
		}
	}
	return nil
}

func (r *chatRequest) checkTools() *APIError {
	if len(r.Tools) > maxTools {
		return tooLong("tools", "array", maxTools, len(r.Tools))
	}
	for i, t := range r.Tools {
		param := func(field string) string { return fmt.Sprintf("tools[%d].%s", i, field) }
		if t.Type != toolFunction && t.Type != toolCustom {
			return unsupported(param("type"), t.Type, toolFunction, toolCustom)
		}
		if err := checkName(param(t.Type+".name"), t.name()); err != nil {
			return err
		}
		if p := t.Function.Parameters; p != nil && p.Kind() != '{' {
			return wrongType(param("function.parameters"), "an object", p.Kind())
		}
	}
	return r.checkToolChoice()
}

func (r *chatRequest) checkToolChoice() *APIError {
	c := r.ToolChoice
	switch {
	case c.mode == "":
		return nil
	case !c.object && !slices.Contains([]string{"none", "auto", "required"}, c.mode):
		return unsupported("tool_choice", c.mode, "none", "auto", "required")
	case c.object && !slices.Contains([]string{toolFunction, toolCustom, choiceAllowed}, c.mode):
		return unsupported("tool_choice.type", c.mode, toolFunction, toolCustom, choiceAllowed)
	case len(r.Tools) == 0:
		return bad("tool_choice", "", "Invalid value for 'tool_choice': 'tool_choice' is only allowed when 'tools' are specified.")
	case c.mode == choiceAllowed && c.allowed != "auto" && c.allowed != "required":
		return unsupported("tool_choice.allowed_tools.mode", c.allowed, "auto", "required")
	case c.mode == choiceAllowed && len(c.tools) == 0:
		return missing("tool_choice.allowed_tools.tools")
	}
	for _, chosen := range c.tools {
		if chosen.name() == "" {
			return missing("tool_choice." + c.mode + ".name")
		}
		if !slices.ContainsFunc(r.Tools, func(t chatTool) bool { return t.Type == chosen.Type && t.name() == chosen.name() }) {
			return bad("tool_choice", "", "Tool choice '%.64s' not found in 'tools' parameter.", chosen.name())
		}
	}
	return nil
}

// checkName validates a function's name against ^[a-zA-Z0-9_-]{1,64}$.
func checkName(param, name string) *APIError {
	if name == "" {
		return missing(param)
	}
	if len(name) > maxToolName {
		return tooLong(param, "string", maxToolName, len(name))
	}
	if !isName(name, maxToolName) {
		return bad(param, "invalid_value",
			"Invalid '%s': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.", param)
	}
	return nil
}

func (r *chatRequest) checkMessages() *APIError {
	if r.Messages == nil {
		return missing("messages")
	}
	if len(r.Messages) == 0 {
		return emptyArray("messages")
	}
	for i := range r.Messages {
		if err := r.Messages[i].check(i); err != nil {
			return err
		}
	}
	return nil
}

// check validates one message by itself; i is its index.
func (m *chatMessage) check(i int) *APIError {
	param := func(field string) string { return fmt.Sprintf("messages[%d].%s", i, field) }
	switch llm.Role(m.Role) {
	case llm.System, llm.Developer, llm.User, llm.Assistant, llm.ToolRole:
	case "":
		return missing(param("role"))
	default:
		return unsupported(param("role"), m.Role, "system", "developer", "user", "assistant", "tool")
	}
	if llm.Role(m.Role) == llm.ToolRole && m.ToolCallID == "" {
		return missing(param("tool_call_id"))
	}
	if m.ToolCalls != nil && llm.Role(m.Role) != llm.Assistant {
		return bad(param("tool_calls"), "", "Invalid '%s': only messages with role 'assistant' can have tool calls.", param("tool_calls"))
	}
	if err := m.checkToolCalls(param); err != nil {
		return err
	}
	return m.checkContent(param)
}

func (m *chatMessage) checkContent(param func(string) string) *APIError {
	switch k := m.Content.kind; k {
	case '"':
		return nil
	case 0, 'n':
		if llm.Role(m.Role) == llm.Assistant && (len(m.ToolCalls) > 0 || m.Refusal != "" || m.Audio != nil) {
			return nil
		}
		if k == 0 {
			return missing(param("content"))
		}
		return bad(param("content"), "invalid_type",
			"Invalid value for '%s': expected a string or an array of content parts, got null.", param("content"))
	case '[':
		return m.checkParts(param)
	default:
		return wrongType(param("content"), "a string or an array of content parts", k)
	}
}

func (m *chatMessage) checkParts(param func(string) string) *APIError {
	if len(m.Content.list) == 0 {
		return emptyArray(param("content"))
	}
	types := []string{"text"}
	switch llm.Role(m.Role) {
	case llm.User:
		types = []string{"text", "image_url", "input_audio", "file"}
	case llm.Assistant:
		types = []string{"text", "refusal"}
	default:
	}
	for j := range m.Content.list {
		p := &m.Content.list[j]
		at := param(fmt.Sprintf("content[%d]", j))
		if !slices.Contains(types, p.Type) {
			return unsupported(at+".type", p.Type, types...)
		}
		if err := p.checkAttachment(at); err != nil {
			return err
		}
	}
	return nil
}

func (m *chatMessage) checkToolCalls(param func(string) string) *APIError {
	if m.ToolCalls != nil && len(m.ToolCalls) == 0 {
		return emptyArray(param("tool_calls"))
	}
	if len(m.ToolCalls) > maxTools {
		return tooLong(param("tool_calls"), "array", maxTools, len(m.ToolCalls))
	}
	for j, t := range m.ToolCalls {
		field := func(name string) string { return param(fmt.Sprintf("tool_calls[%d].%s", j, name)) }
		switch {
		case t.ID == "":
			return missing(field("id"))
		case t.Type != toolFunction && t.Type != toolCustom:
			return unsupported(field("type"), t.Type, toolFunction, toolCustom)
		case t.Function.Arguments != "" && !jsontext.Value(t.Function.Arguments).IsValid():
			return bad(field("function.arguments"), "invalid_value",
				"Invalid '%s': the arguments are not valid JSON.", field("function.arguments"))
		case slices.ContainsFunc(m.ToolCalls[:j], func(o chatToolCall) bool { return o.ID == t.ID }):
			return bad(field("id"), "invalid_value", "Duplicate value for 'tool_call_id' of '%.64s' in message.", t.ID)
		}
		if err := checkName(field(t.Type+".name"), t.neutral().Name); err != nil {
			return err
		}
	}
	return nil
}

// checkToolAnswers requires that the tool messages directly after tool calls answer each of them
// exactly once, and that there are no other tool messages.
func (r *chatRequest) checkToolAnswers() *APIError {
	var calls pending
	asked := 0 // the message with those calls
	for i := range r.Messages {
		m := &r.Messages[i]
		if llm.Role(m.Role) == llm.ToolRole {
			if !calls.answer(m.ToolCallID) {
				return bad(fmt.Sprintf("messages[%d].tool_call_id", i), "",
					"Invalid parameter: messages with role 'tool' must be a response to a preceding message with 'tool_calls'; "+
						"'%.64s' is the id of no call that is still open.", m.ToolCallID)
			}
			continue
		}
		if left := calls.left(); len(left) > 0 {
			return unanswered(asked, left)
		}
		asked = i
		for _, t := range m.ToolCalls {
			calls.ask(t.ID)
		}
	}
	if left := calls.left(); len(left) > 0 {
		return unanswered(asked, left)
	}
	return nil
}

// unanswered reports the open calls of message i.
func unanswered(i int, open []string) *APIError {
	return bad(fmt.Sprintf("messages[%d].tool_calls", i), "",
		"An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. "+
			"The following tool_call_ids did not have response messages: %.500s", strings.Join(open, ", "))
}

func (r *chatRequest) checkFormat() *APIError {
	f := r.ResponseFormat
	if f == nil {
		return nil
	}
	name := ""
	if f.JSONSchema != nil {
		name = f.JSONSchema.Name
	}
	mentioned := func() bool {
		return slices.ContainsFunc(r.Messages, func(m chatMessage) bool { return mentionsJSON(&m.Content) })
	}
	if err := checkFormat("response_format", f.Type, "json_schema.name", name); err != nil || f.Type != formatObject || mentioned() {
		return err
	}
	return bad("messages", "", "'messages' must contain the word 'json' in some form, to use 'response_format' of type 'json_object'.")
}

// checkFormat validates the type of an output format, and that a schema has a name.
func checkFormat(param, format, nameParam, name string) *APIError {
	switch format {
	case "text", formatObject:
		return nil
	case "json_schema":
		if name == "" {
			return missing(param + "." + nameParam)
		}
		return nil
	}
	return unsupported(param+".type", format, "text", formatObject, "json_schema")
}

// formatObject is the format of JSON without a schema.
const formatObject = "json_object"

// mentionsJSON reports whether a content contains the word, in any case.
func mentionsJSON(c *content) bool {
	return strings.Contains(strings.ToLower(contentText(c, "")), "json")
}
