package otlp

import (
	"context"
	"net/http"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
)

// Upload sends spans as the environment asks for, through a transport.
func Upload(ctx context.Context, getenv func(string) string, transport http.RoundTripper, spans []*tracepb.ResourceSpans) error {
	s, err := readSettings(getenv)
	if err != nil {
		return err
	}
	c := newClient(s)
	c.http.Transport = transport
	return c.UploadTraces(ctx, spans)
}
