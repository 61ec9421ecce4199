package capture_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/redact"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/mocks/capture"
)

const (
	apiKey = "sk-proj-abcdefgh12345678ijklmnop"
	ghKey  = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
)

var forms = redact.New([]string{`pass"word\with	marks`})

// streamOf writes pieces as the events of a stream of a protocol.
func streamOf(protocol string, pieces []string) string {
	var b strings.Builder
	for i, p := range pieces {
		text, _ := json.Marshal(p)
		switch protocol {
		case "openai-chat":
			fmt.Fprintf(&b, `data: {"id":"c","choices":[{"index":0,"delta":{"content":%s}}]}`+"\n\n", text)
		case "arguments":
			kind := ""
			if i == 0 {
				kind = `"id":"call_1","type":"function",`
			}
			fmt.Fprintf(&b, `data: {"choices":[{"delta":{"tool_calls":[{"index":1,%s"function":{"arguments":%s}}]},"index":0}]}`+"\n\n", kind, text)
		case "openai-responses":
			fmt.Fprintf(&b, "event: response.output_text.delta\r\ndata: {\"type\":\"response.output_text.delta\",\"delta\":%s,\"item_id\":\"m\",\"content_index\":0}\r\n\r\n", text)
		case "ollama":
			fmt.Fprintf(&b, `{"model":"m","message":{"role":"assistant","content":%s},"done":false}`+"\n", text)
		case "anthropic-messages":
			fmt.Fprintf(&b, "event: content_block_delta\ndata:{\"type\":\"content_block_delta\",\"index\":2,\"delta\":{\"type\":\"text_delta\",\"text\":%s}}\n\n", text)
		case "gemini":
			fmt.Fprintf(&b, `data: {"candidates":[{"content":{"parts":[{"text":%s}],"role":"model"},"index":0}],"responseId":"r"}`+"\n\n", text)
		}
	}
	return b.String()
}

// joinedOf puts the pieces of such a stream together again.
func joinedOf(body string) (pieces []string) {
	for line := range strings.Lines(body) {
		data, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "data:")
		if !ok && !strings.HasPrefix(data, "{") {
			continue
		}
		var event struct {
			Delta   any `json:"delta"`
			Message *struct {
				Content string `json:"content"`
			} `json:"message"`
			Choices []struct {
				Delta struct {
					Content   *string `json:"content"`
					ToolCalls []struct {
						Function struct {
							Arguments string `json:"arguments"`
						} `json:"function"`
					} `json:"tool_calls"`
				} `json:"delta"`
			} `json:"choices"`
			Candidates []struct {
				Content struct {
					Parts []struct {
						Text string `json:"text"`
					} `json:"parts"`
				} `json:"content"`
			} `json:"candidates"`
		}
		Expect(json.Unmarshal([]byte(data), &event)).To(Succeed(), data)
		if event.Message != nil {
			pieces = append(pieces, event.Message.Content)
			continue
		}
		switch delta := event.Delta.(type) {
		case string:
			pieces = append(pieces, delta)
		case map[string]any:
			pieces = append(pieces, delta["text"].(string))
		default:
			if len(event.Candidates) > 0 {
				pieces = append(pieces, event.Candidates[0].Content.Parts[0].Text)
			} else if d := event.Choices[0].Delta; d.Content != nil {
				pieces = append(pieces, *d.Content)
			} else {
				pieces = append(pieces, d.ToolCalls[0].Function.Arguments)
			}
		}
	}
	return pieces
}

var protocols = []string{"openai-chat", "arguments", "openai-responses", "anthropic-messages", "gemini", "ollama"}

// cutUp cuts s at n places, which may be within a character.
func cutUp(t *rapid.T, s string, most int) []string {
	at := rapid.SliceOfN(rapid.IntRange(0, len(s)), 0, most).Draw(t, "at")
	slices.Sort(at)
	var pieces []string
	from := 0
	for _, to := range append(at, len(s)) {
		pieces = append(pieces, s[from:to])
		from = to
	}
	return pieces
}

var texts = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		apiKey, ghKey, "Bearer abcdefgh12345678", "AKIAABCDEFGHIJKLMNOP", `pass"word\with	marks`, " ", "\n", "word", "é", "😀", "\"", "\\", "de", "sk-", "\u2028", "<",
		"-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----", "xoxb-1234567890ab",
	}), 0, 12).Draw(t, "parts")
	return strings.Join(parts, "")
})

var _ = Describe("redaction of a stream", func() {
	It("is that of the whole text, in as many pieces and frames as before", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			whole := texts.Draw(t, "text")
			pieces := cutUp(t, whole, 12)
			for i, p := range pieces { // a JSON string cannot hold half a character
				pieces[i] = strings.ToValidUTF8(p, "�")
			}
			whole = strings.Join(pieces, "")
			body := streamOf(rapid.SampledFrom(protocols).Draw(t, "protocol"), pieces)
			cuts := rapid.SliceOfN(rapid.IntRange(0, len(body)), 0, 20).Draw(t, "cuts")
			slices.Sort(cuts)

			got := capture.Redact([]byte(body), true, cuts, forms.Find)
			after := joinedOf(string(got.Body))
			if strings.Join(after, "") != forms.Text(whole) || len(after) != len(pieces) {
				t.Fatalf("%q\nfrom\n%s", after, body)
			}
			if !slices.IsSorted(got.Cuts) || len(got.Cuts) != len(cuts) {
				t.Fatalf("cuts %v became %v", cuts, got.Cuts)
			}
			if string(got.Body) == body && !slices.Equal(got.Cuts, cuts) {
				t.Fatalf("nothing changed, and cuts %v became %v", cuts, got.Cuts)
			}
			if len(got.Cuts) > 0 && got.Cuts[len(cuts)-1] > len(got.Body) {
				t.Fatalf("cut %d of %d bytes", got.Cuts[len(cuts)-1], len(got.Body))
			}
		})
	})

	It("leaves a body without secrets unchanged, byte for byte, and moves a cut with its byte", func() {
		body := streamOf("openai-chat", []string{"\u00e9 ", apiKey[:10], apiKey[10:], " end"})
		marked := strings.Index(body, ` end`)
		got := capture.Redact([]byte(body), true, []int{5, marked}, forms.Find)
		Expect(string(got.Body)).To(Equal(streamOf("openai-chat", []string{"\u00e9 ", "[REDA", "CTED:api-key]", " end"})))
		Expect(got.Cuts).To(Equal([]int{5, strings.Index(string(got.Body), " end")}))
		Expect(got.Kinds).To(Equal(map[string]int{"api-key": 1}))
	})

	It("separates interleaved texts", func() {
		var b strings.Builder
		for i, p := range []string{apiKey[:6], apiKey[:6], apiKey[6:], apiKey[6:]} {
			text, _ := json.Marshal(p)
			fmt.Fprintf(&b, `data: {"choices":[{"index":%d,"delta":{"content":%s}}]}`+"\n\n", i%2, text)
		}
		got := string(capture.Redact([]byte(b.String()), true, nil, forms.Find).Body)
		Expect(strings.Join(joinedOf(got), "")).To(Equal("[RE[REDACTED:api-key]DACTED:api-key]"))
	})

	It("moves a cut within a secret in proportion, and one at its edges with the edge", func() {
		body := `{"a":"` + apiKey + `!"}` // 32 bytes become 18
		begin := strings.Index(body, apiKey)
		got := capture.Redact([]byte(body), false, []int{begin - 1, begin, begin + 10, begin + 32, begin + 33}, forms.Find)
		Expect(string(got.Body)).To(Equal(`{"a":"[REDACTED:api-key]!"}`))
		Expect(got.Cuts).To(Equal([]int{begin - 1, begin, begin + 18*10/32, begin + 18, begin + 19}))
	})

	DescribeTable("never leaves half a character",
		func(text, want string) {
			find := func(string) []redact.Secret { return []redact.Secret{{From: 2, To: 4, Kind: "k"}} }
			got := capture.Redact([]byte(`{"a":"`+text+`","b":1}`), false, nil, func(s string) []redact.Secret {
				if len(s) < 4 {
					return nil
				}
				return find(s)
			})
			Expect(string(got.Body)).To(Equal(`{"a":"` + want + `","b":1}`))
		},
		Entry("begun within one", "xéyz", "x[REDACTED:k]z"), // é is 1 to 3
		Entry("begun within an escaped one", `x\u00e9yz`, "x[REDACTED:k]z"),
		Entry("ended within one", "xyzéz", "xy[REDACTED:k]z"), // é is 3 to 5
		Entry("ended within an escaped pair", `xyz\ud83d\ude00z`, "xy[REDACTED:k]z"),
	)

	It("puts what a block begins with before its pieces", func() {
		begin := `data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":"` + apiKey[:8] + `"}}` + "\n\n"
		got := string(capture.Redact([]byte(begin+streamOf("anthropic-messages", []string{apiKey[8:], " end"})), true, nil, forms.Find).Body)
		Expect(got).To(Equal(strings.Replace(begin, apiKey[:8], "[RED", 1) + streamOf("anthropic-messages", []string{"ACTED:api-key]", " end"})))
	})

	It("also searches texts that are not pieces", func() {
		body := ": note " + apiKey + "\ndata: {\"type\":\"x\",\"" + ghKey + "\":1,\"id\":\"" + apiKey + "\",\"l\":[{\"m\":\"\\u0073" + apiKey[1:] + "\"}]}\n\n" +
			"data: no JSON " + apiKey + "\n\ndata: [DONE]\n"
		got := string(capture.Redact([]byte(body), true, nil, forms.Find).Body)
		Expect(got).To(Equal(": note [REDACTED:api-key]\ndata: {\"type\":\"x\",\"[REDACTED:github-token]\":1,\"id\":\"[REDACTED:api-key]\",\"l\":[{\"m\":\"[REDACTED:api-key]\"}]}\n\n" +
			"data: no JSON [REDACTED:api-key]\n\ndata: [DONE]\n"))
	})

	It("replaces the same secrets in one document", func() {
		body := `{"a":["` + apiKey + `"],"delta":"` + ghKey + `","choices":[{"delta":{"content":"pass\"word\\with\tmarks"}}]}`
		got := capture.Redact([]byte(body), false, nil, forms.Find)
		Expect(string(got.Body)).To(Equal(`{"a":["[REDACTED:api-key]"],"delta":"[REDACTED:github-token]","choices":[{"delta":{"content":"[REDACTED:secret]"}}]}`))
		Expect(got.Kinds).To(Equal(map[string]int{"api-key": 1, "github-token": 1, "secret": 1}))
		Expect(string(capture.Redact([]byte("plain "+apiKey), false, nil, forms.Find).Body)).To(Equal("plain [REDACTED:api-key]"))
	})
})

func FuzzRedact(f *testing.F) {
	for _, p := range protocols {
		f.Add(streamOf(p, []string{"a", apiKey[:9], apiKey[9:], "\U0001f600"}), true, 7)
	}
	f.Add(`{"a":"\ud83d\ude00 \ud83d x \u00zz","b":"`+apiKey+`"}`, false, 3)
	f.Add("data: {\"a\":1}{\"b\":2}\r\rdata:", true, 0)
	f.Fuzz(func(t *testing.T, body string, stream bool, cut int) {
		cuts := []int{min(max(0, cut), len(body)), len(body)}
		got := capture.Redact([]byte(body), stream, cuts, forms.Find)
		if forms.Text(body) == body && !strings.Contains(body, "\\") && !stream && string(got.Body) != body {
			t.Fatalf("nothing was secret, and %q became %q", body, got.Body)
		}
		if strings.Count(string(got.Body), "\n") != strings.Count(body, "\n") && json.Valid([]byte(body)) {
			t.Fatalf("the lines of %q became %q", body, got.Body)
		}
		if !slices.IsSorted(got.Cuts) || got.Cuts[1] != len(got.Body) {
			t.Fatalf("cuts %v of %d bytes became %v of %d", cuts, len(body), got.Cuts, len(got.Body))
		}
		if json.Valid([]byte(body)) && !json.Valid(got.Body) {
			t.Fatalf("%q is no JSON any more: %q", body, got.Body)
		}
		again := capture.Redact(got.Body, stream, got.Cuts, forms.Find)
		if string(again.Body) != string(got.Body) {
			t.Fatalf("%q became %q, and again %q", body, got.Body, again.Body)
		}
	})
}

var _ = Describe("redaction of arguments and results of tools, which are JSON in a text", func() {
	// escaped is written with escapes right before the keys and in the value.
	arguments, _ := json.Marshal(map[string]string{"content": "# keys\n" + ghKey + "\n" + apiKey + "\t&" + `pass"word\with	marks` + "."})
	const clean = `{"content":"# keys\n[REDACTED:github-token]\n[REDACTED:api-key]\t\u0026[REDACTED:secret]."}`

	It("finds them in one document", func() {
		body, _ := json.Marshal(map[string]any{"tool_calls": []any{map[string]string{"arguments": string(arguments)}}})
		got := capture.Redact(body, false, nil, forms.Find)
		var answer struct {
			ToolCalls []struct {
				Arguments string `json:"arguments"`
			} `json:"tool_calls"`
		}
		Expect(json.Unmarshal(got.Body, &answer)).To(Succeed())
		Expect(answer.ToolCalls[0].Arguments).To(Equal(clean))
		Expect(got.Kinds).To(Equal(map[string]int{"api-key": 1, "github-token": 1, "secret": 1}))
	})

	It("finds them in the pieces of a stream, wherever they are cut", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			pieces := cutUp(t, string(arguments), 12)
			got := capture.Redact([]byte(streamOf(rapid.SampledFrom(protocols).Draw(t, "protocol"), pieces)), true, nil, forms.Find)
			if after := joinedOf(string(got.Body)); strings.Join(after, "") != clean || len(after) != len(pieces) {
				t.Fatalf("%q", after)
			}
		})
	})
})
