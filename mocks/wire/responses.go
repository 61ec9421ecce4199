package wire

import (
	"net/http"

	"github.com/rehearse-dev/rehearse/llm"
)

// OpenAIResponses speaks the Responses protocol of OpenAI's API as
// https://platform.openai.com/docs/api-reference/responses describes it. Fields
// and items that have no neutral form are tolerated. Three differences are meant:
// thinking that a script gives is sent as a summary whether or not one was asked
// for; conversations and prompts that the provider keeps add no messages; and the
// instructions and the tools are not repeated in the answer.
type OpenAIResponses struct {
	// Store resolves references to earlier answers, and keeps answers for later ones; nil
	// leaves references as they are.
	Store *ResponseStore
}

var _ Codec = OpenAIResponses{}

// Protocol implements Codec.
func (OpenAIResponses) Protocol() string { return "openai-responses" }

// ForRequest implements Reader.
func (OpenAIResponses) ForRequest(_ http.Header, store *ResponseStore) Reader {
	return OpenAIResponses{Store: store}
}

// EncodeError implements Codec; the shape is that of OpenAIChat.
func (OpenAIResponses) EncodeError(e *APIError) []Frame { return OpenAIChat{}.EncodeError(e) }

// EncodeTokens answers POST /v1/responses/input_tokens.
func (OpenAIResponses) EncodeTokens(input int) []Frame {
	return jsonFrames("", jsonText(`{"object":"response.input_tokens","input_tokens":`).int(input).raw(`}`))
}

// toolKind describes the calls of a tool that is not a plain function.
type toolKind struct {
	// item is the type of the item that calls it, field the member with what the
	// model wrote, a text or an object.
	item, field string
	object      bool
	// namespace is where the tool belongs, name what it is called there; both are
	// empty for a tool of no namespace.
	namespace, name string
}

// toolKinds are the kinds by the type of the tool.
var toolKinds = map[string]toolKind{
	toolFunction:  {item: itemFunctionCall, field: "arguments"},
	toolCustom:    {item: itemCustomCall, field: "input"},
	"local_shell": {item: "local_shell_call", field: "action", object: true},
	"shell":       {item: "shell_call", field: "action", object: true},
	"apply_patch": {item: "apply_patch_call", field: "operation", object: true},
}

// The types of tools and tool choices that rules are about.
const (
	toolFunction  = "function"
	toolCustom    = "custom"
	choiceAllowed = "allowed_tools"
)

// The types of items that rules are about.
const (
	itemMessage      = "message"
	itemFunctionCall = "function_call"
	itemCustomCall   = "custom_tool_call"
	itemReasoning    = "reasoning"
)

// kindOf returns the kind of item that calls a tool.
func (c *Call) kindOf(tool string) toolKind {
	if k, ok := c.kinds[tool]; ok {
		return k
	}
	return toolKinds[toolFunction]
}

// responseStatus returns the status of an answer that has ended.
func responseStatus(c Completion) (status, incomplete string) {
	switch c.Finish {
	case llm.FinishLength:
		return "incomplete", "max_output_tokens"
	case llm.FinishContentFilter:
		return "incomplete", "content_filter"
	default:
		return "completed", ""
	}
}
