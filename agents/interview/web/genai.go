package web

import (
	"go.opentelemetry.io/otel/attribute"
	// The last version with the conventions for generative AI.
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"

	"github.com/rehearse-dev/rehearse/llm"
)

// The attributes that the semantic conventions do not define.
const (
	purposeKey = attribute.Key("interview.call.purpose")
	stepKey    = attribute.Key("interview.step")
	attemptKey = attribute.Key("interview.call.attempt")
	costKey    = attribute.Key("interview.call.cost_eur")
	codeKey    = attribute.Key("interview.code")
)

func requestAttributes(provider string, req llm.Request) []attribute.KeyValue {
	attrs := []attribute.KeyValue{
		semconv.GenAIOperationNameChat,
		semconv.GenAIProviderNameKey.String(provider),
		purposeKey.String(req.Purpose),
		stepKey.String(req.Tags["step"]),
		attemptKey.String(req.Tags["attempt"]),
	}
	if req.Model != "" {
		attrs = append(attrs, semconv.GenAIRequestModel(req.Model))
	}
	if req.MaxTokens > 0 {
		attrs = append(attrs, semconv.GenAIRequestMaxTokens(req.MaxTokens))
	}
	if req.Temperature != nil {
		attrs = append(attrs, semconv.GenAIRequestTemperature(*req.Temperature))
	}
	return attrs
}

func replyAttributes(reply llm.Reply) []attribute.KeyValue {
	var attrs []attribute.KeyValue
	if reply.Model != "" {
		attrs = append(attrs, semconv.GenAIResponseModel(reply.Model))
	}
	if reply.Finish != "" {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(string(reply.Finish)))
	}
	return append(attrs, usageAttributes(reply.Usage)...)
}

// usageAttributes returns the token counts of a call, nil if they are unknown. In the
// conventions, input includes cached input.
func usageAttributes(u *llm.Usage) []attribute.KeyValue {
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
