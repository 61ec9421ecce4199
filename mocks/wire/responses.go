package wire

import "github.com/rehearse-dev/rehearse/llm"

// OpenAIResponses implements the Responses protocol of OpenAI's API, see
// https://platform.openai.com/docs/api-reference/responses. It ignores fields and items without a
// neutral form. It differs from the provider in three ways: it always sends scripted thinking as a
// summary; stored conversations and prompts add no messages; and answers do not repeat the
// instructions and the tools.
type OpenAIResponses struct {
	// Root of the path. It selects the service's form of errors.
	Root Root
	// Store stores answers and resolves references to earlier ones; nil disables both.
	Store *ResponseStore
}

var _ Codec = OpenAIResponses{}

// Protocol implements Codec.
func (OpenAIResponses) Protocol() string { return "openai-responses" }

// EncodeError implements Codec, in the form of OpenAIChat.
func (c OpenAIResponses) EncodeError(e *APIError) []Frame {
	return OpenAIChat{Root: c.Root}.EncodeError(e)
}

// DecodeCount parses a request to count tokens, which has the fields of a call.
func (c OpenAIResponses) DecodeCount(body []byte) (Call, *APIError) { return c.Decode(body) }

// EncodeTokens answers POST /v1/responses/input_tokens.
func (OpenAIResponses) EncodeTokens(input int) []Frame {
	return jsonFrames("", jsonText(`{"object":"response.input_tokens","input_tokens":`).int(input).raw(`}`))
}

// toolKind describes the calls of a type of tool.
type toolKind struct {
	// item is the type of the item of a call, field its field with the model's output, which
	// is an object or a string.
	item, field string
	object      bool
	// namespace and name are set for a tool of a namespace.
	namespace, name string
}

// toolKinds maps types of tools to their kinds.
var toolKinds = map[string]toolKind{
	toolFunction:  {item: itemFunctionCall, field: "arguments"},
	toolCustom:    {item: itemCustomCall, field: "input"},
	"local_shell": {item: "local_shell_call", field: "action", object: true},
	"shell":       {item: "shell_call", field: "action", object: true},
	"apply_patch": {item: "apply_patch_call", field: "operation", object: true},
}

// The types of tools and tool choices.
const (
	toolFunction  = "function"
	toolCustom    = "custom"
	choiceAllowed = "allowed_tools"
)

// The types of items.
const (
	itemMessage      = "message"
	itemFunctionCall = "function_call"
	itemCustomCall   = "custom_tool_call"
	itemReasoning    = "reasoning"
)

func (c *Call) kindOf(tool string) toolKind {
	if k, ok := c.kinds[tool]; ok {
		return k
	}
	return toolKinds[toolFunction]
}

// responseStatus returns the status of a complete answer.
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
