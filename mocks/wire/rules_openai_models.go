package wire

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// embeddingRules are those of /v1/embeddings.
var embeddingRules = []rule{{ruleModelSupport, embeddingSupport}}

// Models without certain parameters, each by its name alone or with a date.
var (
	withoutReasoning = lazyregexp.New(`^gpt-4(o|\.1)(-mini|-nano)?(-20[0-9]{2}-[0-9]{2}-[0-9]{2})?$`)
	withoutStop      = lazyregexp.New(`^(o3|o4-mini)(-20[0-9]{2}-[0-9]{2}-[0-9]{2})?$`)
)

// isModel reports whether the request is for a model of OpenAI that a pattern matches. The names at Azure are those
// of deployments, and gateways ("openai/gpt-4o") convert or drop what a model does not support.
func (r *ruledRequest) isModel(pattern *regexp.Regexp) bool {
	return !r.ofAzure() && pattern.MatchString(r.model)
}

// ofAzure reports whether the request is for Azure, by its path or its key.
func (r *ruledRequest) ofAzure() bool {
	return strings.HasPrefix(r.root.Path, "/openai") || r.header.Get("Api-Key") != ""
}

// chatSupport refuses parameters that a model does not have: reasoning_effort, which
// https://platform.openai.com/docs/guides/reasoning describes for reasoning models, and stop, see
// https://platform.openai.com/docs/api-reference/chat/create#chat-create-stop.
func chatSupport(r *ruledRequest) *APIError {
	if r.has("reasoning_effort") && r.isModel(withoutReasoning()) {
		return bad("", "", "Unrecognized request argument supplied: reasoning_effort")
	}
	if r.has("stop") && r.isModel(withoutStop()) {
		var stop textOrList[string]
		r.read("stop", &stop)
		if stop.text != "" || len(stop.list) > 0 {
			return bad("stop", "unsupported_parameter", "Unsupported parameter: 'stop' is not supported with this model.")
		}
	}
	return nil
}

// responsesSupport does the same over Responses. Whether these models accept the effort "none" is not documented.
func responsesSupport(r *ruledRequest) *APIError {
	if r.has("reasoning") && r.isModel(withoutReasoning()) && r.demandsReasoning() {
		return bad("reasoning.effort", "unsupported_parameter",
			"Unsupported parameter: 'reasoning.effort' is not supported with this model.")
	}
	return nil
}

// embeddingSupport refuses dimensions for the model before text-embedding-3, see
// https://platform.openai.com/docs/api-reference/embeddings/create#embeddings-create-dimensions.
func embeddingSupport(r *ruledRequest) *APIError {
	if r.has("dimensions") && !r.ofAzure() && r.model == "text-embedding-ada-002" {
		return bad("", "", "This model does not support specifying dimensions.")
	}
	return nil
}

// chatCombinations refuses parameters without the one that they depend on: parallel_tool_calls without tools, see
// https://platform.openai.com/docs/guides/function-calling#parallel-function-calling, and the modality audio without audio, see
// https://platform.openai.com/docs/api-reference/chat/create#chat-create-audio.
func chatCombinations(r *ruledRequest) *APIError {
	if r.has("parallel_tool_calls") && !r.has("tools") && !r.has("functions") {
		return bad("parallel_tool_calls", "",
			"Invalid value for 'parallel_tool_calls': 'parallel_tool_calls' is only allowed when 'tools' are specified.")
	}
	if r.has("modalities") && !r.has("audio") {
		var modalities []string
		r.read("modalities", &modalities)
		if slices.Contains(modalities, "audio") {
			return missing("audio")
		}
	}
	return nil
}

// efforts are those of https://platform.openai.com/docs/api-reference/chat/create#chat-create-reasoning_effort; which of them a
// model has is not checked.
var efforts = []string{"none", "minimal", "low", "medium", "high", "xhigh", "max"}

// includables are those of https://platform.openai.com/docs/api-reference/responses/create#responses-create-include.
var includables = []string{
	"file_search_call.results", "web_search_call.results", "web_search_call.action.sources", "message.input_image.image_url",
	"computer_call_output.output.image_url", "code_interpreter_call.outputs", "reasoning.encrypted_content", "message.output_text.logprobs",
}

// chatValues refuses values that are not documented for any model.
func chatValues(r *ruledRequest) *APIError {
	return checkEffort("reasoning_effort", r.fields.get("reasoning_effort"))
}

// responsesValues does the same over Responses.
func responsesValues(r *ruledRequest) *APIError {
	var reasoning struct {
		Effort jsontext.Value `json:"effort"`
	}
	r.read("reasoning", &reasoning)
	if err := checkEffort("reasoning.effort", reasoning.Effort); err != nil {
		return err
	}
	var include []string
	r.read("include", &include)
	for i, name := range include {
		if !slices.Contains(includables, name) {
			return unsupported(fmt.Sprintf("include[%d]", i), name, includables...)
		}
	}
	return nil
}

func checkEffort(param string, value jsontext.Value) *APIError {
	if value.Kind() != '"' || slices.Contains(efforts, unquoted(value)) {
		return nil
	}
	return unsupported(param, unquoted(value), efforts...)
}

// chatFormatName validates the name of an output format with a schema, see
// https://platform.openai.com/docs/api-reference/chat/create#chat-create-response_format.
func chatFormatName(r *ruledRequest) *APIError {
	if !r.has("response_format") {
		return nil
	}
	var format responseFormat
	r.read("response_format", &format)
	if format.JSONSchema == nil || format.Type != "json_schema" {
		return nil
	}
	return checkName("response_format.json_schema.name", format.JSONSchema.Name)
}

// responsesFormatName does the same over Responses.
func responsesFormatName(r *ruledRequest) *APIError {
	if !r.has("text") {
		return nil
	}
	var text struct {
		Format struct {
			Type string `json:"type"`
			Name string `json:"name"`
		} `json:"format"`
	}
	r.read("text", &text)
	if text.Format.Type != "json_schema" {
		return nil
	}
	return checkName("text.format.name", text.Format.Name)
}
