package web

import (
	"context"
	"net/http"
	"strings"

	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/rehearse-dev/rehearse/clock"
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
}

func (t Tracer) start(ctx context.Context, name string, o ...trace.SpanStartOption) (context.Context, trace.Span) {
	return t.Provider.Tracer(tracerScope).Start(ctx, name, append(o, trace.WithTimestamp(t.Clock.Now()))...)
}

// Backend wraps a backend with a client span for each call. The span contains neither the request
// nor the reply.
func (t Tracer) Backend(b llm.Backend) llm.Backend {
	if t.Provider == nil {
		return b
	}
	return llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		name := strings.TrimSpace("chat " + req.Model)
		ctx, span := t.start(ctx, name, trace.WithSpanKind(trace.SpanKindClient),
			trace.WithAttributes(requestAttributes(t.System, req)...))
		reply, err := b.Complete(ctx, req)
		if err != nil {
			kind := errorKind(err)
			span.SetStatus(codes.Error, kind)
			span.SetAttributes(errorType(kind))
		} else {
			span.SetAttributes(replyAttributes(reply)...)
		}
		span.End(trace.WithTimestamp(t.Clock.Now()))
		return reply, err
	})
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
	if t.Provider == nil {
		return r.Context(), func(string, int, string) {}
	}
	ctx = propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	ctx, span := t.start(ctx, methodName(r.Method), trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(methodAttribute(r)))
	return ctx, func(route string, status int, code string) {
		if _, path, ok := strings.Cut(route, " "); ok {
			route = path
		}
		if route != "" {
			span.SetName(methodName(r.Method) + " " + route)
		}
		span.SetAttributes(responseAttributes(route, status)...)
		if code != "" {
			span.SetAttributes(codeKey.String(code))
		}
		if status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, code)
			span.SetAttributes(errorType(code))
		}
		span.End(trace.WithTimestamp(t.Clock.Now()))
	}
}
