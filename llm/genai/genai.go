// Package genai builds the attributes of OpenTelemetry's conventions for generative AI
// that more than one exporter needs.
package genai

import (
	"go.opentelemetry.io/otel/attribute"
	// The last version of the conventions that contains those for generative AI.
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/rehearse-dev/rehearse/llm"
)

// Usage is what a call used, as attributes of its span; empty if it is not known.
// The conventions count cached input as input, too.
func Usage(u *llm.Usage) []attribute.KeyValue {
	if u == nil {
		return nil
	}
	return []attribute.KeyValue{
		semconv.GenAIUsageInputTokens(u.Input + u.CachedInput + u.CacheWrite),
		semconv.GenAIUsageOutputTokens(u.Output),
		semconv.GenAIUsageCacheReadInputTokens(u.CachedInput),
		semconv.GenAIUsageCacheCreationInputTokens(u.CacheWrite),
		semconv.GenAIUsageReasoningOutputTokens(u.Reasoning),
	}
}
