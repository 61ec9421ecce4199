// Package telemetry exports the metrics of servers and workers to Prometheus, and their spans by
// OpenTelemetry (OTLP).
package telemetry

import (
	"context"
	"fmt"
	"os"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Spans returns a provider that exports spans of a service if the environment configures an endpoint;
// else it is nil. flush sends the remaining spans. warn receives the errors of the export.
func Spans(ctx context.Context, getenv func(string) string, service string, warn func(message string, err error)) (
	provider trace.TracerProvider, flush func(), err error,
) {
	if !otlpConfigured(getenv) {
		return nil, func() {}, nil
	}
	provider, closing, err := newOTLP(ctx, service)
	if err != nil {
		return nil, nil, err
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { warn("spans not sent", err) }))
	return provider, func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
		defer cancel()
		if err := closing(ctx); err != nil {
			warn("last spans not sent", err)
		}
	}, nil
}

// flushTime limits the sending of the last spans.
const flushTime = 5 * time.Second

// otlpConfigured reports whether the environment names an endpoint for spans, and neither
// OTEL_SDK_DISABLED nor OTEL_TRACES_EXPORTER disables the export.
func otlpConfigured(getenv func(string) string) bool {
	endpoint := getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") != ""
	exporter := getenv("OTEL_TRACES_EXPORTER")
	return endpoint && getenv("OTEL_SDK_DISABLED") != "true" && (exporter == "" || exporter == "otlp")
}

// newOTLP returns a provider that sends spans by OTLP over HTTP, configured by the standard variables
// OTEL_* (endpoint, headers, timeout, sampler, resource). OTEL_SERVICE_NAME overrides service. closing
// sends the remaining spans.
func newOTLP(ctx context.Context, service string) (_ trace.TracerProvider, closing func(context.Context) error, _ error) {
	settings, err := readOTLPSettings(os.Getenv) //nolint:forbidigo // resource.WithFromEnv reads the same environment
	if err != nil {
		return nil, nil, fmt.Errorf("set up the export of spans: %w", err)
	}
	exporter, err := otlptrace.New(ctx, newOTLPClient(settings))
	if err != nil {
		return nil, nil, fmt.Errorf("set up the export of spans: %w", err)
	}
	// The last attribute with a key wins, so that the environment overrides the service name.
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", service)),
		resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, nil, fmt.Errorf("describe this service for spans: %w; check OTEL_RESOURCE_ATTRIBUTES", err)
	}
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	return provider, provider.Shutdown, nil
}
