package incident

import "github.com/rehearse-dev/rehearse/llm"

// The attributes of token counts: of the semantic conventions and OpenLLMetry, of the Vercel AI SDK, and of
// OpenInference.
var (
	inputTokens = []string{
		"gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens", "ai.usage.inputTokens", "ai.usage.promptTokens", "llm.token_count.prompt",
	}
	outputTokens = []string{
		"gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens", "ai.usage.outputTokens", "ai.usage.completionTokens",
		"llm.token_count.completion",
	}
	cachedTokens = []string{
		"gen_ai.usage.cache_read.input_tokens", "gen_ai.usage.cache_read_input_tokens", "ai.usage.cachedInputTokens",
		"llm.token_count.prompt_details.cache_read",
	}
	writtenTokens = []string{
		"gen_ai.usage.cache_write.input_tokens", "gen_ai.usage.cache_creation.input_tokens", "gen_ai.usage.cache_creation_input_tokens",
		"llm.token_count.prompt_details.cache_write",
	}
	reasoningTokens = []string{
		"gen_ai.usage.reasoning.output_tokens", "gen_ai.usage.reasoning_tokens", "ai.usage.reasoningTokens",
		"llm.token_count.completion_details.reasoning",
	}
)

// usageOf returns the tokens of a call, nil if the span has none. In the conventions, input includes
// cached input.
func (s *source) usageOf(sp *span) *llm.Usage {
	in, hasIn := s.tokens(sp, inputTokens)
	out, hasOut := s.tokens(sp, outputTokens)
	if !hasIn || !hasOut {
		return nil
	}
	cached, _ := s.tokens(sp, cachedTokens)
	written, _ := s.tokens(sp, writtenTokens)
	reasoning, _ := s.tokens(sp, reasoningTokens)
	return usage(in, cached, written, out, reasoning)
}

// tokens returns the first of the attributes that exists, and reports one that is not a number.
func (s *source) tokens(sp *span, names []string) (n int, ok bool) {
	for _, name := range names {
		v := sp.attr(name)
		if v == nil {
			continue
		}
		if n, ok = v.number(); !ok {
			s.report(sp.from, "span %s: the attribute %s is not a number: %s; it is left out", sp.id, name, v.words())
		}
		return n, ok
	}
	return 0, false
}

// counts reads the token counts of a call from a document, and reports counts that are not numbers.
type counts struct {
	from *source
	document
	call    string // names the call within the document; empty for the only one
	unknown bool   // a count is not a number
}

// of returns the first of the members that exists; 0 if none does.
func (c *counts) of(v *value, names ...string) int {
	for _, name := range names {
		member := v.at(name)
		if member == nil {
			continue
		}
		n, ok := member.number()
		if !ok {
			c.unknown = true
			c.from.report(c.document, "%s%s is not a number: %s; the tokens of this call are unknown", c.call, name, member.words())
		}
		return n
	}
	return 0
}

// usage returns the tokens, nil if one of the counts is not a number.
func (c *counts) usage(in, cached, written, out, reasoning int) *llm.Usage {
	if c.unknown {
		return nil
	}
	return usage(in, cached, written, out, reasoning)
}

// usage returns token counts by a total of input that includes what was read from and written to the
// cache. Impossible counts are nil.
func usage(in, cached, written, out, reasoning int) *llm.Usage {
	if min(in-cached-written, cached, written, out, reasoning) < 0 {
		return nil
	}
	return &llm.Usage{
		Input: in - cached - written, CachedInput: cached, CacheWrite: written, Output: out, Reasoning: reasoning, Source: llm.UsageReported,
	}
}
