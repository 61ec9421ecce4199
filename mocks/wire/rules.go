package wire

import (
	"fmt"
	"net/http"
	"slices"

	jsonv2 "github.com/go-json-experiment/json"
)

// The names of the rules, by which scripts relax or demand them.
const (
	ruleBlockType        = "block-type"
	ruleCacheControl     = "cache-control"
	ruleCombination      = "parameter-combination"
	ruleContentType      = "content-type"
	ruleMaxTokens        = "max-tokens"
	ruleMediaType        = "media-type"
	ruleMissingKey       = "missing-key"
	ruleMissingVersion   = "missing-version"
	ruleModelSupport     = "model-support"
	ruleRanges           = "ranges"
	ruleReasoningLimit   = "reasoning-max-tokens"
	ruleReasoningSampled = "reasoning-sampling"
	ruleSchemaName       = "schema-name"
	ruleStrictSchema     = "strict-schema"
	ruleToolSchema       = "tool-schema"
	ruleUnknownModel     = "unknown-model"
	ruleUnknownParameter = "unknown-parameter"
	ruleUnknownValue     = "unknown-value"
)

// RuleNames returns the names of all rules that Rules can relax or demand.
func RuleNames() []string {
	return []string{
		ruleBlockType, ruleCacheControl, ruleContentType, ruleMaxTokens, ruleMediaType, ruleMissingKey, ruleMissingVersion,
		ruleModelSupport, ruleCombination, ruleRanges, ruleReasoningLimit, ruleReasoningSampled, ruleSchemaName, ruleStrictSchema,
		ruleToolSchema, ruleUnknownModel, ruleUnknownParameter, ruleUnknownValue,
	}
}

// OptionalRules returns the names of the rules that apply only if a script demands them, because they
// refuse what tests usually do: calls without a key, and models that are not in the script.
func OptionalRules() []string { return []string{ruleBlockType, ruleMissingKey, ruleUnknownModel} }

// Rules are the provider's rules about requests that do not concern the meaning of the conversation, such as
// the names of parameters. Codecs validate everything else. OpenAI's rules apply only to its own models, because
// other services accept other requests; those about keys and models apply to all.
type Rules struct {
	// Relax names rules that do not apply, Demand optional rules that do.
	Relax, Demand []string
	// Model is the only model that exists; empty for any.
	Model string
}

// rule is one rule. check returns the provider's error.
type rule struct {
	name  string
	check func(*ruledRequest) *APIError
}

// ruledRequest is a request that rules are applied to.
type ruledRequest struct {
	header http.Header
	// model is the requested model, only the only one that exists.
	model, only string
	root        Root
	// ofOpenAI is true if OpenAI's rules apply: to its models, and to Azure's deployments.
	ofOpenAI bool
	fields   fields
	// tools are those of a Messages request, once they were needed.
	tools []anthropicTool
	// files are those of a multipart body.
	files []FormFile
}

// Check returns the provider's error for a decoded request that breaks a rule, or nil.
func (r Rules) Check(codec Codec, call *Call, header http.Header, body []byte) *APIError {
	request := ruledRequest{header: header, model: call.Model, only: r.Model}
	var rules []rule
	own, multipart := isOpenAI, false
	switch c := codec.(type) {
	case Images:
		request.root, rules, own, multipart = c.Root, imageRules, openAIMediaModel().MatchString, c.Edit
	case Speech:
		request.root, rules, own = c.Root, speechRules, openAIMediaModel().MatchString
	case Transcriptions:
		request.root, rules, own, multipart = c.Root, transcriptionRules, openAIMediaModel().MatchString, true
	case OpenAIChat:
		request.root, rules = c.Root, openAIChatRules
	case OpenAIResponses:
		request.root, rules = c.Root, openAIResponsesRules
	case AnthropicMessages:
		rules = anthropicRules
	case Gemini:
		rules = geminiRules
	}
	if rules == nil {
		return nil
	}
	request.ofOpenAI = request.root.Path != rootOpenRouter && (request.root.Deployment != "" || own(call.Model))
	if multipart {
		request.readForm(body)
	} else {
		request.fields.read(body)
	}
	return r.first(rules, &request)
}

// CheckAccess returns the provider's error for a request that is not a call of a model, such as an upload, and has no key or no
// version of the API, or is about an unknown model; nil if it may be answered. model is empty for a request that is not about a
// model of the script.
func (r Rules) CheckAccess(codec Codec, model string, header http.Header) *APIError {
	request := ruledRequest{header: header, model: model, only: r.Model}
	rules := openAIChatRules
	switch c := codec.(type) {
	case OpenAIChat:
		request.root = c.Root
	case AnthropicMessages:
		rules = anthropicRules
	case Stored:
		if c.anthropic() {
			rules = anthropicRules
		}
	case Gemini:
		rules = geminiRules
	}
	var access []rule
	for _, rule := range rules {
		switch {
		case rule.name == ruleMissingKey, rule.name == ruleMissingVersion, rule.name == ruleUnknownModel && model != "":
			access = append(access, rule)
		}
	}
	return r.first(access, &request)
}

// CheckBeside returns the provider's error for a request that is not a call and breaks a rule: one for embeddings, with the codec of
// chat completions, or one that counts the tokens of a call over Messages. It is nil for others, and for a body that cannot be read.
func (r Rules) CheckBeside(codec Codec, body []byte) *APIError {
	var request ruledRequest
	request.fields.read(body)
	request.read("model", &request.model)
	switch c := codec.(type) {
	case OpenAIChat:
		request.root = c.Root
		return r.first(embeddingRules, &request)
	case AnthropicMessages:
		return r.first(countRules, &request)
	}
	return nil
}

// first returns the error of the first rule that applies and that the request breaks.
func (r Rules) first(rules []rule, request *ruledRequest) *APIError {
	for _, rule := range rules {
		if !r.applies(rule.name) {
			continue
		}
		if err := rule.check(request); err != nil {
			err.Rule = rule.name
			return err
		}
	}
	return nil
}

// applies reports whether the rule with a name applies.
func (r Rules) applies(name string) bool {
	return !slices.Contains(r.Relax, name) && (!slices.Contains(OptionalRules(), name) || slices.Contains(r.Demand, name))
}

// has reports whether the request has a field that is not null.
func (r *ruledRequest) has(field string) bool { return given(r.fields.get(field)) }

// number returns a field that is a number; ok is false for others.
func (r *ruledRequest) number(field string) (n float64, ok bool) {
	v := r.fields.get(field)
	if v.Kind() != '0' {
		return 0, false
	}
	var value float64 // which Unmarshal moves to the heap
	ok = jsonv2.Unmarshal(v, &value) == nil
	return value, ok
}

// read decodes a field, and leaves v unchanged if the field does not have its type, which codecs check.
func (r *ruledRequest) read(field string, v any) {
	if value := r.fields.get(field); value != nil {
		_ = jsonv2.Unmarshal(value, v)
	}
}

// unknownFields returns the fields that are not among known, in order.
func (r *ruledRequest) unknownFields(known map[string]bool) []string {
	var unknown []string
	for _, f := range r.fields.list {
		if !known[f.name] {
			unknown = append(unknown, fmt.Sprintf("%.64s", f.name))
		}
	}
	slices.Sort(unknown)
	return unknown
}

// wordSet returns the set of words.
func wordSet(words ...string) map[string]bool {
	set := make(map[string]bool, len(words))
	for _, word := range words {
		set[word] = true
	}
	return set
}
