package wire

import (
	"fmt"
	"net/http"
	"strings"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// geminiRules are in the order in which the provider applies them.
var geminiRules = []rule{
	{ruleMissingKey, geminiKey},
	{ruleUnknownModel, geminiUnknownModel},
	{ruleUnknownParameter, geminiParameters},
	{ruleModelSupport, geminiSupport},
}

// geminiKey requires a key, see https://ai.google.dev/gemini-api/docs/api-key, or for Vertex AI a token.
func geminiKey(r *ruledRequest) *APIError {
	if r.header.Get("X-Goog-Api-Key") != "" || r.header.Get("Authorization") != "" {
		return nil
	}
	return &APIError{Status: http.StatusForbidden, Message: "Method doesn't allow unregistered callers " +
		"(callers without established identity). Please use API Key or other form of API consumer identity to call this API."}
}

// geminiUnknownModel requires the model of the script: https://ai.google.dev/gemini-api/docs/troubleshooting.
func geminiUnknownModel(r *ruledRequest) *APIError {
	if r.only == "" || r.model == r.only {
		return nil
	}
	e := google("", "models/%.64s is not found for API version v1beta, or is not supported for generateContent. "+
		"Call ListModels to see the list of available models and their supported methods.", r.model)
	e.Status = http.StatusNotFound
	return e
}

// geminiFields are those of https://ai.google.dev/api/generate-content#request-body, and of Vertex AI:
// https://cloud.google.com/vertex-ai/generative-ai/docs/model-reference/inference#request.
var geminiFields = protoNames(
	"cachedContent", "contents", "generationConfig", "labels", "model", "modelArmorConfig", "safetySettings", "serviceTier", "store",
	"systemInstruction", "toolConfig", "tools",
)

// geminiConfigFields are those of https://ai.google.dev/api/generate-content#generationconfig, and of Vertex AI.
var geminiConfigFields = protoNames(
	"_responseJsonSchema", "audioTimestamp", "audioTranscriptionConfig", "candidateCount", "enableAffectiveDialog",
	"enableEnhancedCivicAnswers", "frequencyPenalty", "imageConfig", "logprobs", "maxOutputTokens", "mediaResolution",
	"modelConfig", "presencePenalty", "responseFormat", "responseJsonSchema", "responseLogprobs", "responseMimeType", "responseModalities",
	"responseSchema", "routingConfig", "seed", "speechConfig", "stopSequences", "temperature", "thinkingConfig", "topK", "topP",
	"translationConfig",
)

// protoNames returns the set of names of protocol buffers in JSON: in camelCase and with underscores, see
// https://protobuf.dev/programming-guides/json/#field-names.
func protoNames(names ...string) map[string]bool {
	set := wordSet(names...)
	for _, name := range names {
		set[underscored(name)] = true
	}
	return set
}

// underscored returns a name in camelCase with underscores.
func underscored(name string) string {
	var b strings.Builder
	for _, letter := range name {
		if unicode.IsUpper(letter) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(letter))
	}
	return b.String()
}

// geminiParameters refuses unknown fields, with the message of Google's JSON parser for each of them.
func geminiParameters(r *ruledRequest) *APIError {
	var unknown []string
	add := func(names []string, at string) {
		for _, name := range names {
			unknown = append(unknown, fmt.Sprintf("Invalid JSON payload received. Unknown name %q%s: Cannot find field.", name, at))
		}
	}
	add(r.unknownFields(geminiFields), "")
	for _, name := range []string{"generationConfig", "generation_config"} {
		if value := r.fields.get(name); value.Kind() == '{' {
			var config ruledRequest
			config.fields.read(value)
			add(config.unknownFields(geminiConfigFields), " at 'generation_config'")
		}
	}
	if unknown == nil {
		return nil
	}
	const most = 10
	return google("", "%s", strings.Join(unknown[:min(len(unknown), most)], "\n"))
}

// withoutCombination matches the models that do not combine Google's tools with functions, see
// https://ai.google.dev/gemini-api/docs/tool-combination.
var withoutCombination = lazyregexp.New(`^gemini-2\.5-(pro|flash|flash-lite)$`)

// geminiSupport refuses a search together with functions for models that do not support it.
func geminiSupport(r *ruledRequest) *APIError {
	if !r.has("tools") || !withoutCombination().MatchString(r.model) {
		return nil
	}
	var tools oneOrMore[struct {
		Search       jsontext.Value            `json:"googleSearch"`
		Underscored  jsontext.Value            `json:"google_search"`
		Declarations oneOrMore[jsontext.Value] `json:"functionDeclarations"`
		Functions    oneOrMore[jsontext.Value] `json:"function_declarations"`
	}]
	r.read("tools", &tools)
	searches, functions := false, false
	for _, t := range tools {
		searches = searches || given(t.Search) || given(t.Underscored)
		functions = functions || len(t.Declarations)+len(t.Functions) > 0
	}
	if searches && functions {
		return google("", "Tool use with function calling is unsupported by the model.")
	}
	return nil
}
