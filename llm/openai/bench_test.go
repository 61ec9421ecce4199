package openai_test

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	goopenai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/openai"
)

// fixed answers every request with the same bytes.
func fixed(a answer) http.RoundTripper {
	header, body := http.Header{}, []byte(a.body)
	for k, v := range a.header {
		header.Set(k, v)
	}
	return roundTrip(func(req *http.Request) (*http.Response, error) {
		if _, err := io.Copy(io.Discard, req.Body); err != nil {
			return nil, err
		}
		return &http.Response{StatusCode: 200, Header: header, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body)), Request: req}, nil
	})
}

var (
	benchWhole  = message(`"content":"`+strings.Repeat("word ", 20)+`"`, `"stop"`)
	benchStream = streamed(append(slices.Repeat([]string{text("word ")}, 50), finish("stop"), "[DONE]")...)
)

func prompt(size int) string { return strings.Repeat("prompt! ", size/8) }

// The floor: go-openai alone over the same transport.
func floor(b *testing.B, size int) {
	cfg := goopenai.DefaultConfig(key)
	cfg.BaseURL = loopback
	cfg.HTTPClient = &http.Client{Transport: fixed(benchWhole)}
	client := goopenai.NewClientWithConfig(cfg)
	content := prompt(size)
	b.ReportAllocs()
	for b.Loop() {
		res, err := client.CreateChatCompletion(b.Context(), goopenai.ChatCompletionRequest{
			Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: content}},
		})
		if err != nil || len(res.Choices) != 1 {
			b.Fatal(err)
		}
	}
}

func complete(b *testing.B, a answer, req llm.Request) {
	backend, err := openai.New(openai.Config{BaseURL: loopback, APIKey: key, Transport: fixed(a)})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if reply, err := backend.Complete(b.Context(), req); err != nil || reply.Text == "" {
			b.Fatal(err)
		}
	}
}

func ofSize(size int, stream bool) llm.Request {
	return llm.Request{Model: "m", Stream: stream, Messages: []llm.Message{{Role: llm.User, Content: prompt(size)}}}
}

func BenchmarkFloorWhole200B(b *testing.B) { floor(b, 200) }
func BenchmarkWhole200B(b *testing.B)      { complete(b, benchWhole, ofSize(200, false)) }
func BenchmarkFloorWhole20KB(b *testing.B) { floor(b, 20_000) }
func BenchmarkWhole20KB(b *testing.B)      { complete(b, benchWhole, ofSize(20_000, false)) }
func BenchmarkStream50(b *testing.B)       { complete(b, benchStream, ofSize(200, true)) }

func BenchmarkFloorStream50(b *testing.B) {
	cfg := goopenai.DefaultConfig(key)
	cfg.BaseURL = loopback
	cfg.HTTPClient = &http.Client{Transport: fixed(benchStream)}
	client := goopenai.NewClientWithConfig(cfg)
	content := prompt(200)
	b.ReportAllocs()
	for b.Loop() {
		stream, err := client.CreateChatCompletionStream(b.Context(), goopenai.ChatCompletionRequest{
			Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: content}},
		})
		if err != nil {
			b.Fatal(err)
		}
		var all strings.Builder
		for {
			chunk, err := stream.Recv()
			if err != nil {
				break
			}
			all.WriteString(chunk.Choices[0].Delta.Content)
		}
		if all.Len() != 250 {
			b.Fatal(all.String())
		}
		_ = stream.Close()
	}
}
