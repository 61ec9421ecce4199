package wire

import (
	"fmt"
	"mime"
	"net/http"
	"regexp"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// openAIChatRules are in the order in which the provider applies them.
var openAIChatRules = []rule{
	{ruleMissingKey, openAIKey},
	{ruleContentType, forOpenAI(openAIContentType)},
	{ruleUnknownModel, openAIUnknownModel},
	{ruleUnknownParameter, forOpenAI(chatParameters)},
	{ruleReasoningLimit, forOpenAI(reasoningLimit)},
	{ruleReasoningSampled, forOpenAI(reasoningSampling)},
	{ruleModelSupport, forOpenAI(chatSupport)},
	{ruleUnknownValue, forOpenAI(chatValues)},
	{ruleCombination, forOpenAI(chatCombinations)},
	{ruleRanges, forOpenAI(chatRanges)},
	{ruleSchemaName, forOpenAI(chatFormatName)},
	{ruleStrictSchema, forOpenAI(chatStrictSchemas)},
}

var openAIResponsesRules = []rule{
	{ruleMissingKey, openAIKey},
	{ruleContentType, forOpenAI(openAIContentType)},
	{ruleUnknownModel, openAIUnknownModel},
	{ruleUnknownParameter, forOpenAI(responsesParameters)},
	{ruleReasoningSampled, forOpenAI(reasoningSampling)},
	{ruleModelSupport, forOpenAI(responsesSupport)},
	{ruleUnknownValue, forOpenAI(responsesValues)},
	{ruleRanges, forOpenAI(responsesRanges)},
	{ruleSchemaName, forOpenAI(responsesFormatName)},
	{ruleStrictSchema, forOpenAI(responsesStrictSchemas)},
}

// forOpenAI limits a rule to OpenAI's models and Azure's deployments. OpenRouter accepts other
// parameters for them, too.
func forOpenAI(check func(*ruledRequest) *APIError) func(*ruledRequest) *APIError {
	return func(r *ruledRequest) *APIError {
		if !r.ofOpenAI {
			return nil
		}
		return check(r)
	}
}

// openAIKey requires a key: https://platform.openai.com/docs/api-reference/authentication, for Azure
// https://learn.microsoft.com/azure/ai-services/openai/reference#authentication.
func openAIKey(r *ruledRequest) *APIError {
	if r.header.Get("Api-Key") != "" || strings.TrimPrefix(r.header.Get("Authorization"), "Bearer ") != "" {
		return nil
	}
	e := &APIError{Status: http.StatusUnauthorized, Type: invalidRequest}
	if r.root.Deployment != "" {
		e.Code = "401"
		e.Message = "Access denied due to invalid subscription key or wrong API endpoint. " +
			"Make sure to provide a valid key for an active subscription and use a correct regional API endpoint for your resource."
		return e
	}
	e.Message = "You didn't provide an API key. You need to provide your API key in an Authorization header using Bearer auth " +
		"(i.e. Authorization: Bearer YOUR_KEY). You can obtain an API key from https://platform.openai.com/account/api-keys."
	return e
}

// openAIContentType requires JSON. The provider does not document the error: a form, which curl sends by default,
// is read as an empty request.
func openAIContentType(r *ruledRequest) *APIError {
	header := r.header.Get("Content-Type")
	if header == jsonType {
		return nil
	}
	kind, _, _ := mime.ParseMediaType(header)
	switch kind {
	case "", jsonType:
		return nil
	case "application/x-www-form-urlencoded":
		return bad("", "", "you must provide a model parameter")
	}
	e := bad("", "unsupported_content_type", "Unsupported content type: '%.64s'. This API method only accepts 'application/json' requests, "+
		"but you specified the header 'Content-Type: %.64s'. Please try again with a supported content type.", kind, header)
	e.Status = http.StatusUnsupportedMediaType
	return e
}

// openAIUnknownModel requires the model of the script:
// https://platform.openai.com/docs/guides/error-codes/api-errors.
func openAIUnknownModel(r *ruledRequest) *APIError {
	if r.only == "" || r.model == r.only {
		return nil
	}
	e := bad("", "model_not_found", "The model `%.64s` does not exist or you do not have access to it.", r.model)
	e.Status = http.StatusNotFound
	return e
}

// chatFields are those of https://platform.openai.com/docs/api-reference/chat/create.
var chatFields = wordSet(
	"audio", "frequency_penalty", "function_call", "functions", "logit_bias", "logprobs", "max_completion_tokens", "max_tokens",
	"messages", "metadata", "modalities", "model", "moderation", "n", "parallel_tool_calls", "prediction", "presence_penalty",
	"prompt_cache_key", "prompt_cache_options", "prompt_cache_retention", "reasoning_effort", "response_format", "safety_identifier", "seed",
	"service_tier", "stop", "store", "stream", "stream_options", "temperature", "tool_choice", "tools", "top_logprobs", "top_p",
	"user", "verbosity", "web_search_options",
)

// azureFields are those that Azure has in addition, see
// https://learn.microsoft.com/azure/ai-services/openai/reference.
var azureFields = wordSet("data_sources", "enhancements", "user_security_context")

func chatParameters(r *ruledRequest) *APIError {
	unknown := r.unknownFields(chatFields)
	switch {
	case len(unknown) == 0, r.root.Deployment != "" && azureFields[unknown[0]]:
		return nil
	case len(unknown) == 1:
		return bad("", "", "Unrecognized request argument supplied: %s", unknown[0])
	}
	return bad("", "", "Unrecognized request arguments supplied: %.500s", strings.Join(unknown, ", "))
}

// responsesFields are those of https://platform.openai.com/docs/api-reference/responses/create.
// Codex also sends client_metadata.
var responsesFields = wordSet(
	"background", "client_metadata", "context_management", "conversation", "include", "input", "instructions", "max_output_tokens",
	"max_tool_calls", "metadata", "model", "moderation", "parallel_tool_calls", "previous_response_id", "prompt", "prompt_cache_key",
	"prompt_cache_options", "prompt_cache_retention", "reasoning", "safety_identifier", "service_tier", "store", "stream", "stream_options",
	"temperature", "text", "tool_choice", "tools", "top_logprobs", "top_p", "truncation", "user",
)

func responsesParameters(r *ruledRequest) *APIError {
	if unknown := r.unknownFields(responsesFields); len(unknown) > 0 {
		return bad(unknown[0], "unknown_parameter", "Unknown parameter: '%s'.", unknown[0])
	}
	return nil
}

// The reasoning models, see https://platform.openai.com/docs/guides/reasoning. Those that came after GPT-5 can be used without
// reasoning, and then take the parameters of other models.
var (
	reasoningModel = lazyregexp.New(`^(o[1-9]|gpt-5|codex-)`)
	alwaysReasons  = lazyregexp.New(`^(o[1-9]|gpt-5(-|$))`)
)

func (r *ruledRequest) reasoningModel(pattern *regexp.Regexp) bool {
	name := strings.TrimPrefix(r.model, "openai/")
	return pattern.MatchString(name) && !strings.Contains(name, "-chat")
}

// reasoningLimit refuses max_tokens for reasoning models, see max_tokens in
// https://platform.openai.com/docs/api-reference/chat/create.
func reasoningLimit(r *ruledRequest) *APIError {
	if !r.reasoningModel(reasoningModel()) || !r.has("max_tokens") {
		return nil
	}
	return bad("max_tokens", "unsupported_parameter",
		"Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
}

// reasoningSampling refuses parameters of sampling for models that reason, see
// https://platform.openai.com/docs/guides/latest-model.
func reasoningSampling(r *ruledRequest) *APIError {
	if !r.reasoningModel(reasoningModel()) || !r.reasoningModel(alwaysReasons()) && !r.demandsReasoning() {
		return nil
	}
	for _, p := range []struct {
		name    string
		neutral float64
	}{{"temperature", 1}, {"top_p", 1}, {"presence_penalty", 0}, {"frequency_penalty", 0}} {
		if value, ok := r.number(p.name); ok && value != p.neutral {
			return bad(p.name, "unsupported_value",
				"Unsupported value: '%s' does not support %v with this model. Only the default (%v) value is supported.", p.name, value, p.neutral)
		}
	}
	for _, name := range []string{"logprobs", "top_logprobs", "logit_bias"} {
		if r.has(name) && r.fields.get(name).Kind() != jsontext.KindFalse {
			return bad(name, "unsupported_parameter", "Unsupported parameter: '%s' is not supported with this model.", name)
		}
	}
	return nil
}

// demandsReasoning reports whether the request asks for reasoning, which is off by default.
func (r *ruledRequest) demandsReasoning() bool {
	var effort string
	r.read("reasoning_effort", &effort)
	var reasoning struct {
		Effort string `json:"effort"`
	}
	r.read("reasoning", &reasoning)
	effort += reasoning.Effort
	return effort != "" && effort != "none"
}

// chatRanges are the ranges in https://platform.openai.com/docs/api-reference/chat/create.
func chatRanges(r *ruledRequest) *APIError {
	for _, p := range []struct {
		name        string
		least, most float64
	}{{"top_p", 0, 1}, {"presence_penalty", -2, 2}, {"frequency_penalty", -2, 2}} {
		if err := r.checkRange(p.name, "decimal", p.least, p.most); err != nil {
			return err
		}
	}
	if r.has("stop") {
		var stop textOrList[string]
		r.read("stop", &stop)
		if n := len(stop.list); n > 4 {
			return bad("stop", "array_above_max_length",
				"Invalid 'stop': array too long. Expected an array with maximum length 4, but got an array with length %d instead.", n)
		}
	}
	if tools := r.fields.get("tools"); tools.Kind() == '[' {
		var list []jsontext.Value
		if r.read("tools", &list); len(list) == 0 {
			return emptyArray("tools")
		}
	}
	if r.has("top_logprobs") && r.fields.get("logprobs").Kind() != jsontext.KindTrue {
		return bad("top_logprobs", "", "The 'top_logprobs' parameter is only allowed when 'logprobs' is enabled.")
	}
	return r.checkRange("top_logprobs", "integer", 0, 20)
}

// responsesRanges are the ranges in https://platform.openai.com/docs/api-reference/responses/create.
func responsesRanges(r *ruledRequest) *APIError {
	return r.checkRange("top_logprobs", "integer", 0, 20)
}

// checkRange validates a field that is a number.
func (r *ruledRequest) checkRange(param, kind string, least, most float64) *APIError {
	value, ok := r.number(param)
	switch {
	case !ok:
		return nil
	case value < least:
		return bad(param, kind+"_below_min_value",
			"Invalid '%s': %s below minimum value. Expected a value >= %v, but got %v instead.", param, kind, least, value)
	case value > most:
		return bad(param, kind+"_above_max_value",
			"Invalid '%s': %s above maximum value. Expected a value <= %v, but got %v instead.", param, kind, most, value)
	}
	return nil
}

// chatStrictSchemas validates the schemas that demand to be followed.
func chatStrictSchemas(r *ruledRequest) *APIError {
	if !r.has("tools") && !r.has("response_format") {
		return nil
	}
	var tools []struct {
		Function struct {
			strictSchema
			Parameters jsontext.Value `json:"parameters"`
		} `json:"function"`
	}
	r.read("tools", &tools)
	for i := range tools {
		f := &tools[i].Function
		if err := f.checkFunction(fmt.Sprintf("tools[%d].function.parameters", i), f.Parameters); err != nil {
			return err
		}
	}
	var format struct {
		JSONSchema strictFormat `json:"json_schema"`
	}
	r.read("response_format", &format)
	return format.JSONSchema.check("response_format", "response_format.json_schema.schema")
}

// responsesStrictSchemas does the same over Responses.
func responsesStrictSchemas(r *ruledRequest) *APIError {
	var tools []struct {
		strictSchema
		Parameters jsontext.Value `json:"parameters"`
	}
	r.read("tools", &tools)
	for i := range tools {
		if err := tools[i].checkFunction(fmt.Sprintf("tools[%d].parameters", i), tools[i].Parameters); err != nil {
			return err
		}
	}
	var text struct {
		Format strictFormat `json:"format"`
	}
	r.read("text", &text)
	return text.Format.check("text.format.schema", "text.format.schema")
}
