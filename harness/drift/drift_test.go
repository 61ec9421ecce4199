package drift_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

func TestDrift(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "harness/drift")
}

const (
	chat      = "openai-chat"
	responses = "openai-responses"
	messages  = "anthropic-messages"
	gemini    = "gemini"
)

var paths = map[string]string{chat: "/chat/completions", responses: "/responses", messages: "/messages"}

// request returns the same request in each protocol.
func request(protocol string, stream bool) string {
	body := map[string]any{"model": "m", "stream": stream}
	if stream && protocol == chat {
		body["stream_options"] = map[string]bool{"include_usage": true}
	}
	switch protocol {
	case responses:
		body["input"] = "go"
	case messages:
		body["max_tokens"] = 9
		fallthrough
	default:
		body["messages"] = []map[string]string{{"role": "user", "content": "go"}}
	}
	text, err := json.Marshal(body)
	Expect(err).NotTo(HaveOccurred())
	return string(text)
}

// backend answers with bodies in turn and records the requests.
type backend struct {
	answers []answer
	asked   []*http.Request
	bodies  []string
}

type answer struct {
	status int
	kind   string
	body   string
}

// RoundTrip implements http.RoundTripper.
func (b *backend) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	b.asked, b.bodies = append(b.asked, r), append(b.bodies, string(body))
	a := b.answers[(len(b.asked)-1)%len(b.answers)]
	if a.status == 0 {
		return nil, errors.New("nobody is there")
	}
	return &http.Response{
		StatusCode: a.status, Header: http.Header{"Content-Type": {a.kind}}, Body: io.NopCloser(strings.NewReader(a.body)), Request: r,
	}, nil
}

// requests returns the requests, such as "POST /v1/files".
func (b *backend) requests() (all []string) {
	for _, r := range b.asked {
		all = append(all, r.Method+" "+r.URL.Path)
	}
	return all
}

// taped returns an answered exchange.
func taped(n int, protocol string, stream bool, a answer) tape.Exchange {
	return tape.Exchange{
		N: n, Protocol: protocol, Path: paths[protocol], Request: []byte(request(protocol, stream)),
		Status: a.status, ContentType: a.kind, Body: []byte(a.body), At: clock.Epoch,
	}
}

func tapeOf(exchanges ...tape.Exchange) tape.Tape {
	return tape.Tape{Headers: []tape.Header{{Date: clock.Epoch, Upstream: "api.example.com"}}, Exchanges: exchanges}
}

// run repeats the requests and returns the differences as text.
func run(ctx context.Context, t tape.Tape, now ...answer) []string {
	GinkgoHelper()
	result, err := drift.Run(ctx, t, drift.Options{Upstream: "https://api.example.com", Transport: &backend{answers: now}})
	Expect(err).NotTo(HaveOccurred())
	var lines []string
	for _, e := range result.Exchanges {
		if e.Unanswered != "" {
			lines = append(lines, "unanswered "+e.Unanswered)
		}
		for _, d := range e.Differences {
			lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s: %s -> %s", d.Tier, d.Where, d.Before, d.Now)))
		}
	}
	return lines
}

// beginning returns matchers of prefixes: package json deliberately words its errors
// differently in each program.
func beginning(lines []string) []any {
	matchers := make([]any, len(lines))
	for i, line := range lines {
		matchers[i] = HavePrefix(line)
	}
	return matchers
}

// scripted returns the answer of the mock.
func scripted(protocol string, stream bool, line mocks.Line) answer {
	GinkgoHelper()
	program, err := mocks.Compile(mocks.Script{Model: "m-1", Rules: []mocks.Line{line}})
	Expect(err).NotTo(HaveOccurred())
	engine := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual(), Count: func(_, text string) int { return len(text) }})
	r := httptest.NewRequest(http.MethodPost, "/v1"+paths[protocol], strings.NewReader(request(protocol, stream)))
	r.Header.Set("Anthropic-Version", "2023-06-01") // required over Messages
	r.RequestURI = ""
	response, err := mocks.NewTransport(engine).RoundTrip(r)
	Expect(err).NotTo(HaveOccurred())
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	Expect(err).NotTo(HaveOccurred())
	return answer{response.StatusCode, response.Header.Get("Content-Type"), string(body)}
}

func text(s string) mocks.Line { return mocks.Line{Answer: mocks.Answer{Text: mocks.Text(s)}} }

func calls(name string, arguments map[string]any) mocks.Line {
	return mocks.Line{Answer: mocks.Answer{ToolCalls: []mocks.ScriptedToolCall{{ID: "c1", Name: name, Arguments: arguments}}}}
}

const (
	jsonType   = "application/json"
	streamType = "text/event-stream"
)

// doc returns an answer of chat completions in one document.
func doc(body string) answer { return answer{200, jsonType, body} }

const base = `{"id":"c","object":"chat.completion","model":"m-1","choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":2}}`

var _ = Describe("drift", func() {
	for protocol := range paths {
		for _, stream := range []bool{false, true} {
			It(fmt.Sprintf("reports another text of %s as informational (stream %t)", protocol, stream), func(ctx context.Context) {
				before, now := scripted(protocol, stream, text("one")), scripted(protocol, stream, text("another answer, and longer"))
				Expect(run(ctx, tapeOf(taped(1, protocol, stream, before)), before)).To(BeEmpty())
				Expect(run(ctx, tapeOf(taped(1, protocol, stream, before)), now)).To(HaveExactElements(
					"info text: 3 bytes -> 26 bytes", HavePrefix("info usage: ")))
			})

			It(fmt.Sprintf("reports another finish reason, and a tool call in place of a text of %s (stream %t)", protocol, stream), func(ctx context.Context) {
				before, now := scripted(protocol, stream, text("one")), scripted(protocol, stream, calls("look", map[string]any{"a": 1}))
				lines := run(ctx, tapeOf(taped(1, protocol, stream, before)), now)
				Expect(lines).To(ContainElement("error finish: stop -> tool_calls"))
				Expect(lines).To(ContainElement("warn tool call look: not called -> called"))
				back := run(ctx, tapeOf(taped(1, protocol, stream, now)), before)
				Expect(back).To(ContainElement("error tool call look: called -> not called"))
			})

			It(fmt.Sprintf("reports tool calls of another shape in %s (stream %t)", protocol, stream), func(ctx context.Context) {
				before := scripted(protocol, stream, calls("look", map[string]any{"a": 1, "b": "x", "c": nil}))
				now := scripted(protocol, stream, calls("look", map[string]any{"a": "1", "d": true}))
				Expect(run(ctx, tapeOf(taped(1, protocol, stream, before)), now)).To(ContainElements(
					"error tool call look: a: number -> text", "error tool call look: b: text -> missing",
					"warn tool call look: c: null -> missing", "warn tool call look: d:  -> new: boolean"))
			})
		}
	}

	DescribeTable("reports changes of a document in tiers",
		func(ctx context.Context, change [2]string, want ...string) {
			now := strings.Replace(base, change[0], change[1], 1)
			Expect(now).NotTo(Equal(base))
			Expect(run(ctx, tapeOf(taped(1, chat, false, doc(base))), doc(now))).To(HaveExactElements(beginning(want)...))
		},
		Entry("a removed member, reported once", [2]string{`,"usage":{"prompt_tokens":1,"completion_tokens":2}`, ""},
			"error document: usage: object -> missing", "info usage: 1 in, 2 out -> none"),
		Entry("a member with another type", [2]string{`"id":"c"`, `"id":7`}, `error answer: whole -> read the answer's body: json: `),
		Entry("an unread member with another type", [2]string{`"object":"chat.completion"`, `"object":["x"]`}, "error document: object: text -> list"),
		Entry("null matches every type", [2]string{`"object":"chat.completion"`, `"object":null`}),
		Entry("a new member, reported once", [2]string{`"id":"c"`, `"id":"c","extra":{"a":{"b":1}}`}, "warn document: extra:  -> new: object"),
		Entry("another model", [2]string{"m-1", "m-2"}, "warn model: m-1 -> m-2"),
		Entry("another finish reason", [2]string{`"stop"`, `"length"`}, "error finish: stop -> length"),
		Entry("an empty answer", [2]string{base, "{}"}, "error answer: whole -> the answer is empty"),
	)

	DescribeTable("reports changes of a stream",
		func(ctx context.Context, before, now string, want ...string) {
			events := func(kinds string) answer {
				var b strings.Builder
				for _, kind := range strings.Fields(kinds) {
					fmt.Fprintf(&b, "event: %[1]s\ndata: {\"type\":%[1]q,\"index\":0,\"message\":{},\"content_block\":{\"type\":\"text\"},\"delta\":{\"type\":\"text_delta\",\"text\":\"x\",\"stop_reason\":\"end_turn\"}}\n\n", kind)
				}
				return answer{200, streamType, b.String()}
			}
			Expect(run(ctx, tapeOf(taped(1, messages, true, events(before))), events(now))).To(HaveExactElements(want))
		},
		Entry("more of the same, and pings", "message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
			"message_start content_block_start ping content_block_delta content_block_stop message_delta ping message_stop"),
		Entry("a removed event", "message_start content_block_start content_block_delta extra content_block_stop message_delta message_stop",
			"message_start content_block_start content_block_delta content_block_stop message_delta message_stop", "error event extra: present -> missing"),
		Entry("a new event", "message_start content_block_start content_block_delta content_block_stop message_delta message_stop",
			"message_start content_block_start content_block_delta extra content_block_stop message_delta message_stop", "warn event extra:  -> new"),
		Entry("another order", "message_start a b content_block_start content_block_delta content_block_stop message_delta message_stop",
			"message_start b a content_block_start content_block_delta content_block_stop message_delta message_stop",
			"error order of events: message_start, a, b, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop -> message_start, b, a, content_block_start, content_block_delta, content_block_stop, message_delta, message_stop"),
	)

	DescribeTable("compares the order of the chunks of a chat completion",
		func(ctx context.Context, now string, want ...string) {
			chunks := map[string]string{
				"role": `{"delta":{"role":"assistant","content":""}}`, "text": `{"delta":{"content":"x"}}`,
				"finish": `{"delta":{},"finish_reason":"stop"}`, "usage": "",
			}
			stream := func(parts string) answer {
				var b strings.Builder
				for _, part := range strings.Fields(parts) {
					usage := "null"
					if part == "usage" {
						usage = `{"prompt_tokens":1,"completion_tokens":1}`
					}
					fmt.Fprintf(&b, "data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"m\",\"choices\":[%s],\"usage\":%s}\n\n", chunks[part], usage)
				}
				return answer{200, streamType, b.String() + "data: [DONE]\n\n"}
			}
			Expect(run(ctx, tapeOf(taped(1, chat, true, stream("role text text finish usage"))), stream(now))).To(HaveExactElements(beginning(want)...))
		},
		Entry("more of them", "role role text text finish usage"),
		Entry("the usage first", "usage role text text finish", "error order of chunks: text, finish, usage -> usage, text, finish"),
		Entry("the finish reason first", "finish role text text usage", "error order of chunks: text, finish, usage -> finish, text, usage"),
	)

	DescribeTable("compares the arguments of tool calls",
		func(ctx context.Context, before, now string, want ...string) {
			calling := func(arguments string) answer {
				return doc(fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls","message":`+
					`{"role":"assistant","tool_calls":[{"id":"a","type":"function","function":{"name":"find","arguments":%q}}]}}]}`, arguments))
			}
			Expect(run(ctx, tapeOf(taped(1, chat, false, calling(before))), calling(now))).To(HaveExactElements(beginning(want)...))
		},
		Entry("both cut off", `{"id":`, `{"id":`),
		Entry("cut off in the capture", `{"id":`, `{"id":1}`),
		Entry("cut off now", `{"id":1}`, `{"id":`, "error tool call find: a JSON object as arguments -> its arguments are not a JSON object"),
		Entry("another type", `{"id":1}`, `{"id":"1"}`, "error tool call find: id: number -> text"),
	)

	It("does not count the bytes of secrets, which a capture does not have", func(ctx context.Context) {
		now := strings.Replace(base, `"content":"`, `"content":"sk-abcdefgh123456789 `, 1)
		before := strings.Replace(now, "sk-abcdefgh123456789", "[REDACTED:api-key]", 1)
		Expect(run(ctx, tapeOf(taped(1, chat, false, doc(before))), doc(now))).To(BeEmpty())
	})

	DescribeTable("distinguishes changed answers from refusals",
		func(ctx context.Context, now answer, want string) {
			Expect(run(ctx, tapeOf(taped(1, chat, true, scripted(chat, true, text("x")))), now)).To(HaveExactElements(HavePrefix(want)))
		},
		Entry("not found, which is a change", answer{404, jsonType, `{"error":{"message":"gone"}}`}, "error status: 200 -> 404: gone"),
		Entry("one document", doc(base), "error content type: text/event-stream -> application/json"),
		Entry("truncated", answer{200, streamType, "data: {}\n\n"}, "error answer: whole -> "),
		Entry("a wrong key, which is a refusal", answer{401, jsonType, `{"error":{"message":"bad key"}}`}, "unanswered status 401: bad key"),
		Entry("a repeated key, which is redacted", answer{401, jsonType, `{"error":{"message":"no such key: sk-abcdefgh123456789"}}`}, "unanswered status 401: no such key: [REDACTED:api-key]"),
		Entry("overload, which is a refusal", answer{529, jsonType, `{"error":{"message":"busy"}}`}, "unanswered status 529: busy"),
		Entry("an unreachable backend", answer{}, "unanswered nobody is there"),
	)

	It("repeats requests to Gemini with Google's key, below their version", func(ctx context.Context) {
		whole := `{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`
		for _, upstream := range []string{"https://api.example.com", "https://api.example.com/v1beta"} {
			x := taped(1, gemini, false, doc(whole))
			x.Path, x.Request = "/v1beta/models/m:generateContent", []byte(`{}`)
			b := &backend{answers: []answer{doc(whole)}}
			result, err := drift.Run(ctx, tapeOf(x), drift.Options{Upstream: upstream, Transport: b, Key: func(protocol string) string {
				return drift.Key(protocol, "", func(name string) string { return "value of " + name })
			}})
			Expect(err).NotTo(HaveOccurred())
			Expect(result.Exchanges[0].Differences).To(BeEmpty())
			Expect(b.asked[0].URL.String()).To(Equal("https://api.example.com/v1beta/models/m:generateContent"))
			Expect(b.asked[0].Header).To(And(HaveKeyWithValue("X-Goog-Api-Key", []string{"value of GEMINI_API_KEY"}), Not(HaveKey("Authorization"))))
		}
	})

	It("repeats requests to Vertex AI with a token", func(ctx context.Context) {
		for path, whole := range map[string]string{
			"/projects/p/locations/l/publishers/google/models/m:generateContent":         "/v1/projects/p/locations/l/publishers/google/models/m:generateContent",
			"/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent": "/v1beta1/projects/p/locations/l/publishers/google/models/m:generateContent",
		} {
			once := doc(`{"candidates":[{"content":{"parts":[{"text":"x"}]},"finishReason":"STOP"}]}`)
			x := taped(1, gemini, false, once)
			x.Path, x.Request = path, []byte(`{}`)
			b := &backend{answers: []answer{once}}
			_, err := drift.Run(ctx, tapeOf(x), drift.Options{Upstream: "https://api.example.com", Transport: b, Key: func(string) string { return "token" }})
			Expect(err).NotTo(HaveOccurred())
			Expect(b.asked[0].URL.Path).To(Equal(whole))
			Expect(b.asked[0].Header).To(And(HaveKeyWithValue("Authorization", []string{"Bearer token"}), Not(HaveKey("X-Goog-Api-Key"))))
		}
	})

	It("repeats requests to services with roots of their own below these, and to Azure with its key", func(ctx context.Context) {
		for path, header := range map[string]string{
			"/openai/deployments/d/chat/completions": "Api-Key", "/openai/v1/chat/completions": "Authorization", "/api/v1/chat/completions": "Authorization",
		} {
			x := taped(1, chat, false, doc(base))
			x.Path = path
			b := &backend{answers: []answer{doc(base)}}
			_, err := drift.Run(ctx, tapeOf(x), drift.Options{Upstream: "https://api.example.com", Transport: b, Key: func(string) string { return "k" }})
			Expect(err).NotTo(HaveOccurred())
			Expect(b.asked[0].URL.String()).To(Equal("https://api.example.com" + path))
			Expect(b.asked[0].Header).To(HaveKey(header))
		}
	})

	It("repeats each request of the client once, with the current key, except errors", func(ctx context.Context) {
		a := taped(1, messages, false, scripted(messages, false, text("x")))
		a.Path, a.Header = "/messages?beta=true", map[string]string{"Anthropic-Beta": "tools"}
		again, o := a, taped(3, chat, false, doc(base))
		again.N = 2
		failed, lost := taped(4, chat, true, answer{status: 429}), tape.Exchange{N: 5, Protocol: chat, Lost: "cut"}
		b := &backend{answers: []answer{doc(string(a.Body)), doc(base)}}
		var done []int
		result, err := drift.Run(ctx, tapeOf(a, again, o, failed, lost, tape.Exchange{N: 6, Protocol: "other"}), drift.Options{
			Upstream: "https://api.example.com/v1", Transport: b, Key: func(protocol string) string { return "key-of-" + protocol },
			Done: func(e drift.Exchange) { done = append(done, e.N) },
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(done).To(Equal([]int{1, 3}))
		Expect(result.Calls).To(Equal(2))
		Expect(result.Skipped).To(Equal([]drift.Skipped{
			{N: 2, Why: "an equal request was already repeated"},
			{N: 4, Why: "the captured status 429 cannot be requested"},
			{N: 5, Why: "no answer was captured: cut"},
			{N: 6, Why: `the protocol "other" is not known`},
		}))
		Expect(b.asked[0].URL.String()).To(Equal("https://api.example.com/v1/messages?beta=true"))
		Expect(b.asked[0].Header).To(And(HaveKeyWithValue("X-Api-Key", []string{"key-of-anthropic-messages"}),
			HaveKeyWithValue("Anthropic-Version", []string{"2023-06-01"}), HaveKeyWithValue("Anthropic-Beta", []string{"tools"}), Not(HaveKey("Authorization"))))
		Expect(b.asked[1].Header).To(HaveKeyWithValue("Authorization", []string{"Bearer key-of-openai-chat"}))
		Expect(b.bodies).To(Equal([]string{string(a.Request), string(o.Request)}))
	})

	It("stops before a call that would exceed a cap", func(ctx context.Context) {
		t := tapeOf(taped(1, chat, false, doc(base)), taped(2, chat, true, scripted(chat, true, text("x"))))
		t.Exchanges[1].Request = []byte(strings.Replace(string(t.Exchanges[1].Request), "go", "on", 1))
		priced := func(_ string, u llm.Usage) (float64, bool) { return float64(u.Total()), true }
		for _, c := range []struct {
			options drift.Options
			calls   int
			stopped string
		}{
			{drift.Options{MaxCalls: 1}, 1, "the cap of 1 calls"},
			{drift.Options{MaxCalls: 2}, 2, ""},
			{drift.Options{MaxCost: 2, Cost: priced}, 0, "the cap on cost"},
			{drift.Options{MaxCost: 3, Cost: priced}, 1, "the cap on cost"},
			{drift.Options{MaxCost: 3}, 0, `the cap on cost: the model "m-1" has no price`},
		} {
			c.options.Upstream, c.options.Transport = "https://api.example.com", &backend{answers: []answer{doc(base)}}
			result, err := drift.Run(ctx, t, c.options)
			Expect(err).NotTo(HaveOccurred())
			Expect(result.Calls).To(Equal(c.calls))
			if c.stopped == "" {
				Expect(result.Stopped).To(BeEmpty())
			}
			Expect(result.Stopped).To(HavePrefix(c.stopped))
		}
	})

	It("stops when it is interrupted, and rejects the same upstreams as a capture", func(ctx context.Context) {
		over, end := context.WithCancel(ctx)
		end()
		t := tapeOf(taped(1, chat, false, doc(base)))
		result, err := drift.Run(over, t, drift.Options{Upstream: "https://api.example.com", Transport: &backend{}})
		Expect(err).NotTo(HaveOccurred())
		Expect(result.Exchanges).To(BeEmpty())
		Expect(result.Stopped).To(Equal("context canceled"))
		_, err = drift.Run(ctx, t, drift.Options{Upstream: "https://api.example.com", Offline: true})
		Expect(err).To(MatchError(ContainSubstring("REHEARSE_OFFLINE")))
	})
})

func FuzzCompare(f *testing.F) {
	f.Add(base, `{"choices":[]}`, true)
	f.Add("data: {\"type\":\"x\"}\n\ndata: [DONE]\n\n", "data: {\"a\":[[[1]]]}\n", false)
	f.Fuzz(func(t *testing.T, before, now string, stream bool) {
		kind := jsonType
		if stream {
			kind = streamType
		}
		a := answer{200, kind, before}
		for _, c := range []struct{ is, was answer }{{a, a}, {a, answer{200, kind, now}}} {
			result, err := drift.Run(context.Background(), tapeOf(tape.Exchange{N: 1, Protocol: messages, Path: "/messages", Request: []byte("{}"), Status: 200, ContentType: kind, Body: []byte(c.is.body)}),
				drift.Options{Upstream: "https://api.example.com", Transport: &backend{answers: []answer{c.was}}})
			if err != nil {
				t.Fatal(err)
			}
			if c.is == c.was && result.Count(drift.Error)+result.Count(drift.Warn)+result.Count(drift.Info) > 0 {
				t.Fatalf("%q differs from itself: %+v", before, result.Exchanges)
			}
		}
	})
}
