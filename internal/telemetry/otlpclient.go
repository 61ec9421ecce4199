package telemetry

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
)

const (
	maxElapsed   = time.Minute // of a batch with its retries
	maxErrorText = 4 << 10     // bytes of an error's text
)

// otlpClient sends batches of spans to a collector by OTLP over HTTP. It implements
// otlptrace.Client. The SDK's own client does the same, but links gRPC.
type otlpClient struct {
	*otlpSettings
	http *http.Client
}

func newOTLPClient(s *otlpSettings) *otlpClient {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = s.tls
	return &otlpClient{otlpSettings: s, http: &http.Client{Transport: transport, Timeout: s.timeout}}
}

// Start implements otlptrace.Client.
func (c *otlpClient) Start(context.Context) error { return nil }

// Stop implements otlptrace.Client.
func (c *otlpClient) Stop(context.Context) error {
	c.http.CloseIdleConnections()
	return nil
}

// UploadTraces implements otlptrace.Client. It retries after timeouts and retryable statuses.
func (c *otlpClient) UploadTraces(ctx context.Context, spans []*tracepb.ResourceSpans) error {
	body, err := c.encode(spans)
	if err != nil {
		return fmt.Errorf("encode spans: %w", err)
	}
	_, err = backoff.Retry(ctx, func() (struct{}, error) { return struct{}{}, c.post(ctx, body) },
		backoff.WithBackOff(backoff.NewExponentialBackOff()), backoff.WithMaxElapsedTime(maxElapsed))
	if err != nil {
		return fmt.Errorf("send spans: %w", err)
	}
	return nil
}

// encode returns the body of a request. TracesData has the fields of the request
// message, which is defined in a package that links gRPC.
func (c *otlpClient) encode(spans []*tracepb.ResourceSpans) (body []byte, err error) {
	data := &tracepb.TracesData{ResourceSpans: spans}
	if c.json {
		hexadecimalIDs(spans)
		body, err = protojson.MarshalOptions{UseEnumNumbers: true}.Marshal(data)
	} else {
		body, err = proto.Marshal(data)
	}
	if err != nil || !c.gzip {
		return body, err
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}

// hexadecimalIDs replaces ids by the bytes whose base64 form, which protojson writes, equals the
// hexadecimal form that OTLP requires.
func hexadecimalIDs(spans []*tracepb.ResourceSpans) {
	for _, resource := range spans {
		for _, scope := range resource.ScopeSpans {
			for _, span := range scope.Spans {
				span.TraceId, span.SpanId, span.ParentSpanId = hexDigits(span.TraceId), hexDigits(span.SpanId), hexDigits(span.ParentSpanId)
				for _, link := range span.Links {
					link.TraceId, link.SpanId = hexDigits(link.TraceId), hexDigits(link.SpanId)
				}
			}
		}
	}
}

func hexDigits(id []byte) []byte {
	decoded, _ := base64.StdEncoding.DecodeString(hex.EncodeToString(id)) // 16 or 32 digits
	return decoded
}

// post sends a request once. Errors that a retry cannot fix are permanent.
func (c *otlpClient) post(ctx context.Context, body []byte) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return backoff.Permanent(err)
	}
	req.Header = c.headers.Clone()
	req.Header.Set("Content-Type", "application/x-protobuf")
	if c.json {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := c.http.Do(req)
	if failed, ok := errors.AsType[*url.Error](err); ok && !failed.Timeout() {
		return backoff.Permanent(err) // the collector does not exist
	}
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxErrorText))
	if err != nil {
		return err
	}
	return responseError(resp, answer)
}

// responseError returns nil if the collector accepted the spans.
func responseError(resp *http.Response, answer []byte) error {
	if resp.StatusCode/100 == 2 {
		return nil
	}
	err := fmt.Errorf("%s returned %s: %q", resp.Request.URL.Redacted(), resp.Status, bytes.TrimSpace(answer))
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		if seconds, bad := strconv.Atoi(resp.Header.Get("Retry-After")); bad == nil && seconds > 0 {
			return backoff.RetryAfter(seconds)
		}
		return err
	}
	return backoff.Permanent(err)
}
