package conformance_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	anthropic "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// claude returns Anthropic's official client. base is the base URL for OpenAI's clients,
// with /v1.
func claude(base string, retries int) anthropic.Client {
	return anthropic.NewClient(option.WithBaseURL(base[:len(base)-len("/v1")]), option.WithAPIKey("k"),
		option.WithHTTPClient(httpClient()), option.WithMaxRetries(retries))
}

// answered is an answer as parsed by a client of one of the newer protocols.
type answered struct {
	Thinking, Text, Finish string
	Calls                  []call
	Input, Cached, Output  int64
}

// errMalformed replaces the errors of clients about answers that they cannot parse.
var errMalformed = errors.New("malformed")

func claudeAsks(ctx context.Context, c anthropic.Client, stream bool) (answered, error) {
	p := anthropic.MessageNewParams{
		Model: model, MaxTokens: 100,
		Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
		Tools: []anthropic.ToolUnionParam{{OfTool: &anthropic.ToolParam{
			Name: toolName, InputSchema: anthropic.ToolInputSchemaParam{Properties: map[string]any{}},
		}}},
	}
	m, err := claudeSends(ctx, c, p, stream)
	return claudeAnswer(m), err
}

// claudeSends sends a request, and returns the whole answer, or what there is of one that was cut off.
func claudeSends(ctx context.Context, c anthropic.Client, p anthropic.MessageNewParams, stream bool) (*anthropic.Message, error) {
	var m anthropic.Message
	if !stream {
		whole, err := c.Messages.New(ctx, p)
		if err != nil {
			return &m, claudeError(err)
		}
		return whole, nil
	}
	s := c.Messages.NewStreaming(ctx, p)
	defer s.Close()
	for s.Next() {
		if err := m.Accumulate(s.Current()); err != nil {
			return &m, errMalformed
		}
	}
	return &m, claudeError(s.Err())
}

func claudeAnswer(m *anthropic.Message) answered {
	got := answered{Finish: string(m.StopReason), Input: m.Usage.InputTokens, Cached: m.Usage.CacheReadInputTokens, Output: m.Usage.OutputTokens}
	for _, b := range m.Content {
		switch b := b.AsAny().(type) {
		case anthropic.TextBlock:
			got.Text += b.Text
		case anthropic.ThinkingBlock:
			got.Thinking += b.Thinking
		case anthropic.ToolUseBlock:
			got.Calls = append(got.Calls, call{b.ID, b.Name, string(b.Input)})
		}
	}
	return got
}

func claudeError(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := errors.AsType[*anthropic.Error](err); ok {
		return apiError{Status: e.StatusCode, Type: string(e.Type())}
	}
	return err
}

// rich is a script with a single answer that has every kind of content.
const rich = `
model: gpt-4.1-mini
replies:
  - thinking: Let me think.
    text: "Hello, wörld 日本!"
    tool_calls: [{name: weather, id: call_1, arguments: {city: Zürich}}]
    when: {tool_offered: weather, user: hi}
    usage: {input: 11, cached_input: 5, cache_write: 2, output: 7, reasoning: 3}`

var _ = Describe("Anthropic's official client", Label("H-02"), func() {
	for _, stream := range []bool{false, true} {
		It(fmt.Sprintf("parses thoughts, texts, tool calls and usage, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve(rich)
			got, err := claudeAsks(ctx, claude(base, 0), stream)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(answered{
				Thinking: "Let me think.", Text: "Hello, wörld 日本!", Finish: "tool_use",
				Calls: []call{{"call_1", "weather", `{"city":"Zürich"}`}}, Input: 11, Cached: 5, Output: 7,
			}))
			Expect(report().Unused).To(BeEmpty())
		})

		DescribeTable(fmt.Sprintf("reports a status, streamed: %t", stream),
			func(ctx context.Context, status int, kind string) {
				base, report := serve(fault(status, 1))
				_, err := claudeAsks(ctx, claude(base, 0), stream)
				Expect(err).To(Equal(apiError{Status: status, Type: kind}))
				Expect(report().Unfired).To(BeEmpty())
			},
			Entry("401", 401, "authentication_error"), Entry("429", 429, "rate_limit_error"),
			Entry("500", 500, "api_error"), Entry("529", 529, "overloaded_error"),
		)

		It(fmt.Sprintf("retries after a rate limit and an overload, streamed: %t", stream), func(ctx context.Context) {
			for _, status := range []int{429, 529} {
				base, report := serve(fault(status, 1))
				got, err := claudeAsks(ctx, claude(base, 1), stream)
				Expect(err).NotTo(HaveOccurred())
				Expect(got.Text).To(Equal("hello"))
				seen := report()
				Expect(seen.Calls).To(Equal(2))
				Expect(seen.Unfired).To(BeEmpty())
			}
		})

		It(fmt.Sprintf("does not repeat a call that the script does not expect, streamed: %t", stream), func(ctx context.Context) {
			base, report := serve("model: " + model + "\nreplies: [{text: hello, when: {user: bye}}]")
			_, err := claudeAsks(ctx, claude(base, 2), stream)
			Expect(err).To(Equal(apiError{Status: 400, Type: "invalid_request_error"}))
			Expect(report().Unexpected).To(HaveLen(1))
		})
	}

	It("holds a conversation with tools", func(ctx context.Context) {
		base, report := serve("model: " + model + `
replies:
  - {thinking: hm, tool_calls: [{name: weather, arguments: {city: Bern}}]}
  - {text: It rains., when: {tool_result: rain, turn: 1}}`)
		c := claude(base, 0)
		p := anthropic.MessageNewParams{
			Model: model, MaxTokens: 100, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
		}
		m, err := c.Messages.New(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		use := m.Content[len(m.Content)-1].AsToolUse()
		Expect(use.Name).To(Equal("weather"))
		p.Messages = append(p.Messages, m.ToParam(), anthropic.NewUserMessage(anthropic.NewToolResultBlock(use.ID, "rain", false)))
		m, err = c.Messages.New(ctx, p)
		Expect(err).NotTo(HaveOccurred())
		Expect(m.Content[0].Text).To(Equal("It rains."))
		seen := report()
		Expect(seen.Invalid).To(BeEmpty())
		Expect(seen.Unused).To(BeEmpty())
	})

	It("lists models, describes one and counts tokens", func(ctx context.Context) {
		base, _ := serve("model: " + model + "\nreplies: [{text: hello}]")
		c := claude(base, 0)
		page, err := c.Models.List(ctx, anthropic.ModelListParams{})
		Expect(err).NotTo(HaveOccurred())
		Expect(page.Data).To(HaveLen(1))
		Expect(page.Data[0].ID).To(Equal(model))
		one, err := c.Models.Get(ctx, "claude-x", anthropic.ModelGetParams{})
		Expect(err).NotTo(HaveOccurred())
		Expect(one.ID).To(Equal("claude-x"))
		_, err = c.Messages.CountTokens(ctx, anthropic.MessageCountTokensParams{
			Model: model, Messages: []anthropic.MessageParam{anthropic.NewUserMessage(anthropic.NewTextBlock("hi"))},
		})
		Expect(err).NotTo(HaveOccurred())
	})

	for _, kind := range wire.FaultKinds() {
		It("sees "+kind+" in a stream", func(ctx context.Context) {
			got, err, fired := withFault(ctx, kind, func(ctx context.Context, base string) (answered, error) {
				return claudeAsks(ctx, claude(base, 0), true)
			})
			Expect(fired).To(BeTrue())
			claudeSees[kind](got, err)
		})
	}
})

// withFault calls ask with a deadline, which a hanging server exceeds.
func withFault(ctx context.Context, kind string, ask func(context.Context, string) (answered, error)) (got answered, err error, fired bool) {
	GinkgoHelper()
	base, report := serve(fmt.Sprintf(
		"model: %s\nreplies: [{text: %s, tool_calls: [{name: weather, id: call_1, arguments: {city: Bern}}], fault: {kind: %s%s}, %s}]",
		model, answer, kind, map[string]string{"slow-drip": ", delay: 1ms"}[kind], usage))
	ctx, cancel := context.WithTimeout(ctx, map[bool]time.Duration{true: 100 * time.Millisecond, false: 10 * time.Second}[kind == "timeout"])
	defer cancel()
	got, err = ask(ctx, base)
	seen := report()
	return got, err, len(seen.Unfired) == 0
}

// sees checks how a client handles a fault.
type sees func(answered, error)

func whollySeen(finish string) sees {
	return func(got answered, err error) {
		GinkgoHelper()
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Text).To(Equal(answer))
		Expect(got.Calls).To(Equal([]call{{"call_1", "weather", `{"city":"Bern"}`}}))
		Expect(got.Finish).To(Equal(finish))
	}
}

func fails(_ answered, err error) {
	GinkgoHelper()
	Expect(err).To(HaveOccurred())
}

func failsWith(want error) sees {
	return func(_ answered, err error) {
		GinkgoHelper()
		Expect(err).To(MatchError(want))
	}
}

// claudeSees has a row for each kind of fault. The client accepts a stream that
// ends too early as complete: an agent must check the stop reason.
var claudeSees = map[string]sees{
	"status":               failsWith(apiError{Status: 500, Type: "api_error"}),
	"timeout":              failsWith(context.DeadlineExceeded),
	"reset-before-headers": fails,
	"reset-after-headers":  fails,
	"reset-mid-stream":     fails,
	"truncated-stream":     fails,
	"missing-done":         whollySeen("tool_use"),
	"error-event":          fails,
	"malformed-json":       fails,
	"wrong-content-type":   func(got answered, _ error) { Expect(got).To(BeZero()) },
	"empty-choices":        finishesWith("tool_use", ""),
	"empty-text":           finishesWith("end_turn", ""),
	"finish-length":        cutAt("max_tokens", `{}`),
	"content-filter":       finishesWith("refusal", ""),
	"refusal":              finishesWith("refusal", "I'm sorry, but I can't help with that."),
	"slow-drip":            whollySeen("tool_use"),
	"duplicate-chunk":      func(got answered, _ error) { Expect(got.Text).To(Equal(answer + " world")) },
	"wrong-usage": func(got answered, err error) {
		whollySeen("tool_use")(got, err)
		Expect(got.Output).To(Equal(int64(1070)))
	},
	// The client reports no error and returns arguments that the model did not write.
	"invalid-tool-arguments": cutAt("tool_use", `{}`),
	"not-utf8":               func(got answered, _ error) { Expect(got.Text).To(Equal("\ufffd\ufffd" + answer)) },
}

func finishesWith(finish, text string) sees {
	return func(got answered, err error) {
		GinkgoHelper()
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Finish).To(Equal(finish))
		Expect(got.Text).To(Equal(text))
		Expect(got.Calls).To(BeEmpty())
	}
}

// cutAt expects the whole text, and a tool call with other arguments.
func cutAt(finish, arguments string) sees {
	return func(got answered, err error) {
		GinkgoHelper()
		Expect(err).NotTo(HaveOccurred())
		Expect(got.Text).To(Equal(answer))
		Expect(got.Finish).To(Equal(finish))
		Expect(got.Calls).To(Equal([]call{{"call_1", "weather", arguments}}))
	}
}
