package telemetry

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.41.0"
	"go.opentelemetry.io/otel/trace"
)

// Tracer creates spans. The zero value is disabled.
type Tracer struct {
	// Provider exports the spans; nil disables them.
	Provider trace.TracerProvider
	// Scope is the instrumentation scope: the path of a package.
	Scope string
	// Now sets the times of spans; required with a Provider.
	Now func() time.Time
}

// Start begins a span. Call end once; an errorType other than "" marks the span as failed.
func (t Tracer) Start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (
	_ context.Context, end func(errorType string, attributes ...attribute.KeyValue),
) {
	ctx, _, end = t.start(ctx, name, kind, attributes...)
	return ctx, end
}

func (t Tracer) start(ctx context.Context, name string, kind trace.SpanKind, attributes ...attribute.KeyValue) (
	_ context.Context, span trace.Span, end func(errorType string, attributes ...attribute.KeyValue),
) {
	if t.Provider == nil {
		return ctx, trace.SpanFromContext(ctx), func(string, ...attribute.KeyValue) {}
	}
	ctx, span = t.Provider.Tracer(t.Scope).Start(ctx, name,
		trace.WithTimestamp(t.Now()), trace.WithSpanKind(kind), trace.WithAttributes(attributes...))
	return ctx, span, func(errorType string, attributes ...attribute.KeyValue) {
		if errorType != "" {
			span.SetStatus(codes.Error, errorType)
			span.SetAttributes(semconv.ErrorTypeKey.String(errorType))
		}
		span.SetAttributes(attributes...)
		span.End(trace.WithTimestamp(t.Now()))
	}
}

// Request begins the server span of a request, in the trace of the client if it has one. Call end
// once, with the matched pattern, the status, and the type of the error behind a status from 500.
func (t Tracer) Request(r *http.Request) (
	_ context.Context, end func(route string, status int, errorType string, attributes ...attribute.KeyValue),
) {
	if t.Provider == nil {
		return r.Context(), func(string, int, string, ...attribute.KeyValue) {}
	}
	ctx := propagation.TraceContext{}.Extract(r.Context(), propagation.HeaderCarrier(r.Header))
	method := MethodName(r.Method)
	ctx, span, finish := t.start(ctx, method, trace.SpanKindServer, methodAttribute(method))
	return ctx, func(route string, status int, errorType string, attributes ...attribute.KeyValue) {
		if _, path, ok := strings.Cut(route, " "); ok {
			route = path
		}
		attributes = append(attributes, semconv.HTTPResponseStatusCode(status))
		if route != "" {
			span.SetName(method + " " + route)
			attributes = append(attributes, semconv.HTTPRoute(route))
		}
		if status < http.StatusInternalServerError {
			errorType = ""
		}
		finish(errorType, attributes...)
	}
}

// methods are the methods with their own name; clients may send any.
var methods = []string{http.MethodGet, http.MethodHead, http.MethodPost}

// MethodName returns a method, or "other": names that clients choose would make time series.
func MethodName(method string) string {
	if slices.Contains(methods, method) {
		return method
	}
	return "other"
}

func methodAttribute(name string) attribute.KeyValue {
	if name == "other" {
		return semconv.HTTPRequestMethodOther
	}
	return semconv.HTTPRequestMethodKey.String(name)
}
