package wire_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// prompt is about n bytes of text with line ends and quotes, as prompts have.
func prompt(n int) string {
	const line = "Fix the \"failing\" test in loop_test.go and say what was wrong with it.\n"
	return strings.Repeat(line, n/len(line)+1)[:n]
}

func requestBody(promptSize int) []byte {
	body, _ := json.Marshal(openai.ChatCompletionRequest{
		Model:    "gpt-4.1-mini",
		Messages: []openai.ChatCompletionMessage{{Role: "system", Content: "Be brief."}, {Role: "user", Content: prompt(promptSize)}},
		Metadata: map[string]string{"purpose": "loop"},
	})
	return body
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []struct {
		name  string
		bytes int
	}{{"200B", 200}, {"20KB", 20_000}} {
		body := requestBody(size.bytes)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				if _, e := codec.Decode(body); e != nil {
					b.Fatal(e)
				}
			}
		})
		b.Run(size.name+"/floor", func(b *testing.B) { // encoding/json, no validation
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				var r openai.ChatCompletionRequest
				if err := json.Unmarshal(body, &r); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	answer := wire.Completion{
		ID: "chatcmpl-1", Model: "gpt-4.1-mini", Text: strings.TrimSpace(strings.Repeat("token ", 47)),
		Finish: llm.FinishStop, Usage: llm.Usage{Input: 50, Output: 47},
	}
	for _, mode := range []struct {
		name string
		call wire.Call
	}{{"body", plainCall}, {"stream50", streamCall}} {
		frames := codec.Encode(mode.call, answer)
		size := 0
		for _, f := range frames {
			size += len(f.Data)
		}
		b.Run(mode.name, func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				codec.Encode(mode.call, answer)
			}
		})
		b.Run(mode.name+"/floor", func(b *testing.B) { // the same bytes copied
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				buf := make([]byte, 0, size)
				for _, f := range frames {
					buf = append(buf, f.Data...)
				}
				runtime.KeepAlive(buf)
			}
		})
	}
}

func BenchmarkFault(b *testing.B) {
	for _, kind := range []string{"status", "truncated-stream", "empty-choices"} {
		fault, err := wire.NewFault(wire.FaultSpec{Kind: kind})
		if err != nil {
			b.Fatal(err)
		}
		b.Run(kind, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, ok := fault.Apply(codec, streamCall, textAnswer); !ok {
					b.Fatal("the fault did not fire")
				}
			}
		})
	}
}
