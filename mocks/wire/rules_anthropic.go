package wire

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// anthropicRules are in the order in which the provider applies them.
var anthropicRules = []rule{
	{ruleMissingKey, anthropicKey},
	{ruleMissingVersion, anthropicVersion},
	{ruleUnknownModel, anthropicUnknownModel},
	{ruleUnknownParameter, messagesParameters},
	{ruleToolSchema, forClaude(toolSchemas)},
	{ruleUnknownValue, forClaude(providedTools)},
	{ruleMaxTokens, anthropicMaxTokens},
	{ruleBlockType, blockTypes},
	{ruleMediaType, imageTypes},
	{ruleCacheControl, cacheControl},
	{ruleModelSupport, claudeSupport},
	{ruleStrictSchema, forClaude(claudeFormat)},
}

// anthropicKey requires a key: https://docs.anthropic.com/en/api/overview#authentication.
func anthropicKey(r *ruledRequest) *APIError {
	if r.header.Get("X-Api-Key") != "" || r.header.Get("Authorization") != "" {
		return nil
	}
	return &APIError{Status: http.StatusUnauthorized, Type: "authentication_error", Message: "x-api-key header is required"}
}

// anthropicVersion requires a version, which every endpoint does: https://docs.anthropic.com/en/api/versioning. That of models
// lists it among its headers: https://docs.anthropic.com/en/api/models-list.
func anthropicVersion(r *ruledRequest) *APIError {
	if r.header.Get("Anthropic-Version") != "" || r.has("anthropic_version") {
		return nil
	}
	return refused("anthropic-version", "header is required")
}

// anthropicUnknownModel requires the model of the script: https://docs.anthropic.com/en/api/errors.
func anthropicUnknownModel(r *ruledRequest) *APIError {
	if r.only == "" || r.model == r.only {
		return nil
	}
	return &APIError{Status: http.StatusNotFound, Type: "not_found_error", Message: fmt.Sprintf("model: %.64s", r.model)}
}

// messagesFields are those of https://docs.anthropic.com/en/api/messages, of its betas, and of
// its form at other clouds.
var messagesFields = wordSet(
	"anthropic_beta", "anthropic_version", "billing_policy", "cache_control", "compaction", "container", "context_management", "diagnostics",
	"fallback_credit_token", "fallbacks", "inference_geo", "max_tokens", "mcp_servers", "messages", "metadata", "model", "output_config",
	"output_format", "service_tier", "speed", "stop_sequences", "stream", "system", "temperature", "thinking", "thread", "tool_choice",
	"tools", "top_k", "top_p", "user_profile_id", "workspace_id",
)

func messagesParameters(r *ruledRequest) *APIError {
	if unknown := r.unknownFields(messagesFields); len(unknown) > 0 {
		return refused(unknown[0], "Extra inputs are not permitted")
	}
	return nil
}

// outputLimits has the limits of the models whose limits are known, by the start of their names. See
// https://docs.anthropic.com/en/docs/about-claude/models/overview.
var outputLimits = []struct {
	model string
	limit float64
}{
	{"claude-3-haiku", 4096},
	{"claude-3-5-haiku", 8192},
	{"claude-sonnet-4-2", 64_000},
	{"claude-sonnet-4-5", 64_000},
	{"claude-haiku-4-5", 64_000},
	{"claude-opus-4-2", 32_000},
	{"claude-opus-4-1", 32_000},
	{"claude-opus-4-5", 64_000},
}

func anthropicMaxTokens(r *ruledRequest) *APIError {
	n, _ := r.number("max_tokens")
	for _, known := range outputLimits {
		if strings.HasPrefix(r.model, known.model) && n > known.limit {
			return refused("max_tokens", "%.0f > %.0f, which is the maximum allowed number of output tokens for %.64s", n, known.limit, r.model)
		}
	}
	return nil
}

// markedBlock is a block, a tool or a message, as far as rules are concerned.
type markedBlock struct {
	Type         string                  `json:"type"`
	CacheControl jsontext.Value          `json:"cache_control"`
	Content      textOrList[markedBlock] `json:"content"`
	Source       blockSource             `json:"source"`
}

// eachBlock calls do with each block of the messages until it returns an error.
func (r *ruledRequest) eachBlock(do func(param string, b *markedBlock) *APIError) *APIError {
	var messages []markedBlock
	r.read("messages", &messages)
	for i := range messages {
		if err := messages[i].each(fmt.Sprintf("messages.%d", i), do); err != nil {
			return err
		}
	}
	return nil
}

func (b *markedBlock) each(param string, do func(param string, b *markedBlock) *APIError) *APIError {
	for i := range b.Content.list {
		inner, at := &b.Content.list[i], fmt.Sprintf("%s.content.%d", param, i)
		if err := do(at, inner); err != nil {
			return err
		}
		if err := inner.each(at, do); err != nil {
			return err
		}
	}
	return nil
}

// blockNames are the types of https://docs.anthropic.com/en/api/messages and of its betas.
var blockNames = []string{
	"advisor_tool_result", "bash_code_execution_tool_result", "browser_state", "code_execution_tool_result", "compaction",
	"container_upload", "document", "fallback", "image", "mcp_tool_listing", "mcp_tool_result", "mcp_tool_use", "redacted_thinking",
	"search_result", "server_tool_use", "text", "text_editor_code_execution_tool_result", "thinking", "tool_addition", "tool_reference",
	"tool_removal", "tool_result", "tool_search_tool_result", "tool_use", "web_fetch_tool_result", "web_search_result",
	"web_search_tool_result",
}

func blockTypes(r *ruledRequest) *APIError {
	return r.eachBlock(func(param string, b *markedBlock) *APIError {
		if b.Type == "" || slices.Contains(blockNames, b.Type) {
			return nil
		}
		return unknownTag(param, b.Type, "'"+strings.Join(blockNames, "', '")+"'")
	})
}

// imageTypes are those of https://docs.anthropic.com/en/docs/build-with-claude/vision.
func imageTypes(r *ruledRequest) *APIError {
	return r.eachBlock(func(param string, b *markedBlock) *APIError {
		allowed := []string{"image/jpeg", "image/png", "image/gif", "image/webp"}
		if b.Type != blockImage || b.Source.Type != "base64" || slices.Contains(allowed, b.Source.MediaType) {
			return nil
		}
		return refused(param+".image.source.base64.media_type", "Input should be 'image/jpeg', 'image/png', 'image/gif' or 'image/webp'")
	})
}

// maxCacheMarks is the limit of https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching.
const maxCacheMarks = 4

// cacheControl limits the marks for the cache, and how long those for Anthropic's models last.
func cacheControl(r *ruledRequest) *APIError {
	if r.isClaude() {
		if err := checkTTL("cache_control", r.fields.get("cache_control")); err != nil {
			return err
		}
	}
	n := 0
	check := func(param string, mark jsontext.Value) *APIError {
		if !given(mark) {
			return nil
		}
		n++
		if !r.isClaude() {
			return nil
		}
		return checkTTL(param, mark)
	}
	if err := r.eachMark(check); err != nil {
		return err
	}
	if n > maxCacheMarks {
		return refused("", "A maximum of %d blocks with cache_control may be provided. Found %d.", maxCacheMarks, n)
	}
	return nil
}
