package view_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rehearse-dev/rehearse/view"
)

var _ = It("makes a span of each page, with its route and not its names", Label("H-04"), func(ctx SpecContext) {
	f := newFixture(ctx)
	spans := tracetest.NewSpanRecorder()
	f.serve(view.Options{Spans: sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(spans))})
	f.text("/")
	f.get("/runs/secret-name")
	Expect(spans.Ended()).To(HaveLen(2))
	Expect(spans.Ended()[0].Name()).To(Equal("GET /{$}"))
	missing := spans.Ended()[1]
	Expect(missing.Name()).To(Equal("GET /runs/{id}"))
	Expect(missing.Attributes()).To(ConsistOf(attribute.String("http.request.method", "GET"),
		attribute.String("http.route", "/runs/{id}"), attribute.Int("http.response.status_code", 404)))
})
