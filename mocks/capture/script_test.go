package capture_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

// chat is an exchange of chat completions.
func chat(n int, request, answer string) tape.Exchange {
	return tape.Exchange{
		N: n, At: clock.Epoch, Protocol: "openai-chat", Path: "/chat/completions", Request: []byte(request),
		Status: 200, ContentType: "application/json", Body: []byte(answer),
	}
}

func user(text string) string {
	return fmt.Sprintf(`{"model":"m","messages":[{"role":"user","content":%q}]}`, text)
}

func says(text string) string {
	return fmt.Sprintf(`{"id":"c","model":"m-1","choices":[{"message":{"content":%q},"finish_reason":"stop"}]}`, text)
}

func taped(exchanges ...tape.Exchange) tape.Tape {
	return tape.Tape{Headers: []tape.Header{{Schema: "rehearse.capture/1", Date: clock.Epoch, Version: "1.2", Upstream: "api.example.com"}}, Exchanges: exchanges}
}

var _ = Describe("a captured script", func() {
	It("keeps different answers to equal requests in the order of the requests, and joins equal ones", func() {
		script, skipped := capture.Script(taped(
			chat(2, user("x"), says("second")), chat(1, user("x"), says("first")), chat(3, user("y"), says("other")),
			chat(4, user("x"), says("second")), chat(5, user("x"), says("first")),
		), capture.ScriptOptions{})
		Expect(skipped).To(BeEmpty())
		var lines []string
		for _, l := range script.Rules {
			lines = append(lines, fmt.Sprintf("%s %s %d", l.When.User.Equals, l.Text, l.Times))
		}
		Expect(lines).To(Equal([]string{"x first 1", "x second 2", "y other 1", "x first 1"}))
	})

	It("distinguishes questions with different images, and otherwise has no condition on images", func() {
		look := func(content string) string {
			return `{"model":"m","messages":[{"role":"user","content":[{"type":"text","text":"what is this?"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + content + `"}}]}]}`
		}
		script, skipped := capture.Script(taped(chat(1, look("AAAA"), says("a cat")), chat(2, look("BBBB"), says("a dog"))), capture.ScriptOptions{})
		Expect(skipped).To(BeEmpty())
		Expect(script.Rules).To(HaveLen(2))
		Expect(script.Rules[0].When.User.Equals).To(Equal("what is this?"))
		Expect(script.Rules[0].When.Attachment.Equals).To(HavePrefix("image image/png 3 bytes sha256:"))
		Expect(script.Rules[0].When).NotTo(Equal(script.Rules[1].When))

		script, _ = capture.Script(taped(chat(1, look("AAAA"), says("a cat")), chat(2, look("AAAA"), says("a cat"))), capture.ScriptOptions{})
		Expect(script.Rules).To(HaveLen(1))
		Expect(script.Rules[0].When.Attachment).To(BeNil(), "an agent may take another picture in the next run")
	})

	It("resolves the references of a request that continues an earlier response", func() {
		answer := func(n int, text string) string {
			return fmt.Sprintf(`{"id":"resp_%d","model":"m","status":"completed","output":[{"id":"msg_%d","type":"message","role":"assistant","content":[{"type":"output_text","text":%q}]}]}`, n, n, text)
		}
		x := func(n int, request, body string) tape.Exchange {
			x := chat(n, request, body)
			x.Protocol, x.Path = "openai-responses", "/responses"
			return x
		}
		script, skipped := capture.Script(taped(
			x(1, `{"model":"m","input":"pick"}`, answer(1, "seven")),
			x(2, `{"model":"m","input":"which?","previous_response_id":"resp_1"}`, answer(2, "seven, I said")),
			x(3, `{"model":"m","input":[{"type":"item_reference","id":"msg_2"},{"role":"user","content":"sure?"}]}`, answer(3, "yes")),
			x(4, `{"model":"m","input":"and?","previous_response_id":"resp_0"}`, answer(4, "lost")),
		), capture.ScriptOptions{})
		Expect(skipped).To(ConsistOf(HaveField("Why", ContainSubstring("Previous response with id 'resp_0' not found"))))
		var lines []string
		for _, l := range script.Rules {
			lines = append(lines, fmt.Sprintf("%d %s", *l.When.Turn, l.When.User.Equals))
		}
		Expect(lines).To(Equal([]string{"0 pick", "1 which?", "1 sure?"}))
	})

	It("has a call whose arguments are an empty text", func() {
		answer := `{"id":"c","model":"m-1","choices":[{"message":{"tool_calls":[{"id":"c1","type":"function","function":{"name":"now","arguments":""}}]},"finish_reason":"tool_calls"}]}`
		script, skipped := capture.Script(taped(chat(1, user("x"), answer)), capture.ScriptOptions{})
		Expect(skipped).To(BeEmpty())
		Expect(script.Rules[0].ToolCalls).To(Equal([]mocks.ScriptedToolCall{{ID: "c1", Name: "now"}}))
	})

	It("keeps the digits of numbers in arguments", func() {
		arguments := `{"big":12345678901234567890123,"dec":0.1234567890123456789,"f":1.0,"list":[1e3],"n":1234567890123456789}`
		answer := fmt.Sprintf(`{"id":"c","model":"m-1","choices":[{"message":{"tool_calls":[{"id":"c1","type":"function",`+
			`"function":{"name":"f","arguments":%q}}]},"finish_reason":"tool_calls"}]}`, arguments)
		t := taped(chat(1, user("x"), answer))
		script, _ := capture.Script(t, capture.ScriptOptions{})
		data, err := capture.Write(script, t, "x.capture.jsonl")
		Expect(err).NotTo(HaveOccurred())
		again := parse(string(data))
		Expect(json.Marshal(again.Rules[0].ToolCalls[0].Arguments)).To(BeEquivalentTo(arguments))
	})

	It("has an error of the provider's as a line of its own, so that the retry gets the answer", func() {
		x := chat(1, user("x"), `{"error":{"message":"slow down","type":"rate_limit_error"}}`)
		x.Status, x.RetryAfter = 429, 3*time.Second
		script, _ := capture.Script(taped(x, chat(2, user("x"), says("now"))), capture.ScriptOptions{})
		Expect(script.Rules).To(HaveLen(2))
		f := script.Rules[0].Fault
		Expect(f.Kind).To(Equal("status"))
		Expect(f.Status).To(Equal(429))
		Expect(f.RetryAfter.Std()).To(Equal(3 * time.Second))
		Expect(f.Message).To(Equal("slow down"))
		Expect(script.Rules[1].Text.String()).To(Equal("now"))
	})

	It("distinguishes several models", func() {
		script, _ := capture.Script(taped(chat(1, user("x"), says("a")),
			chat(2, strings.Replace(user("x"), `"m"`, `"other"`, 1), strings.Replace(says("b"), "m-1", "m-2", 1))), capture.ScriptOptions{})
		Expect(script.Model).To(BeEmpty())
		Expect([]string{script.Rules[0].When.Model, script.Rules[1].When.Model}).To(Equal([]string{"m", "other"}))
		script, _ = capture.Script(taped(chat(1, user("x"), says("a"))), capture.ScriptOptions{Model: "mine"})
		Expect(script.Model).To(Equal("mine"))
		Expect(script.Rules[0].When.Model).To(BeEmpty())
	})

	It("matches according to its option", func() {
		t := taped(chat(1, user("x"), says("a")), chat(2, user("x"), says("a")))
		script, _ := capture.Script(t, capture.ScriptOptions{Matching: capture.ByTurn})
		Expect(script.Rules[0].When.User).To(BeNil())
		Expect(*script.Rules[0].When.Turn).To(Equal(0))
		script, _ = capture.Script(t, capture.ScriptOptions{Matching: capture.InOrder})
		Expect(script.Rules).To(BeEmpty())
		Expect(script.Replies).To(HaveLen(1))
		Expect(script.Replies[0].When).To(BeNil())
		Expect(script.Replies[0].Times).To(Equal(2))
	})

	It("gives the time that an answer took, if it is asked to", func() {
		x := chat(1, user("x"), says("a"))
		x.First, x.Total = 1200*time.Millisecond, 2*time.Second
		script, _ := capture.Script(taped(x), capture.ScriptOptions{Latency: true})
		Expect(script.Rules[0].Latency).To(Equal(&mocks.Latency{First: 1_200_000_000}))
	})

	DescribeTable("skips exchanges that a script cannot express, with the reason",
		func(request, answer, why string) {
			script, skipped := capture.Script(taped(chat(1, request, answer)), capture.ScriptOptions{})
			Expect(script.Rules).To(BeEmpty())
			Expect(skipped).To(HaveLen(1))
			Expect(skipped[0].Why).To(ContainSubstring(why))
		},
		Entry("a request that the mock refuses", `{"messages":[]}`, says("a"), "a scripted backend would refuse the request"),
		Entry("arguments that are no object", user("x"),
			`{"id":"c","choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"[1]"}}]},"finish_reason":"tool_calls"}]}`, `the tool call "f" are not a JSON object`),
		Entry("arguments with something behind", user("x"),
			`{"id":"c","choices":[{"message":{"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{} {}"}}]},"finish_reason":"tool_calls"}]}`, "more than one value"),
	)

	It("has a condition that the text fits, also with its secrets and on another day", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			part := rapid.SampledFrom([]string{
				apiKey, "2026-11-22", "550e8400-e29b-41d4-a716-446655440000", "a.b*c", " \n", "é😀", "(?s)", strings.Repeat("long ", 150),
			})
			text := "Begin " + strings.Join(rapid.SliceOfN(part, 1, 6).Draw(t, "text"), " ") + " end"
			script, skipped := capture.Script(taped(chat(1, strings.Replace(user(""), `""`, quote(forms.Text(text)), 1), says("a"))), capture.ScriptOptions{})
			if len(skipped) > 0 {
				t.Fatalf("%v", skipped)
			}
			for _, is := range []string{
				text, forms.Text(text), strings.ReplaceAll(text, "2026-11-22", "2031-01-02"),
				strings.ReplaceAll(text, "550e8400", "650E8401"),
			} {
				if m := script.Rules[0].When.User; !fits(m, is) {
					t.Fatalf("%q does not fit %+v", is, *m)
				}
			}
			if m := script.Rules[0].When.User; fits(m, text+"!") || fits(m, "!"+text) {
				t.Fatalf("%+v fits everything", *m)
			}
		})
	})

	It("does not end within a secret where a long text is matched by its edges", func() {
		for at := 280; at < 310; at++ {
			for _, text := range []string{
				strings.Repeat("x", at) + " " + apiKey + " " + strings.Repeat("y", 1000),
				strings.Repeat("x", 1000) + " " + apiKey + " " + strings.Repeat("é", at/2) + strings.Repeat("y", at%2),
			} {
				script, _ := capture.Script(taped(chat(1, strings.Replace(user(""), `""`, quote(forms.Text(text)), 1), says("a"))), capture.ScriptOptions{})
				m := script.Rules[0].When.User
				Expect(fits(m, text)).To(BeTrue(), "%d: %s", at, m.Matches)
				Expect(m.Matches).NotTo(ContainSubstring("\ufffd"))
			}
		}
	})

	It("is written with its origin, and reads back unchanged", func() {
		x := chat(1, user("x"), says("a"))
		x.Redacted = map[string]int{"api-key": 2}
		t := taped(x)
		script, _ := capture.Script(t, capture.ScriptOptions{})
		data, err := capture.Write(script, t, "x.capture.jsonl")
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(HavePrefix("# Captured on 2026-01-01 00:00 UTC from api.example.com by rehearse 1.2.\n" +
			"# openai-chat: m-1 (1); redacted: api-key (2).\n# The original requests and answers are in x.capture.jsonl.\nmodel: m-1\n"))
		Expect(parse(string(data))).To(Equal(script))
	})

	It("is written for any texts", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			text := rapid.String().Draw(t, "text")
			script := mocks.Script{Rules: []mocks.Line{{
				When: &mocks.When{User: &mocks.Match{Equals: "q" + text}}, Times: 1,
				Answer: mocks.Answer{Text: mocks.Text(text), ToolCalls: []mocks.ScriptedToolCall{{Name: "f", Arguments: map[string]any{text: []any{text, 1, 2.5, nil, true}}}}},
			}}}
			if _, err := capture.Write(script, taped(), "x"); err != nil {
				t.Fatalf("%q: %v", text, err)
			}
		})
	})

	It("is refused if it would be too large to be read", func() {
		text := strings.Repeat("x", 2<<20)
		t := taped()
		_, err := capture.Write(mocks.Script{Rules: []mocks.Line{{Answer: mocks.Answer{Text: mocks.Text(text)}}}}, t, "x.capture.jsonl")
		Expect(err).To(MatchError(ContainSubstring("capture less at once, or use --frames")))
	})
})

func quote(s string) string {
	GinkgoHelper()
	return string(must(json.Marshal(s)))
}

func fits(m *mocks.Match, text string) bool {
	if m.Matches != "" {
		return regexp.MustCompile(m.Matches).MatchString(text)
	}
	return m.Equals == text
}
