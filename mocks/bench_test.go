package mocks_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

// fixedAnswer is the answer of the lower bounds: the same completion as the script's.
const fixedAnswer = `{"id":"chatcmpl-1","object":"chat.completion","created":1767225600,"model":"gpt-4.1-mini",` +
	`"service_tier":"default","system_fingerprint":null,"choices":[{"index":0,"message":{"role":"assistant",` +
	`"content":"All tests pass now. DONE","refusal":null},"logprobs":null,"finish_reason":"stop"}],` +
	`"usage":{"prompt_tokens":50,"completion_tokens":6,"total_tokens":56,` +
	`"prompt_tokens_details":{"cached_tokens":0},"completion_tokens_details":{"reasoning_tokens":0}}}`

type roundTripFunc func(*http.Request) (*http.Response, error)

func (f roundTripFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func fixedTransport(r *http.Request) (*http.Response, error) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, ContentLength: int64(len(fixedAnswer)),
		Body: io.NopCloser(strings.NewReader(fixedAnswer)), Request: r,
	}, nil
}

// prompt is a text of about n bytes.
func prompt(n int) string {
	return strings.Repeat("Please fix the failing test of order 77. ", n/41+1)[:n]
}

// countBytes stands for a token counter that remembers what it has counted.
func countBytes(_, text string) int { return (len(text) + 3) / 4 }

func benchEngine(b *testing.B, text string) *mocks.Engine {
	b.Helper()
	script := mocks.Script{Model: "gpt-4.1-mini", Rules: []mocks.Line{{
		When: &mocks.When{User: &mocks.Match{Contains: "fix the failing test"}}, Answer: mocks.Answer{Text: mocks.Text(text)},
	}}}
	program, err := mocks.Compile(script)
	if err != nil {
		b.Fatal(err)
	}
	return mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual(), Count: countBytes, Keep: 16})
}

func clientOf(url string, rt http.RoundTripper) *openai.Client {
	config := openai.DefaultConfig("key")
	config.BaseURL, config.HTTPClient = url, &http.Client{Transport: rt}
	return openai.NewClientWithConfig(config)
}

func complete(b *testing.B, c *openai.Client, text string) {
	b.ReportAllocs()
	request := openai.ChatCompletionRequest{
		Model:    "gpt-4.1-mini",
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: text}},
	}
	for b.Loop() {
		r, err := c.CreateChatCompletion(context.Background(), request)
		if err != nil || r.Usage.CompletionTokens == 0 {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkInProcess compares one scripted call, matched and metered, with
// go-openai over a transport that returns fixed bytes.
func BenchmarkInProcess(b *testing.B) {
	for _, size := range []int{200, 20_000} {
		b.Run(fmt.Sprintf("floor/%d", size), func(b *testing.B) {
			complete(b, clientOf("http://mock/v1", roundTripFunc(fixedTransport)), prompt(size))
		})
		b.Run(fmt.Sprintf("mock/%d", size), func(b *testing.B) {
			engine := benchEngine(b, "All tests pass now. DONE")
			complete(b, clientOf("http://mock/v1", mocks.NewTransport(engine)), prompt(size))
		})
	}
}

// serve starts an HTTP server on a loopback port and returns its address.
func serve(tb testing.TB, h http.Handler) string {
	tb.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	server := &http.Server{Handler: h}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	tb.Cleanup(func() {
		_ = server.Close()
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			tb.Error(err)
		}
	})
	return "http://" + listener.Addr().String()
}

// bareHandler decodes and answers the same, with nothing in between.
func bareHandler(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Model    string `json:"model"`
		Messages []struct {
			Role    string `json:"role"`
			Content string `json:"content"`
		} `json:"messages"`
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Messages) == 0 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, fixedAnswer)
}

// chunks is the number of pieces of the benchmarks' streams.
const chunks = 50

// streamText is an answer of that many words.
var streamText = strings.TrimSpace(strings.Repeat("word ", chunks))

// bareStream sends as many chunks as the mock does for streamText.
func bareStream(w http.ResponseWriter, r *http.Request) {
	if _, err := io.Copy(io.Discard, r.Body); err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	flusher := w.(http.Flusher)
	flusher.Flush()
	for range chunks + 2 {
		_, _ = io.WriteString(w, `data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1767225600,`+
			`"model":"gpt-4.1-mini","choices":[{"index":0,"delta":{"content":"word "},"finish_reason":null}]}`+"\n\n")
		flusher.Flush()
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
	flusher.Flush()
}

func stream(b *testing.B, c *openai.Client) {
	b.ReportAllocs()
	request := openai.ChatCompletionRequest{
		Model: "gpt-4.1-mini", Stream: true,
		Messages: []openai.ChatCompletionMessage{{Role: "user", Content: prompt(200)}},
	}
	for b.Loop() {
		s, err := c.CreateChatCompletionStream(context.Background(), request)
		if err != nil {
			b.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = s.Recv()
		}
		if _ = s.Close(); !errors.Is(err, io.EOF) || n < chunks {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkLoopback compares one scripted call over a socket with a bare
// net/http handler, for an answer at once and for a stream.
func BenchmarkLoopback(b *testing.B) {
	mock := func(b *testing.B, text string) *openai.Client {
		server := &mocks.Server{}
		if err := server.Attach("1", benchEngine(b, text)); err != nil {
			b.Fatal(err)
		}
		return clientOf(serve(b, server)+"/t/1/v1", http.DefaultTransport)
	}
	b.Run("floor/call", func(b *testing.B) {
		complete(b, clientOf(serve(b, http.HandlerFunc(bareHandler)), http.DefaultTransport), prompt(200))
	})
	b.Run("mock/call", func(b *testing.B) {
		complete(b, mock(b, "All tests pass now. DONE"), prompt(200))
	})
	b.Run("floor/stream", func(b *testing.B) {
		stream(b, clientOf(serve(b, http.HandlerFunc(bareStream)), http.DefaultTransport))
	})
	b.Run("mock/stream", func(b *testing.B) {
		stream(b, mock(b, streamText))
	})
}

// load posts the same small request over 16 connections, with no client library
// in the way.
func load(b *testing.B, url string) {
	transport := &http.Transport{MaxIdleConnsPerHost: 16, MaxConnsPerHost: 16}
	defer transport.CloseIdleConnections()
	payload := []byte(`{"model":"gpt-4.1-mini","messages":[{"role":"user","content":"Please fix the failing test."}]}`)
	var failed atomic.Int64
	b.SetParallelism(8) // per processor; 16 on the two that targets are given for
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, _ := http.NewRequest(http.MethodPost, url+"/chat/completions", bytes.NewReader(payload))
			response, err := transport.RoundTrip(r)
			if err != nil {
				failed.Add(1)
				continue
			}
			if _, err := io.Copy(io.Discard, response.Body); err != nil || response.StatusCode != http.StatusOK {
				failed.Add(1)
			}
			_ = response.Body.Close()
		}
	})
	if n := failed.Load(); n > 0 {
		b.Fatalf("%d calls failed", n)
	}
}

// BenchmarkLoad compares the server under 16 connections with a bare handler that
// decodes and answers the same.
func BenchmarkLoad(b *testing.B) {
	b.Run("floor", func(b *testing.B) { load(b, serve(b, http.HandlerFunc(bareHandler))) })
	b.Run("mock", func(b *testing.B) {
		server := &mocks.Server{}
		if err := server.Attach("", benchEngine(b, "All tests pass now. DONE")); err != nil {
			b.Fatal(err)
		}
		load(b, serve(b, server)+"/v1")
	})
}
