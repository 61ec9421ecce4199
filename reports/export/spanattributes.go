package export

import (
	"maps"
	"slices"

	"go.opentelemetry.io/otel/attribute"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Only this file depends on the semantic conventions.

// evaluationEvent is the event of the conventions for a verdict.
const evaluationEvent = "gen_ai.evaluation.result"

// maxText limits a text of a span, in characters.
const maxText = 1000

// providers are the names of the conventions by backend. The provider of other backends is
// unknown.
var providers = map[string]attribute.KeyValue{
	"openai": semconv.GenAIProviderNameOpenAI,
	"socket": semconv.GenAIProviderNameOpenAI,
	"codex":  semconv.GenAIProviderNameOpenAI,
	"claude": semconv.GenAIProviderNameAnthropic,
}

func resourceAttributes(run record.Run, altered bool) []*commonpb.KeyValue {
	attrs := []attribute.KeyValue{semconv.ServiceName("rehearse"), foreignText("rehearse.run", run.ID), foreignText("rehearse.tool", run.Tool)}
	if altered {
		attrs = append(attrs, attribute.Bool("rehearse.recording.altered", true))
	}
	for _, name := range slices.Sorted(maps.Keys(run.Labels)) {
		attrs = append(attrs, foreignText("rehearse.label."+sanitize.Line(name, maxText), run.Labels[name]))
	}
	return encodeAttributes(attrs)
}

func (t *spanTrial) agentAttributes() []*commonpb.KeyValue {
	f := t.facts
	attrs := []attribute.KeyValue{
		semconv.GenAIOperationNameInvokeAgent,
		semconv.GenAIAgentName(sanitize.Line(t.scenario.Agent, maxText)),
		foreignText("rehearse.scenario", t.scenario.Name),
		attribute.Int("rehearse.trial", t.Head.N),
		foreignText("rehearse.verdict", string(gate.VerdictOf(t.findings))),
		foreignText("rehearse.status", f.Run.Status),
		attribute.Int("rehearse.exit_code", f.Run.ExitCode),
		attribute.Int("rehearse.calls", f.Calls.Total),
		attribute.Int("rehearse.retries", f.Calls.Retries),
	}
	if provider, ok := providers[t.scenario.Backend]; ok {
		attrs = append(attrs, provider)
	}
	if t.scenario.Model != "" {
		attrs = append(attrs, semconv.GenAIRequestModel(sanitize.Line(t.scenario.Model, maxText)))
	}
	if f.Tokens.Known {
		attrs = append(attrs, semconv.GenAIUsageInputTokens(f.Tokens.Input+f.Tokens.Cached), semconv.GenAIUsageOutputTokens(f.Tokens.Output))
	}
	if f.Cost.Known {
		attrs = append(attrs, attribute.Float64("rehearse.cost.usd", f.Cost.USD), attribute.Float64("rehearse.cost.eur", f.Cost.EUR))
	}
	if len(t.scenario.Perturb) > 0 {
		var list []string
		for _, p := range t.scenario.Perturb {
			list = append(list, sanitize.Line(p, maxText))
		}
		attrs = append(attrs, attribute.StringSlice("rehearse.perturb", list))
	}
	return encodeAttributes(attrs)
}

func callAttributes(sc *record.Scenario, c *record.Call) []*commonpb.KeyValue {
	attrs := []attribute.KeyValue{semconv.GenAIOperationNameChat, attribute.Int("rehearse.call", c.N)}
	if provider, ok := providers[c.Backend]; ok {
		attrs = append(attrs, provider)
	}
	if sc.Model != "" {
		attrs = append(attrs, semconv.GenAIRequestModel(sanitize.Line(sc.Model, maxText)))
	}
	if c.Model != "" {
		attrs = append(attrs, semconv.GenAIResponseModel(sanitize.Line(c.Model, maxText)))
	}
	if c.Finish != "" {
		attrs = append(attrs, semconv.GenAIResponseFinishReasons(sanitize.Line(string(c.Finish), maxText)))
	}
	if c.Purpose != "" {
		attrs = append(attrs, foreignText("rehearse.call.purpose", c.Purpose))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Tags)) {
		attrs = append(attrs, foreignText("rehearse.call.tag."+sanitize.Line(name, maxText), c.Tags[name]))
	}
	attrs = append(attrs, usageAttributes(c.Usage)...)
	if usd, why := measure.CallCostUSD(sc, c); why == "" {
		attrs = append(attrs, attribute.Float64("rehearse.cost.usd", usd))
	}
	if c.Error != nil {
		attrs = append(attrs, semconv.ErrorTypeKey.String(sanitize.Line(string(c.Error.Kind), maxText)))
		if c.Error.Status > 0 {
			attrs = append(attrs, semconv.HTTPResponseStatusCode(c.Error.Status))
		}
	}
	return encodeAttributes(attrs)
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

func retryAttributes(k int, r llm.Retry) []*commonpb.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.Int("rehearse.retry", k+1), semconv.ErrorTypeKey.String(sanitize.Line(string(r.Kind), maxText)),
		attribute.Float64("rehearse.retry.wait_seconds", r.Wait.Seconds()),
	}
	if r.Status > 0 {
		attrs = append(attrs, semconv.HTTPResponseStatusCode(r.Status))
	}
	return encodeAttributes(attrs)
}

func faultAttributes(x *record.Exchange) []*commonpb.KeyValue {
	attrs := []attribute.KeyValue{
		attribute.Int("rehearse.exchange", x.N), attribute.Bool("rehearse.fault.fired", x.Fired),
		attribute.Bool("rehearse.delivered", x.Delivered),
	}
	for _, a := range [][2]string{{"rehearse.fault.kind", x.Fault}, {"rehearse.line", x.Line}, {"rehearse.problem", x.Problem}} {
		if a[1] != "" {
			attrs = append(attrs, foreignText(a[0], a[1]))
		}
	}
	if x.Status > 0 {
		attrs = append(attrs, semconv.HTTPResponseStatusCode(x.Status))
	}
	return encodeAttributes(attrs)
}

// eventAttributes returns the text, number and boolean attributes of an event, without the texts
// of conversations and files.
func eventAttributes(e *event.Event) []*commonpb.KeyValue {
	var attrs []attribute.KeyValue
	if e.Name != "" {
		attrs = append(attrs, foreignText("rehearse.event.name", e.Name))
	}
	if e.N > 0 {
		attrs = append(attrs, attribute.Int("rehearse.event.n", e.N))
	}
	private := measure.IsConversation(*e)
	if e.Detail != "" && !private {
		attrs = append(attrs, foreignText("rehearse.event.detail", e.Detail))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Attrs)) {
		if private && name == "user" {
			continue
		}
		key := "rehearse.event." + sanitize.Line(name, maxText)
		switch v := e.Attrs[name].(type) {
		case string:
			attrs = append(attrs, foreignText(key, v))
		case bool:
			attrs = append(attrs, attribute.Bool(key, v))
		case float64:
			attrs = append(attrs, attribute.Float64(key, v))
		}
	}
	return encodeAttributes(attrs)
}

func evaluationAttributes(v gate.Verdict, why string) []*commonpb.KeyValue {
	value := 0.0
	if v == gate.Pass {
		value = 1
	}
	attrs := []attribute.KeyValue{
		semconv.GenAIEvaluationName("verdict"), semconv.GenAIEvaluationScoreLabel(string(v)), semconv.GenAIEvaluationScoreValue(value),
	}
	if why != "" {
		attrs = append(attrs, semconv.GenAIEvaluationExplanation(why))
	}
	return encodeAttributes(attrs)
}

// foreignText returns an attribute of foreign text.
func foreignText(key, value string) attribute.KeyValue {
	return attribute.String(key, sanitize.Line(value, maxText))
}

// encodeAttributes converts attributes to those of OTLP. The first value of a key wins.
func encodeAttributes(attrs []attribute.KeyValue) []*commonpb.KeyValue {
	seen := map[attribute.Key]bool{}
	var out []*commonpb.KeyValue
	for _, a := range attrs {
		if seen[a.Key] {
			continue
		}
		seen[a.Key] = true
		out = append(out, &commonpb.KeyValue{Key: string(a.Key), Value: encodeValue(a.Value)})
	}
	return out
}

func encodeValue(v attribute.Value) *commonpb.AnyValue {
	switch v.Type() {
	case attribute.BOOL:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_BoolValue{BoolValue: v.AsBool()}}
	case attribute.INT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_IntValue{IntValue: v.AsInt64()}}
	case attribute.FLOAT64:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_DoubleValue{DoubleValue: v.AsFloat64()}}
	case attribute.STRINGSLICE:
		list := &commonpb.ArrayValue{}
		for _, s := range v.AsStringSlice() {
			list.Values = append(list.Values, &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: s}})
		}
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_ArrayValue{ArrayValue: list}}
	default:
		return &commonpb.AnyValue{Value: &commonpb.AnyValue_StringValue{StringValue: v.AsString()}}
	}
}
