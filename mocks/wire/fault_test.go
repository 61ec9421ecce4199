package wire_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	openai "github.com/sashabaranov/go-openai"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

func newFault(spec wire.FaultSpec) wire.Fault {
	GinkgoHelper()
	f, err := wire.NewFault(spec)
	Expect(err).NotTo(HaveOccurred())
	return f
}

var _ = Describe("a fault", Label("H-02"), func() {
	for _, kind := range wire.FaultKinds() {
		It(kind+" edits the answer as the golden file shows", func() {
			fault := newFault(wire.FaultSpec{Kind: kind})
			var b strings.Builder
			for _, c := range []struct {
				name   string
				call   wire.Call
				answer wire.Completion
			}{
				{"text", plainCall, textAnswer},
				{"text, streamed", streamCall, textAnswer},
				{"text, streamed with usage", usageCall, textAnswer},
				{"tool calls", plainCall, toolAnswer},
				{"tool calls, streamed", streamCall, toolAnswer},
			} {
				frames, ok := fault(codec, c.call, c.answer)
				fmt.Fprintf(&b, "== %s: fired %t\n", c.name, ok)
				if ok {
					b.WriteString(render(frames))
				}
			}
			expectGolden("fault-"+kind, b.String())
		})

		for _, p := range protocols {
			It(kind+" leaves its input alone, and the answer unharmed where it cannot fire, of "+nameOf(p), func() {
				fault := newFault(wire.FaultSpec{Kind: kind})
				for _, call := range []wire.Call{plainCall, streamCall, usageCall} {
					for _, answer := range []wire.Completion{textAnswer, toolAnswer} {
						before := render(p.Encode(call, answer))
						frames, ok := fault(p.Reader, call, answer)
						if ok {
							Expect(render(frames)).NotTo(Equal(before), "it fired and nothing changed")
						} else {
							Expect(render(frames)).To(Equal(before), "it did not fire and something changed")
						}
						Expect(render(p.Encode(call, answer))).To(Equal(before))
					}
				}
			})

			It(kind+" replaces a missing answer, of "+nameOf(p), func() {
				call := usageCall
				call.Tools = offered
				_, ok := newFault(wire.FaultSpec{Kind: kind})(p.Reader, call, wire.Completion{})
				Expect(ok).To(BeTrue())
			})
		}
	}

	for _, p := range protocols[1:] {
		It("edits the answers of "+nameOf(p)+" as the golden file shows", func() {
			var b strings.Builder
			for _, kind := range wire.FaultKinds() {
				fault := newFault(wire.FaultSpec{Kind: kind})
				for _, c := range []struct {
					name   string
					call   wire.Call
					answer wire.Completion
				}{
					{"text", plainCall, textAnswer},
					{"text, streamed", streamCall, textAnswer},
					{"tool calls", plainCall, toolAnswer},
					{"tool calls, streamed", streamCall, toolAnswer},
				} {
					frames, ok := fault(p.Reader, c.call, c.answer)
					fmt.Fprintf(&b, "== %s, %s: fired %t\n", kind, c.name, ok)
					if ok {
						b.WriteString(changes(p.Encode(c.call, c.answer), frames))
					}
				}
			}
			expectGolden("faults-"+nameOf(p), b.String())
		})
	}

	DescribeTable("is read by a client as",
		func(kind string, call wire.Call, is func(wire.Completion, error)) {
			for _, p := range protocols {
				if kind == "content-filter" && p.Protocol() == "ollama" || kind == "refusal" && p.visible(refusing, true).Refusal == "" {
					continue // it has none
				}
				frames, ok := newFault(wire.FaultSpec{Kind: kind})(p.Reader, call, toolAnswer)
				Expect(ok).To(BeTrue())
				By(nameOf(p))
				is(p.ReadAnswer(call.Stream, bodyOf(frames)))
			}
		},
		Entry("a cut stream without its end", "missing-done", streamCall, isCut),
		Entry("a cut stream where it is truncated", "truncated-stream", streamCall, isCut),
		Entry("an error that came too late", "error-event", streamCall, func(_ wire.Completion, err error) {
			e, ok := errors.AsType[*wire.APIError](err)
			Expect(ok).To(BeTrue())
			Expect(e.Status).To(Equal(500))
			Expect(e.Message).NotTo(BeEmpty())
		}),
		Entry("malformed, streamed", "malformed-json", streamCall, isMalformed),
		Entry("malformed", "malformed-json", plainCall, isMalformed),
		Entry("bytes that are no text", "not-utf8", plainCall, isMalformed),
		Entry("an answer without calls", "empty-text", streamCall, func(c wire.Completion, err error) {
			Expect(err).NotTo(HaveOccurred())
			Expect(c.ToolCalls).To(BeEmpty())
			Expect(c.Finish).To(Equal(llm.FinishStop))
		}),
		Entry("a length limit", "finish-length", streamCall, func(c wire.Completion, err error) {
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Finish).To(Equal(llm.FinishLength))
			Expect(len(c.ToolCalls[1].Arguments)).To(BeNumerically("<=", len(`{}`)))
		}),
		Entry("a content filter", "content-filter", plainCall, func(c wire.Completion, err error) {
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Finish).To(Equal(llm.FinishContentFilter))
		}),
		Entry("a refusal", "refusal", streamCall, func(c wire.Completion, err error) {
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Refusal).To(ContainSubstring("sorry"))
		}),
		Entry("arguments that are not JSON", "invalid-tool-arguments", plainCall, areBroken),
		Entry("arguments that are not JSON, streamed", "invalid-tool-arguments", streamCall, areBroken),
		Entry("absurd usage", "wrong-usage", usageCall, func(c wire.Completion, err error) {
			Expect(err).NotTo(HaveOccurred())
			Expect(c.Usage.Input).To(Equal(10*toolAnswer.Usage.Input + 1000))
			Expect(c.Usage.Output).To(Equal(10*toolAnswer.Usage.Output + 1000))
		}),
	)

	DescribeTable("status answers in Anthropic's words with",
		func(status int, kind, message string) {
			frames, _ := newFault(wire.FaultSpec{Kind: "status", Status: status, RetryAfter: 1500 * time.Millisecond})(wire.AnthropicMessages{}, streamCall, textAnswer)
			e := wire.ReadError(frames[0].Status, frames[0].Header, frames[0].Data)
			Expect(*e).To(Equal(wire.APIError{Status: status, Type: kind, Message: message, RetryAfter: 2 * time.Second}))
		},
		Entry("400", 400, "invalid_request_error", "The request was refused with status 400."),
		Entry("401", 401, "authentication_error", "invalid x-api-key"),
		Entry("403", 403, "permission_error", "Your API key does not have permission to use the specified resource."),
		Entry("413", 413, "request_too_large", "The request was refused with status 413."),
		Entry("429", 429, "rate_limit_error", "This request would exceed your organization's rate limit. Please try again later."),
		Entry("500", 500, "api_error", "Internal server error"),
		Entry("529", 529, "overloaded_error", "Overloaded"),
	)

	DescribeTable("status answers with",
		func(status int, kind, code string) {
			e := decodeAPIError(newFault(wire.FaultSpec{Kind: "status", Status: status, Message: "boom", RetryAfter: 20 * time.Second}))
			Expect(e.HTTPStatusCode).To(Equal(status))
			Expect(e.Type).To(Equal(kind))
			Expect(e.Message).To(Equal("boom"))
			if code != "" {
				Expect(e.Code).To(Equal(code))
			}
		},
		Entry("400", 400, "invalid_request_error", ""),
		Entry("401", 401, "invalid_request_error", "invalid_api_key"),
		Entry("403", 403, "invalid_request_error", ""),
		Entry("429", 429, "requests", "rate_limit_exceeded"),
		Entry("500", 500, "server_error", ""),
		Entry("502", 502, "server_error", ""),
		Entry("503", 503, "server_error", ""),
		Entry("529", 529, "overloaded_error", ""),
	)

	DescribeTable("with after fires after that many chunks, and not at all if there are fewer",
		func(kind string, call wire.Call, after, frames int) {
			f := newFault(wire.FaultSpec{Kind: kind, After: &after})
			got, ok := f(codec, call, wire.Completion{Text: "a b c"}) // role, 3 pieces, finish, [DONE]
			Expect(ok).To(Equal(frames != 0))
			if ok {
				Expect(got).To(HaveLen(frames))
			}
		},
		Entry("truncated-stream after none", "truncated-stream", streamCall, 0, 1),
		Entry("truncated-stream after 4", "truncated-stream", streamCall, 4, 5),
		Entry("truncated-stream before [DONE]", "truncated-stream", streamCall, 5, 6),
		Entry("truncated-stream after all", "truncated-stream", streamCall, 6, 0),
		Entry("truncated-stream of a body", "truncated-stream", plainCall, 0, 1),
		Entry("truncated-stream after a body", "truncated-stream", plainCall, 1, 0),
		Entry("reset-mid-stream after 2", "reset-mid-stream", streamCall, 2, 3),
		Entry("malformed-json at the finish chunk", "malformed-json", streamCall, 4, 7),
		Entry("malformed-json at [DONE]", "malformed-json", streamCall, 5, 0),
		Entry("malformed-json after a body", "malformed-json", plainCall, 1, 0),
		Entry("duplicate-chunk of the finish chunk", "duplicate-chunk", streamCall, 5, 8),
		Entry("duplicate-chunk of [DONE]", "duplicate-chunk", streamCall, 6, 0),
		Entry("slow-drip of [DONE] alone", "slow-drip", streamCall, 5, 7),
		Entry("slow-drip after all", "slow-drip", streamCall, 6, 0),
		Entry("slow-drip after a body", "slow-drip", plainCall, 1, 0),
		Entry("finish-length after 2 of 3 pieces", "finish-length", streamCall, 2, 6),
		Entry("finish-length after all", "finish-length", streamCall, 3, 0),
	)

	It("slow-drip pauses before each chunk after the first ones", func() {
		two := 2
		f := newFault(wire.FaultSpec{Kind: "slow-drip", After: &two, Delay: 3 * time.Second})
		frames, _ := f(codec, streamCall, wire.Completion{Text: "a b"})
		var delays []time.Duration
		for _, f := range frames {
			delays = append(delays, f.Delay)
		}
		Expect(delays).To(Equal([]time.Duration{0, 0, 0, 3e9, 3e9, 3e9}))
	})

	It("slow-drip delivers the whole body", func() {
		frames, ok := newFault(wire.FaultSpec{Kind: "slow-drip"})(codec, plainCall, textAnswer)
		Expect(ok).To(BeTrue())
		var body []byte
		for _, f := range frames {
			body = append(body, f.Data...)
		}
		Expect(body).To(Equal(codec.Encode(plainCall, textAnswer)[0].Data))
	})

	It("invalid-tool-arguments calls an offered tool if the answer calls none", func() {
		call := plainCall
		call.Tools = offered
		for _, call := range []wire.Call{call, streamed(call)} {
			frames, ok := newFault(wire.FaultSpec{Kind: "invalid-tool-arguments"})(codec, call, textAnswer)
			Expect(ok).To(BeTrue())
			Expect(render(frames)).To(And(ContainSubstring("read_file"), ContainSubstring(`"tool_calls"`)))
		}
	})

	DescribeTable("invalid-tool-arguments makes arguments that are not JSON of",
		func(arguments string) {
			c := wire.Completion{ToolCalls: []llm.ToolCall{{ID: "c", Name: "n", Arguments: arguments}}}
			frames, ok := newFault(wire.FaultSpec{Kind: "invalid-tool-arguments"})(codec, plainCall, c)
			Expect(ok).To(BeTrue())
			got := parse(frames).Choices[0].Message.ToolCalls[0].Function.Arguments
			Expect(got).NotTo(BeEmpty())
			var v any
			Expect(unmarshal(got, &v)).NotTo(Succeed())
		},
		Entry("an object", `{"a":1}`),
		Entry("an empty object", `{}`),
		Entry("nothing", ``),
		Entry("a number", `12`),
		Entry("letters beyond ASCII", `{"ü":"日本"}`),
		Entry("text that is not JSON", `broken`),
	)

	It("malformed-json breaks the JSON and nothing else", func() {
		f := newFault(wire.FaultSpec{Kind: "malformed-json"})
		for pad := range 4 {
			c := wire.Completion{Text: strings.Repeat("x", pad) + strings.Repeat("日", 300)}
			frames, ok := f(codec, plainCall, c)
			Expect(ok).To(BeTrue())
			Expect(utf8.Valid(frames[0].Data)).To(BeTrue())
			Expect(json.Valid(frames[0].Data)).To(BeFalse())
			Expect(frames[0].Header.Get("Content-Length")).To(Equal(strconv.Itoa(len(frames[0].Data))))
		}
	})

	It("refusal takes a message", func() {
		frames, ok := newFault(wire.FaultSpec{Kind: "refusal", Message: "never"})(codec, streamCall, textAnswer)
		Expect(ok).To(BeTrue())
		got := collect(frames)
		Expect(got.refusal).To(Equal("never"))
		Expect(got.text).To(BeEmpty())
		Expect(got.done).To(BeTrue())
	})
})

var _ = Describe("NewFault", Label("H-02"), func() {
	minus, zero := -1, 0
	DescribeTable("refuses",
		func(spec wire.FaultSpec, message string) {
			_, err := wire.NewFault(spec)
			Expect(err).To(MatchError(ContainSubstring(message)))
		},
		Entry("no kind", wire.FaultSpec{}, "the kinds are status, timeout"),
		Entry("a typo", wire.FaultSpec{Kind: "tiemout"}, `did you mean "timeout"?`),
		Entry("a status that is no error", wire.FaultSpec{Kind: "status", Status: 200}, "an error status is 400 to 599"),
		Entry("a status beyond all", wire.FaultSpec{Kind: "status", Status: 600}, "an error status is 400 to 599"),
		Entry("a negative wait", wire.FaultSpec{Kind: "status", RetryAfter: -1}, "retry_after"),
		Entry("a negative pause", wire.FaultSpec{Kind: "slow-drip", Delay: -1}, "delay"),
		Entry("a negative count", wire.FaultSpec{Kind: "truncated-stream", After: &minus}, "after is -1"),
		Entry("a repetition of nothing", wire.FaultSpec{Kind: "duplicate-chunk", After: &zero}, "give 1 or more"),
		Entry("a status where none is sent", wire.FaultSpec{Kind: "timeout", Status: 500}, `option "status" has no meaning here; this kind takes no options`),
		Entry("a wait where none is sent", wire.FaultSpec{Kind: "refusal", RetryAfter: 1}, `option "retry_after" has no meaning here; this kind takes message`),
		Entry("a message where none is sent", wire.FaultSpec{Kind: "missing-done", Message: "x"}, `option "message"`),
		Entry("a count where none is counted", wire.FaultSpec{Kind: "empty-text", After: &zero}, `option "after"`),
		Entry("a pause where there is none", wire.FaultSpec{Kind: "truncated-stream", Delay: 1}, `option "delay"`),
	)

	It("has every kind of the vocabulary once", func() {
		Expect(wire.FaultKinds()).To(ConsistOf("status", "timeout", "reset-before-headers", "reset-after-headers", "reset-mid-stream",
			"truncated-stream", "missing-done", "error-event", "malformed-json", "wrong-content-type", "empty-choices", "empty-text",
			"finish-length", "content-filter", "refusal", "slow-drip", "duplicate-chunk", "wrong-usage",
			"invalid-tool-arguments", "not-utf8"))
	})
})

func unmarshal(text string, v any) error { return json.Unmarshal([]byte(text), v) }

// decodeAPIError reads the error that a fault answers with as a client does.
func decodeAPIError(f wire.Fault) *openai.APIError {
	GinkgoHelper()
	frames, ok := f(codec, streamCall, textAnswer)
	Expect(ok).To(BeTrue())
	Expect(frames).To(HaveLen(1))
	Expect(frames[0].Delay).To(Equal(textAnswer.First))
	Expect(frames[0].Header.Get("Retry-After")).To(Equal("20"))
	var r openai.ErrorResponse
	Expect(json.Unmarshal(frames[0].Data, &r)).To(Succeed())
	r.Error.HTTPStatusCode = frames[0].Status
	return r.Error
}

// refusing is an answer that a protocol with refusals shows as such.
var refusing = wire.Completion{Refusal: "no"}

func isCut(_ wire.Completion, err error) {
	GinkgoHelper()
	Expect(err).To(MatchError(wire.ErrCutAnswer))
}

func isMalformed(_ wire.Completion, err error) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred())
	Expect(errors.Is(err, wire.ErrCutAnswer) || errors.Is(err, wire.ErrEmptyAnswer)).To(BeFalse())
}

func areBroken(c wire.Completion, err error) {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	if len(c.ToolCalls) == 1 { // Gemini leaves the call out, and does not end with a call
		Expect(c.Finish).To(Equal(llm.FinishStop))
		return
	}
	Expect(json.Valid([]byte(c.ToolCalls[1].Arguments))).To(BeFalse())
}
