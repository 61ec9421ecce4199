package capture_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

const benchRequest = `{"model":"m","stream":true,"messages":[{"role":"user","content":"Fix the failing test."}]}`

// ticking answers with a stream of n events, pause apart.
func ticking(n int, pause time.Duration) http.Handler {
	chunk := []byte(`data: {"id":"c","model":"m","choices":[{"index":0,"delta":{"content":" word"},"finish_reason":null}]}` + "\n\n")
	last := []byte(`data: {"id":"c","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}` + "\n\ndata: [DONE]\n\n")
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for i := range n {
			if i > 0 {
				time.Sleep(pause)
			}
			_, _ = w.Write(chunk)
			_ = http.NewResponseController(w).Flush()
		}
		_, _ = w.Write(last)
	})
}

// paths are the ways to a handler: straight, through a bare reverse proxy, through a
// capture that keeps everything.
func paths(b *testing.B, h http.Handler) map[string]string {
	b.Helper()
	upstream := httptest.NewServer(h)
	b.Cleanup(upstream.Close)
	target, err := url.Parse(upstream.URL)
	if err != nil {
		b.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.DisableCompression = true
	b.Cleanup(transport.CloseIdleConnections)
	proxied := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: transport, FlushInterval: -1,
	}
	bare := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // else the transport may find it closed, and cut the answer off
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxied.ServeHTTP(w, r)
	}))
	b.Cleanup(bare.Close)
	journal, err := capture.CreateJournal(filepath.Join(b.TempDir(), "x.capture.jsonl"), tape.Header{Date: clock.Epoch, Upstream: target.Host})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = journal.Close() })
	proxy, err := capture.New(capture.Options{Upstream: upstream.URL, Frames: true, Keep: journal.Keep})
	if err != nil {
		b.Fatal(err)
	}
	through := httptest.NewServer(proxy)
	b.Cleanup(through.Close)
	return map[string]string{"1-floor": upstream.URL, "2-proxy": bare.URL, "3-capture": through.URL}
}

// post sends a request and calls read with each piece of the answer as it comes.
func post(b *testing.B, client *http.Client, root string, body string, read func(n int)) {
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, root+"/v1/chat/completions", strings.NewReader(body))
	if err != nil {
		b.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer the-key-of-the-client")
	response, err := client.Do(r)
	if err != nil {
		b.Fatal(err)
	}
	defer response.Body.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := response.Body.Read(buf)
		if n > 0 {
			read(n)
		}
		if err == io.EOF {
			return
		}
		if err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFirstByte compares the time to the first byte of a stream: straight to the
// upstream, through a bare reverse proxy and through a capture. There is a pause before
// the second piece, as models make one. The median is reported, as a machine that does other
// things as well spoils the mean.
func BenchmarkFirstByte(b *testing.B) {
	for _, size := range []int{0, 100_000} {
		request := strings.Replace(benchRequest, "failing", strings.Repeat("failing ", size/8), 1)
		roots := paths(b, ticking(2, time.Millisecond))
		for _, name := range []string{"1-floor", "2-proxy", "3-capture"} {
			b.Run(name+"/request-"+strconv.Itoa(len(request)), func(b *testing.B) {
				client := &http.Client{Transport: &http.Transport{}}
				defer client.CloseIdleConnections()
				var took []time.Duration
				for b.Loop() {
					began, first := time.Now(), time.Duration(0)
					post(b, client, roots[name], request, func(int) {
						if first == 0 {
							first = time.Since(began)
						}
					})
					took = append(took, first)
				}
				slices.Sort(took)
				b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "first-byte-ns")
			})
		}
	}
}

// BenchmarkGaps compares the gaps between pieces that leave the upstream 2 ms apart.
func BenchmarkGaps(b *testing.B) {
	const pause = 2 * time.Millisecond
	roots := paths(b, ticking(20, pause))
	for _, name := range []string{"1-floor", "2-proxy", "3-capture"} {
		b.Run(name, func(b *testing.B) {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			var gaps []time.Duration
			for b.Loop() {
				var last time.Time
				post(b, client, roots[name], benchRequest, func(int) {
					now := time.Now()
					if !last.IsZero() {
						gaps = append(gaps, now.Sub(last))
					}
					last = now
				})
			}
			slices.Sort(gaps)
			b.ReportMetric(float64(gaps[len(gaps)/2].Nanoseconds()), "gap-p50-ns")
			b.ReportMetric(float64(gaps[len(gaps)*95/100].Nanoseconds()), "gap-p95-ns")
		})
	}
}

// BenchmarkRedact finds and replaces secrets in a long stream, beside a copy of it.
func BenchmarkRedact(b *testing.B) {
	body := []byte(streamOf("anthropic-messages", slices.Repeat([]string{"some", " words", " of", " a model", " " + apiKey[:12], apiKey[12:]}, 300)))
	b.Run("floor", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			_ = bytes.Clone(body)
		}
	})
	b.Run("redact", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			capture.Redact(body, true, nil, forms.Find)
		}
	})
}
