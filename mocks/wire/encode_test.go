package wire_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	openai "github.com/sashabaranov/go-openai"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

var codec = wire.OpenAIChat{}

var _ = Describe("Encode", Label("H-02"), func() {
	refusal := wire.Completion{ID: "chatcmpl-3", Model: "m", Refusal: "I will not do that.", Usage: llm.Usage{Output: 6}}
	jsonAnswer := wire.Completion{ID: "chatcmpl-4", Model: "m", Text: `{"status": "done"}`, Finish: llm.FinishStop}

	DescribeTable("gives the provider's frames for",
		func(name string, call wire.Call, answer wire.Completion) {
			expectGolden(name, render(codec.Encode(call, answer)))
		},
		Entry("a text", "text", plainCall, textAnswer),
		Entry("a streamed text", "text-stream", streamCall, textAnswer),
		Entry("a streamed text with usage", "text-stream-usage", usageCall, textAnswer),
		Entry("tool calls", "tools", plainCall, toolAnswer),
		Entry("streamed tool calls", "tools-stream", streamCall, toolAnswer),
		Entry("a refusal", "refusal", plainCall, refusal),
		Entry("a streamed refusal", "refusal-stream", streamCall, refusal),
		Entry("a JSON object", "json", wire.Call{Request: llm.Request{JSONMode: true}}, jsonAnswer),
		Entry("nothing", "nothing", plainCall, wire.Completion{}),
		Entry("nothing, streamed", "nothing-stream", streamCall, wire.Completion{}),
	)

	thoughtful := textAnswer
	thoughtful.Thinking, thoughtful.ToolCalls = "First I read.\nThen I write.", toolAnswer.ToolCalls
	nothing := wire.Completion{}
	for _, p := range protocols[1:] {
		DescribeTable("gives the frames of "+nameOf(p)+" for",
			func(name string, answer wire.Completion) {
				expectGolden(nameOf(p)+"-"+name, "== at once\n"+render(p.Encode(plainCall, answer))+"== streamed\n"+render(p.Encode(streamCall, answer)))
			},
			Entry("a text", "text", textAnswer),
			Entry("tool calls", "tools", toolAnswer),
			Entry("a thought, a text and tool calls", "thinking", thoughtful),
			Entry("a refusal", "refusal", refusal),
			Entry("nothing", "nothing", nothing),
		)

		It("gives the errors of "+nameOf(p), func() {
			var b strings.Builder
			for _, e := range []wire.APIError{
				{Status: 400, Type: "invalid_request_error", Param: "messages", Message: "no \"messages\""},
				{Status: 404, Type: "invalid_request_error", Code: "script_exhausted", Message: "no line is left"},
				{Status: 429, Type: "requests", Code: "rate_limit_exceeded", Message: "slow down", RetryAfter: 1500 * time.Millisecond},
				{Status: 529, Type: "overloaded_error", Message: "Overloaded"},
				{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "the budget is used up"},
			} {
				b.WriteString(render(p.EncodeError(&e)))
			}
			expectGolden(nameOf(p)+"-errors", b.String())
		})
	}

	It("calls custom tools over chat completions with a text, and reads that back", func() {
		call, apiErr := codec.Decode([]byte(asking(`"tools":[{"type":"custom","custom":{"name":"sh"}},{"type":"function","function":{"name":"f"}}]`)))
		Expect(apiErr).NotTo(HaveOccurred())
		answer := wire.Completion{ID: "chatcmpl-1", Model: "m", Finish: llm.FinishToolCalls, ToolCalls: []llm.ToolCall{
			{ID: "call_1", Name: "sh", Arguments: `{"input":"ls \"a b\" | wc"}`}, {ID: "call_2", Name: "f", Arguments: `{"a":1}`},
		}}
		for _, call.Stream = range []bool{false, true} {
			body := bodyOf(codec.Encode(call, answer))
			Expect(string(body)).To(ContainSubstring(`"id":"call_1","type":"custom","custom":{"name":"sh","input":"`))
			Expect(string(body)).To(ContainSubstring(`"id":"call_2","type":"function","function":{"name":"f","arguments":"`))
			back, err := codec.ReadAnswer(call.Stream, body)
			Expect(err).NotTo(HaveOccurred())
			Expect(back.ToolCalls).To(Equal(answer.ToolCalls))
		}
	})

	It("calls each tool of Responses in its own way", func() {
		call, apiErr := wire.OpenAIResponses{}.Decode([]byte(`{"model":"m","input":"hi","stream":true,"include":["reasoning.encrypted_content"],"tools":[
			{"type":"function","name":"f"},{"type":"custom","name":"exec"},{"type":"local_shell"},{"type":"shell"},{"type":"apply_patch"},
			{"type":"namespace","name":"ns","tools":[{"type":"function","name":"g"},{"type":"custom","name":"exec"}]}]}`))
		Expect(apiErr).NotTo(HaveOccurred())
		answer := wire.Completion{ID: "resp_1", Model: "m", Thinking: "hm", ToolCalls: []llm.ToolCall{
			{ID: "call_1", Name: "f", Arguments: `{"a":1}`},
			{ID: "call_2", Name: "exec", Arguments: `{"input":"text(\"hi\")"}`},
			{ID: "call_3", Name: "exec", Arguments: `{"input":"x","more":1}`},
			{ID: "call_4", Name: "local_shell", Arguments: `{"type":"exec","command":["ls"],"env":{}}`},
			{ID: "call_5", Name: "shell", Arguments: `{"commands":["ls"]}`},
			{ID: "call_6", Name: "apply_patch", Arguments: `{"type":"delete_file","path":"a"}`},
			{ID: "call_7", Name: "g", Arguments: `{}`},
			{ID: "call_8", Name: "ns.exec", Arguments: `{"input":"x"}`},
		}}
		frames := wire.OpenAIResponses{}.Encode(call, answer)
		expectGolden("openai-responses-tool-kinds", render(frames))
		got, err := wire.OpenAIResponses{}.ReadAnswer(true, bodyOf(frames))
		Expect(err).NotTo(HaveOccurred())
		answer.ToolCalls[2].Arguments = `{"input":"{\"input\":\"x\",\"more\":1}"}` // all of it is the text
		answer.ToolCalls[7].Name = "exec"
		Expect(got.ToolCalls).To(Equal(answer.ToolCalls))
	})

	It("takes equally long streamed or not in every protocol, and the first event comes after First", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			c := drawAnswer(t)
			c.First = time.Duration(rapid.IntRange(0, 1e10).Draw(t, "first"))
			c.PerToken = time.Duration(rapid.IntRange(0, 1e9).Draw(t, "per token"))
			want := c.First + c.PerToken*time.Duration(c.Usage.Output)
			for _, p := range protocols {
				frames := p.Encode(streamCall, c)
				var total time.Duration
				for _, f := range frames {
					total += f.Delay
				}
				if total != want || p.Encode(plainCall, c)[0].Delay != want {
					t.Fatalf("the stream of %s takes %s, not %s", nameOf(p), total, want)
				}
				if frames[0].Delay != 0 || frames[1].Delay != c.First {
					t.Fatalf("the first frames of %s come after %s and %s", nameOf(p), frames[0].Delay, frames[1].Delay)
				}
			}
		})
	})

	It("marks only the last item as cut off by the limit", func() {
		cut := thoughtful
		cut.Finish, cut.ToolCalls = llm.FinishLength, nil
		cut.Refusal = "and no more"
		body := string(wire.OpenAIResponses{}.Encode(plainCall, cut)[0].Data)
		Expect(strings.Count(body, `"type":"message","status":"completed"`)).To(Equal(1))
		Expect(strings.Count(body, `"type":"message","status":"incomplete"`)).To(Equal(1))
	})

	It("numbers the events of Responses from 0, without a gap", func() {
		for i, f := range (wire.OpenAIResponses{}).Encode(streamCall, thoughtful)[1:] {
			Expect(string(f.Data)).To(ContainSubstring(fmt.Sprintf(`"sequence_number":%d,`, i)))
		}
	})

	DescribeTable("gives the finish reason, which is by default",
		func(answer wire.Completion, want string) {
			Expect(parse(codec.Encode(plainCall, answer)).Choices[0].FinishReason).To(BeEquivalentTo(want))
			Expect(collect(codec.Encode(streamCall, answer)).finish).To(Equal(want))
		},
		Entry("stop", wire.Completion{Text: "x"}, "stop"),
		Entry("tool_calls with tool calls", wire.Completion{ToolCalls: toolAnswer.ToolCalls}, "tool_calls"),
		Entry("otherwise the finish reason of the answer", wire.Completion{Text: "x", Finish: llm.FinishLength}, "length"),
	)

	It("counts cached tokens as part of the prompt", func() {
		u := parse(codec.Encode(plainCall, textAnswer)).Usage
		Expect(u.PromptTokens).To(Equal(20 + 5 + 2))
		Expect(u.PromptTokensDetails.CachedTokens).To(Equal(5))
		Expect(u.CompletionTokens).To(Equal(12))
		Expect(u.CompletionTokensDetails.ReasoningTokens).To(Equal(3))
		Expect(u.TotalTokens).To(Equal(39))
		Expect(collect(codec.Encode(usageCall, textAnswer)).usage).To(Equal(&u))
	})

	It("takes equally long streamed or not, and the first byte of a stream comes after First", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			c := wire.Completion{
				Text:     rapid.String().Draw(t, "text"),
				Usage:    llm.Usage{Output: rapid.IntRange(0, 5000).Draw(t, "output")},
				First:    time.Duration(rapid.IntRange(0, 1e10).Draw(t, "first")),
				PerToken: time.Duration(rapid.IntRange(0, 1e9).Draw(t, "per token")),
			}
			want := c.First + c.PerToken*time.Duration(c.Usage.Output)
			frames := codec.Encode(streamCall, c)
			var total time.Duration
			for _, f := range frames {
				total += f.Delay
			}
			if total != want || codec.Encode(plainCall, c)[0].Delay != want {
				t.Fatalf("the stream takes %s, not %s", total, want)
			}
			if frames[0].Delay != 0 || frames[1].Delay != c.First {
				t.Fatalf("the first frames come after %s and %s", frames[0].Delay, frames[1].Delay)
			}
		})
	})

	DescribeTable("saturates delays and counts of extreme scripts and never makes them negative, with",
		func(first, perToken time.Duration, output int) {
			c := wire.Completion{Text: "a b c", First: first, PerToken: perToken, Usage: llm.Usage{Input: math.MaxInt, Output: output}}
			for _, fault := range []wire.FaultSpec{{Kind: "slow-drip", Delay: math.MaxInt64}, {Kind: "missing-done"}} {
				for _, call := range []wire.Call{plainCall, streamCall} {
					frames, _ := newFault(fault)(codec, call, c)
					longest := time.Duration(0)
					for _, f := range frames {
						Expect(f.Delay).To(BeNumerically(">=", 0))
						longest = max(longest, f.Delay)
					}
					Expect(longest).To(BeNumerically(">", 1_000_000*time.Hour/3))
				}
			}
			Expect(parse(codec.Encode(plainCall, c)).Usage.TotalTokens).To(Equal(math.MaxInt))
		},
		Entry("a product that overflows", -time.Second, time.Duration(1<<62), 3),
		Entry("a sum that overflows", time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), 1),
		Entry("both", time.Duration(math.MaxInt64), time.Duration(math.MaxInt64), math.MaxInt),
	)

	It("streams any text unchanged, in pieces that are each valid UTF-8", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			c := wire.Completion{
				ID: rapid.String().Draw(t, "id"), Text: rapid.String().Draw(t, "text"),
				Refusal: rapid.String().Draw(t, "refusal"), Model: rapid.String().Draw(t, "model"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "calls") {
				c.ToolCalls = append(c.ToolCalls, llm.ToolCall{
					ID: rapid.StringN(1, 9, 99).Draw(t, "id"), Name: rapid.StringN(1, 9, 99).Draw(t, "name"), Arguments: rapid.String().Draw(t, "arguments"),
				})
			}
			frames := codec.Encode(usageCall, c)
			for _, f := range frames {
				if !utf8.Valid(f.Data) {
					t.Fatalf("%q is not UTF-8", f.Data)
				}
			}
			got := collect(frames)
			if got.text != c.Text || got.refusal != c.Refusal || got.model != c.Model {
				t.Fatalf("got %+v", got)
			}
			for i, want := range c.ToolCalls {
				if *got.tools[i] != want {
					t.Fatalf("got %+v, want %+v", *got.tools[i], want)
				}
			}
		})
	})

	It("gives any answer as valid JSON with everything in it", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			c := wire.Completion{ID: rapid.String().Draw(t, "id"), Text: rapid.StringN(1, -1, -1).Draw(t, "text")}
			c.ToolCalls = []llm.ToolCall{{ID: "c", Name: "n", Arguments: rapid.String().Draw(t, "arguments")}}
			got := parse(codec.Encode(plainCall, c))
			m := got.Choices[0].Message
			if got.ID != c.ID || m.Content != c.Text || m.ToolCalls[0].Function.Arguments != c.ToolCalls[0].Arguments {
				t.Fatalf("got %+v", got)
			}
		})
	})

	It("streams a text without spaces in several chunks", func() {
		Expect(codec.Encode(streamCall, wire.Completion{Text: strings.Repeat("日", 100)})).To(HaveLen(24))
	})
})

var _ = Describe("EncodeError", Label("H-02"), func() {
	DescribeTable("gives the provider's shape",
		func(name string, e *wire.APIError) {
			expectGolden(name, render(codec.EncodeError(e)))
		},
		Entry("with every field", "error-full", &wire.APIError{
			Status: 400, Type: "invalid_request_error", Code: "invalid_type", Param: "messages[1].content", Message: `not "text"`,
		}),
		Entry("with a wait", "error-wait", &wire.APIError{Status: 429, Type: "requests", Message: "slow down", RetryAfter: 1200 * time.Millisecond}),
		Entry("with no fields", "error-bare", &wire.APIError{Status: 500}),
		Entry("of a quota", "error-quota", &wire.APIError{Status: 429, Type: "insufficient_quota", Code: "insufficient_quota", Message: "pay"}),
	)

	DescribeTable("shows clients whether to retry",
		func(status int, want string) {
			h := codec.EncodeError(&wire.APIError{Status: status})[0].Header
			Expect(h.Get("X-Should-Retry")).To(Equal(want))
		},
		Entry("400", 400, "false"), Entry("401", 401, "false"), Entry("404", 404, "false"), Entry("408", 408, "true"),
		Entry("409", 409, "true"), Entry("429", 429, "true"), Entry("500", 500, "true"), Entry("529", 529, "true"),
	)

	It("is an error with the message", func() {
		var err error = &wire.APIError{Message: "slow down"}
		Expect(err).To(MatchError("slow down"))
	})
})

var _ = Describe("OpenAIModels", Label("H-02"), func() {
	It("lists the model", func() {
		var list openai.ModelsList
		frames := wire.OpenAIChat{}.EncodeModels(`a"b`, time.Unix(5, 0))
		Expect(json.Unmarshal(frames[0].Data, &list)).To(Succeed())
		Expect(list.Models).To(ConsistOf(openai.Model{ID: `a"b`, Object: "model", CreatedAt: 5, OwnedBy: "rehearse"}))
	})
})

// parse reads an answer that is not streamed with another implementation.
func parse(frames []wire.Frame) openai.ChatCompletionResponse {
	GinkgoHelper()
	Expect(frames).To(HaveLen(1))
	var r openai.ChatCompletionResponse
	Expect(json.Unmarshal(frames[0].Data, &r)).To(Succeed())
	return r
}

// collected is the answer that a client assembles from a stream.
type collected struct {
	text, refusal, model, finish string
	tools                        []*llm.ToolCall
	usage                        *openai.Usage
	done                         bool
}

func collect(frames []wire.Frame) collected {
	GinkgoHelper()
	var c collected
	for _, f := range frames[1:] {
		data, ok := strings.CutPrefix(string(f.Data), "data: ")
		Expect(ok && strings.HasSuffix(data, "\n\n") && strings.Count(data, "\n") == 2).To(BeTrue(), "%q is not one event", f.Data)
		Expect(c.done).To(BeFalse(), "nothing follows [DONE]")
		if data = strings.TrimSpace(data); data == "[DONE]" {
			c.done = true
			continue
		}
		var r openai.ChatCompletionStreamResponse
		Expect(json.Unmarshal([]byte(data), &r)).To(Succeed())
		c.add(r)
	}
	return c
}

func (c *collected) add(r openai.ChatCompletionStreamResponse) {
	c.model = r.Model
	if r.Usage != nil {
		c.usage = r.Usage
	}
	for _, choice := range r.Choices {
		c.text += choice.Delta.Content
		c.refusal += choice.Delta.Refusal
		c.finish += string(choice.FinishReason)
		for _, t := range choice.Delta.ToolCalls {
			if *t.Index == len(c.tools) {
				c.tools = append(c.tools, &llm.ToolCall{ID: t.ID, Name: t.Function.Name})
			}
			c.tools[*t.Index].Arguments += t.Function.Arguments
		}
	}
}
