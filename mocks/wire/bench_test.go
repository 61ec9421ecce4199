package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
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
				if _, ok := fault(codec, streamCall, textAnswer); !ok {
					b.Fatal("the fault did not fire")
				}
			}
		})
	}
}

// floorBlock is a message or an item as encoding/json reads it, without validation.
type floorBlock struct {
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content []struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// BenchmarkDecodeNewer is BenchmarkDecode for the newer protocols.
func BenchmarkDecodeNewer(b *testing.B) {
	for _, size := range []int{200, 20_000} {
		text, _ := json.Marshal(prompt(size))
		for _, p := range []struct {
			wire.Codec
			body string
		}{
			{wire.OpenAIResponses{}, `{"model":"m","input":[{"type":"message","role":"user","content":[{"type":"input_text","text":` + string(text) + `}]}]}`},
			{wire.AnthropicMessages{}, `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"text","text":` + string(text) + `}]}]}`},
		} {
			name, body := fmt.Sprintf("%s/%d", nameOf(p), size), []byte(p.body)
			b.Run(name, func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					if _, e := p.Decode(body); e != nil {
						b.Fatal(e)
					}
				}
			})
			b.Run(name+"/floor", func(b *testing.B) {
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					var r struct {
						Model           string
						Messages, Input []floorBlock
					}
					if err := json.Unmarshal(body, &r); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkEncodeNewer is BenchmarkEncode for the newer protocols, and for reading
// the same answer back, whose floor is to check that its events are JSON.
func BenchmarkEncodeNewer(b *testing.B) {
	answer := wire.Completion{
		ID: "resp_1", Model: "gpt-4.1-mini", Text: strings.TrimSpace(strings.Repeat("token ", 47)),
		Finish: llm.FinishStop, Usage: llm.Usage{Input: 50, Output: 47},
	}
	for _, p := range protocols {
		for _, call := range []wire.Call{plainCall, usageCall} {
			frames := p.Encode(call, answer)
			body := bodyOf(frames)
			name := nameOf(p) + map[bool]string{false: "/body", true: "/stream50"}[call.Stream]
			run := func(name string, what func()) {
				b.Run(name, func(b *testing.B) {
					b.SetBytes(int64(len(body)))
					b.ReportAllocs()
					for b.Loop() {
						what()
					}
				})
			}
			run(name+"/encode", func() { p.Encode(call, answer) })
			run(name+"/encode/floor", func() { // the same bytes copied
				buf := make([]byte, 0, len(body))
				for _, f := range frames {
					buf = append(buf, f.Data...)
				}
				runtime.KeepAlive(buf)
			})
			run(name+"/read", func() {
				if _, err := p.ReadAnswer(call.Stream, body); err != nil {
					b.Fatal(err)
				}
			})
			documents := documentsIn(frames)
			if len(documents) == 0 {
				b.Fatalf("%s: no JSON in %q", name, body)
			}
			run(name+"/read/floor", func() { // is each event JSON?
				for _, document := range documents {
					if !json.Valid(document) {
						b.Fatal("not JSON")
					}
				}
			})
		}
	}
}

// documentsIn gives the JSON document of each frame that has one, without what the protocol puts around it.
func documentsIn(frames []wire.Frame) [][]byte {
	var documents [][]byte
	for _, f := range frames {
		end := bytes.LastIndexByte(f.Data, '}') + 1
		for end > 0 {
			// The last brace may be a byte of a checksum.
			if document := documentBefore(f.Data[:end]); document != nil {
				documents = append(documents, document)
				break
			}
			end = bytes.LastIndexByte(f.Data[:end-1], '}') + 1
		}
	}
	return documents
}

func documentBefore(data []byte) []byte {
	for at, c := range data {
		if c == '{' && json.Valid(data[at:]) {
			return data[at:]
		}
	}
	return nil
}
