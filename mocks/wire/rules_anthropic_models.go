package wire

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/llm"
)

// countRules are those of /v1/messages/count_tokens.
var countRules = []rule{{ruleUnknownParameter, forClaude(countParameters)}}

// forClaude limits a rule to Anthropic's models, as named by any cloud. Other vendors serve their models over the same
// protocol and accept other requests.
func forClaude(check func(*ruledRequest) *APIError) func(*ruledRequest) *APIError {
	return func(r *ruledRequest) *APIError {
		if !r.isClaude() {
			return nil
		}
		return check(r)
	}
}

func (r *ruledRequest) isClaude() bool { return strings.Contains(r.model, "claude-") }

// countParameters refuses a limit of the answer, which
// https://docs.anthropic.com/en/api/messages-count-tokens does not have.
func countParameters(r *ruledRequest) *APIError {
	if r.has("max_tokens") {
		return refused("max_tokens", "Extra inputs are not permitted")
	}
	return nil
}

// Models without certain parameters, each by its name alone or with a date.
var (
	// oneSampler: see https://docs.anthropic.com/en/docs/about-claude/models/migrating-to-claude-4. Later models have neither
	// temperature nor top_p, with other errors.
	oneSampler = lazyregexp.New(`^claude-(opus-4-1|opus-4-5|sonnet-4-5|sonnet-4-6|haiku-4-5)(-20[0-9]{6})?$`)
	// withoutPrefill: see https://docs.anthropic.com/en/docs/about-claude/models/whats-new-claude-4-6#prefill-removal.
	withoutPrefill = lazyregexp.New(`^claude-(opus-4-[678]|sonnet-4-6)(-20[0-9]{6})?$`)
	// withoutAdaptive: see https://docs.anthropic.com/en/docs/build-with-claude/adaptive-thinking#supported-models.
	withoutAdaptive = lazyregexp.New(`^claude-(opus-4|opus-4-[015]|sonnet-4|sonnet-4-[05]|haiku-4-5)(-20[0-9]{6})?$`)
)

// claudeSupport refuses what a model does not have: both temperature and top_p, an answer that the client begins, and
// adaptive thinking.
func claudeSupport(r *ruledRequest) *APIError {
	if r.has("temperature") && r.has("top_p") && oneSampler().MatchString(r.model) {
		return refused("", "`temperature` and `top_p` cannot both be specified for this model. Please use only one.")
	}
	if withoutAdaptive().MatchString(r.model) {
		var thinking anthropicThinking
		if r.read("thinking", &thinking); thinking.Type == "adaptive" {
			return refused("", "adaptive thinking is not supported on this model")
		}
	}
	if withoutPrefill().MatchString(r.model) && r.prefills() {
		return refused("", "This model does not support assistant message prefill. The conversation must end with a user message.")
	}
	return nil
}

// prefills reports whether the client begins the answer: the last message is text of the assistant. It may be an answer that a
// server's tool interrupted, which has other blocks, or one that a credit of a fallback authorizes.
func (r *ruledRequest) prefills() bool {
	if r.has("fallback_credit_token") {
		return false
	}
	var messages []struct {
		Role    string                  `json:"role"`
		Content textOrList[markedBlock] `json:"content"`
	}
	r.read("messages", &messages)
	if len(messages) == 0 {
		return false
	}
	last := &messages[len(messages)-1]
	for i := range last.Content.list {
		if last.Content.list[i].Type != "text" {
			return false
		}
	}
	return llm.Role(last.Role) == llm.Assistant && (last.Content.text != "" || len(last.Content.list) > 0)
}

// claudeFormat requires that an output format is closed, see
// https://docs.anthropic.com/en/docs/build-with-claude/structured-outputs#json-schema-limitations.
func claudeFormat(r *ruledRequest) *APIError {
	type format struct {
		Schema jsontext.Value `json:"schema"`
	}
	var config struct {
		Format format `json:"format"`
	}
	r.read("output_config", &config)
	if problem := schemaProblem(config.Format.Schema, nil, openObject); problem != "" {
		return refused("output_config.format.schema", "%s", problem)
	}
	var beta format
	r.read("output_format", &beta)
	if problem := schemaProblem(beta.Schema, nil, openObject); problem != "" {
		return refused("output_format.schema", "%s", problem)
	}
	return nil
}

// openObject returns what Anthropic objects to in an object of a schema, or "".
func openObject(s *schemaNode, _ []string) string {
	switch value := s.AdditionalProperties; value.Kind() {
	case jsontext.KindFalse:
		return ""
	case jsontext.KindTrue:
		return "For 'object' type, 'additionalProperties: true' is not supported. Please set 'additionalProperties' to false"
	default:
		return "For 'object' type, 'additionalProperties' must be explicitly set to false"
	}
}
