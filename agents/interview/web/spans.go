package web

import (
	"cmp"
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/telemetry"
	"github.com/rehearse-dev/rehearse/llm"
)

// tracerScope is the instrumentation scope of the spans.
const tracerScope = "github.com/rehearse-dev/rehearse/agents/interview/web"

// Tracer creates the spans of a service. The zero value is disabled.
type Tracer struct {
	// Provider exports the spans; nil disables them.
	Provider trace.TracerProvider
	// Clock sets the times of spans; required with a Provider.
	Clock clock.Clock
	// System is the provider of the models in the conventions, such as "openai".
	System string
	// CostEUR returns the cost of usage of a model in EUR, for the spans of calls; nil leaves it out.
	CostEUR func(model string, u llm.Usage) (float64, bool)
}

// spans returns the tracer of this service's spans.
func (t Tracer) spans() telemetry.Tracer {
	if t.Provider == nil {
		return telemetry.Tracer{}
	}
	return telemetry.Tracer{Provider: t.Provider, Scope: tracerScope, Now: t.Clock.Now}
}

// Backend wraps a backend with a client span for each call. The span contains neither the request
// nor the reply.
func (t Tracer) Backend(b llm.Backend) llm.Backend {
	if t.Provider == nil {
		return b
	}
	return llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		name := strings.TrimSpace("chat " + req.Model)
		ctx, end := t.spans().Start(ctx, name, trace.SpanKindClient, requestAttributes(t.System, req)...)
		reply, err := b.Complete(ctx, req)
		if err != nil {
			end(errorKind(err))
		} else {
			end("", append(replyAttributes(reply), t.costAttributes(cmp.Or(reply.Model, req.Model), reply.Usage)...)...)
		}
		return reply, err
	})
}

// costAttributes returns the cost of a call; nil if it is unknown.
func (t Tracer) costAttributes(model string, u *llm.Usage) []attribute.KeyValue {
	if t.CostEUR == nil || u == nil {
		return nil
	}
	cost, ok := t.CostEUR(model, *u)
	if !ok {
		return nil
	}
	return []attribute.KeyValue{costKey.Float64(cost)}
}

// errorKind returns the kind of a backend's error, whose text may quote a message.
func errorKind(err error) string {
	if kind := llm.KindOf(err); kind != "" {
		return string(kind)
	}
	return "_OTHER"
}

// request begins the server span of a request, in the trace of the client if it has one. Call end
// once, with the matched pattern and the code of the problem.
func (t Tracer) request(r *http.Request) (ctx context.Context, end func(route string, status int, code string)) {
	ctx, finish := t.spans().Request(r)
	return ctx, func(route string, status int, code string) {
		var attributes []attribute.KeyValue
		if code != "" {
			attributes = append(attributes, codeKey.String(code))
		}
		finish(route, status, code, attributes...)
	}
}
