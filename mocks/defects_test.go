package mocks_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks"
)

// Each case is a defect that was seen in another scripted backend.
var _ = Describe("defects of other scripted backends", Label("H-02"), func() {
	streamed := map[string]any{"stream": true}

	It("does not consume a line whose delivery a fault prevented", func() {
		for name, connect := range ways {
			r := connect(compile("replies: [{text: a, fault: reset-mid-stream}, {text: b}]"), mocks.EngineOptions{})
			Expect(r.post(context.Background(), chat(streamed, user("x"))).Err).To(Equal("reset"), name)
			Expect(texts(r.ask("x"), r.ask("y"))).To(Equal([]string{"a", "b"}), name)
		}
	})

	It("reads the turn from the conversation, so that a counter cannot drift", func() {
		r := start("rules: [{when: {turn: 0}, text: first}, {when: {turn: 1}, text: second}]")
		one := chat(nil, user("x"))
		two := chat(nil, user("x"), assistant("first"), user("y"))
		ctx := context.Background()
		Expect(texts(r.post(ctx, one), r.post(ctx, one), r.post(ctx, two), r.post(ctx, one), r.post(ctx, two))).
			To(Equal([]string{"first", "first", "second", "first", "second"}))
	})

	It("lets the first match win, not the last", func() {
		r := start("rules: [{when: {user: a}, text: first}, {when: {user: {equals: a}}, text: second}, {text: third}]")
		Expect(r.ask("a").text()).To(Equal("first"))
	})

	It("keeps parallel trials apart", func() {
		program := compile("replies: [{text: a}, {text: b, fault: status}, {text: c}]")
		server := &mocks.Server{}
		listening := httptest.NewServer(server)
		DeferCleanup(listening.Close)
		var group sync.WaitGroup
		got := make([][]outcome, 20)
		for i := range got {
			e := mocks.NewEngine(program, mocks.EngineOptions{Clock: clock.NewVirtual(), Trial: i})
			Expect(server.Attach(fmt.Sprint(i), e)).To(Succeed())
			r := &rig{client: listening.Client(), base: fmt.Sprintf("%s/t/%d/v1", listening.URL, i)}
			group.Go(func() {
				for range 5 {
					got[i] = append(got[i], r.ask("x"))
				}
			})
		}
		group.Wait()
		for _, trial := range got {
			Expect(texts(trial...)).To(Equal([]string{"a", "", "b", "c", ""}))
		}
	})

	It("truncates a stream after exactly as many chunks as asked, latency or not", func() {
		for name, connect := range ways {
			for _, latency := range []string{"0s", "10ms"} {
				r := connect(compile("replies: [{fault: {kind: truncated-stream, after: 3}, latency: "+latency+"}]"), mocks.EngineOptions{})
				o := r.post(context.Background(), chat(streamed, user("x")))
				Expect(strings.Count(o.Body, "data: ")).To(Equal(3), name)
				Expect(o.Err).To(Equal("cut off"), name)
			}
		}
	})

	It("resets a connection with an RST, not with a FIN", func() {
		for _, kind := range []string{"reset-before-headers", "reset-after-headers", "reset-mid-stream"} {
			r := overSocket(compile("replies: [{fault: "+kind+"}]"), mocks.EngineOptions{})
			Expect(r.post(context.Background(), chat(streamed, user("x"))).Err).To(Equal("reset"), kind)
		}
	})

	It("keeps the content type of a stream that is malformed", func() {
		o := start("replies: [{fault: malformed-json}]").post(context.Background(), chat(streamed, user("x")))
		Expect(o.Type).To(HavePrefix("text/event-stream"))
		Expect(o.Status).To(Equal(200))
	})

	It("streams the finish reason of the script", func() {
		for _, finish := range []string{"stop", "length", "content_filter"} {
			o := start("replies: [{text: a, finish: "+finish+"}]").post(context.Background(), chat(streamed, user("x")))
			Expect(o.Body).To(ContainSubstring(`"finish_reason":"` + finish + `"`))
		}
	})

	It("answers a status fault with that status where a stream was asked for", func() {
		o := start("replies: [{fault: {kind: status, status: 429, retry_after: 2s}}]").post(context.Background(), chat(streamed, user("x")))
		Expect(o.Status).To(Equal(429))
		Expect(o.Type).To(Equal("application/json"))
	})

	It("sends Retry-After with a rate limit", func() {
		r := start("replies: [{fault: {kind: status, status: 429, retry_after: 1500ms}}]")
		response, err := r.client.Post(r.base+"/chat/completions", "", strings.NewReader(chat(nil, user("x"))))
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		Expect(response.Header.Get("Retry-After")).To(Equal("2"))
	})

	It("echoes a quote through a template without breaking the JSON", func() {
		text := "say \"hi\"\n\\ and {{.}} \u2028"
		for _, fields := range []map[string]any{nil, streamed} {
			o := start("replies: [{template: '{{.User}}'}]").post(context.Background(), chat(fields, user(text)))
			Expect(o.Status).To(Equal(200))
			if fields == nil {
				Expect(o.text()).To(Equal(text))
			} else {
				Expect(o.Body).To(ContainSubstring(`\"hi\"`))
			}
		}
	})

	It("can answer with empty choices", func() {
		Expect(start("replies: [{fault: empty-choices}]").ask("x").Body).To(ContainSubstring(`"choices":[]`))
	})

	It("draws nothing in the order of arrival", func() {
		program := compile("rules: [{when: {user: a}, tool_calls: [{name: f}], latency: {first: 1s, jitter: 1}}, {when: {user: b}, tool_calls: [{name: g}]}]")
		play := func(questions string, seed uint64, trial int) map[string]string {
			r := inProcess(program, mocks.EngineOptions{Seed: seed, Trial: trial})
			bodies := map[string]string{}
			for i, q := range questions {
				key := fmt.Sprintf("%c%d", q, strings.Count(questions[:i], string(q)))
				// The virtual time of the answer depends on the calls before it.
				before, after, _ := strings.Cut(r.ask(string(q)).Body, `"created":`)
				_, after, _ = strings.Cut(after, ",")
				bodies[key] = before + after
			}
			return bodies
		}
		want := play("aabb", 1, 1)
		for _, order := range []string{"abab", "baba", "bbaa"} {
			Expect(play(order, 1, 1)).To(Equal(want))
		}
		Expect(want["a0"]).NotTo(Equal(want["a1"]), "attempts differ")
		Expect(play("aabb", 2, 1)["a0"]).NotTo(Equal(want["a0"]), "seeds differ")
		Expect(play("aabb", 1, 2)["a0"]).NotTo(Equal(want["a0"]), "trials differ")
	})

	It("repeats byte for byte when trials run in parallel", func() {
		program := compile("replies: [{text: a b c, latency: {first: 1s, jitter: 1}, tool_calls: [{name: f}], times: 5}]")
		play := func() string {
			r := inProcess(program, mocks.EngineOptions{Seed: 3})
			all := ""
			for range 5 {
				all += r.post(context.Background(), chat(streamed, user("x"))).Body
			}
			report, err := json.Marshal(r.engine.Report())
			Expect(err).NotTo(HaveOccurred())
			return fmt.Sprint(all, r.clock.Elapsed(), string(report))
		}
		got := make([]string, 16)
		var group sync.WaitGroup
		for i := range got {
			group.Go(func() {
				defer GinkgoRecover()
				got[i] = play()
			})
		}
		group.Wait()
		Expect(got).To(HaveEach(got[0]))
	})

	DescribeTable("refuses as the provider would, and records it, a request with",
		func(body string) {
			r := start("replies: [{text: a}]")
			o := r.post(context.Background(), body)
			Expect(o.Status).To(Equal(http.StatusBadRequest))
			_, text := o.problem()
			Expect(text).NotTo(BeEmpty())
			report := r.engine.Report()
			Expect(report.Invalid).To(ConsistOf(ContainSubstring(text)))
			Expect(report.Exchanges[0].Status).To(Equal(400))
			Expect(r.ask("x").text()).To(Equal("a"), "no line was consumed")
		},
		Entry("an orphan tool result", chat(nil, user("x"), toolResult("c1", "y"))),
		Entry("an unanswered tool call", chat(nil, user("x"), toolCall("c1"), user("y"))),
		Entry("no model", chat(map[string]any{"model": ""}, user("x"))),
		Entry("a stream that is a text", chat(map[string]any{"stream": "yes"}, user("x"))),
		Entry("a temperature of 99", chat(map[string]any{"temperature": 99}, user("x"))),
		Entry("no JSON", "{"),
	)

	It("does not record a client that left as a success", func() {
		r := start("replies: [{text: one two three, latency: {per_token: 1h}}]")
		ctx, cancel := r.clock.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		o := r.post(ctx, chat(streamed, user("x")))
		Expect(o.Err).To(Equal("deadline"))
		report := r.engine.Report()
		Expect(report.Exchanges).To(ConsistOf(And(HaveField("HungUp", true), HaveField("Delivered", false), HaveField("Frames", 2))))
		Expect(report.Unused).To(ConsistOf(HaveSuffix("it was requested, but the client left before it had the whole answer")))
	})

	It("reports what was sent to a client that left, and frees its line", func() {
		r := start("replies: [{text: one two three}]")
		response, err := post(context.Background(), r, chat(streamed, user("x")))
		Expect(err).NotTo(HaveOccurred())
		lines := bufio.NewReaderSize(response.Body, 16)
		first, err := lines.ReadString('\n')
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		x := r.engine.Report().Exchanges[0]
		Expect(x.Frames).To(Equal(2), "the head and a chunk")
		Expect(x.Bytes).To(Equal(len(first)+1), "the chunk and its empty line")
		Expect(x.HungUp).To(BeTrue())
		Expect(r.ask("x").text()).To(Equal("one two three"))
	})

	It("reports that a fault was injected on a line without a retry", func() {
		r := start("rules: [{when: {user: a}, text: a, fault: {kind: status, status: 503}}, {when: {user: b}, text: b}]")
		Expect(r.ask("a").Status).To(Equal(503))
		Expect(r.engine.Report().Unused).To(Equal([]string{
			"rules[0]: never used; its fault was injected, but no request after it took its answer: the agent did not try again",
			"rules[1]: never used",
		}))
	})

	It("reports how often an agent tried that got the fault of a line each time", func() {
		r := start("rules: [{text: a, fault: {kind: status, status: 429, times: 9}}]")
		for range 3 {
			Expect(r.ask("a").Status).To(Equal(429))
		}
		Expect(r.engine.Report().Unused).To(Equal([]string{
			"rules[0]: never used; the agent tried 3 times, got its fault each time, and then gave up",
		}))
		Expect(r.engine.Report().Unfired).To(Equal([]string{"rules[0]: status (fired 3 of 9)"}))
	})

	It("reports the lines that were never used", func() {
		Expect(start("replies: [{text: a}, {text: b}]").engine.Report().Unused).To(HaveLen(2))
		Expect(start("rules: [{text: a}]").engine.Report().Unused).To(Equal([]string{"rules[0]: never used"}))
	})

	It("reports no rule that is optional", func() {
		Expect(start("rules: [{text: a, optional: true}]").engine.Report().Unused).To(BeEmpty())
		_, err := mocks.Compile(mocks.Script{Replies: []mocks.Line{{Optional: true, Answer: mocks.Answer{Finish: "stop"}}}})
		Expect(err).To(MatchError(ContainSubstring("only rules can be optional")))
	})

	It("answers what no line expects with an error, not with an echo", func() {
		for _, fields := range []map[string]any{nil, streamed} {
			o := start("rules: [{when: {user: a}, text: x}]").post(context.Background(), chat(fields, user("b")))
			Expect(o.Status).To(Equal(http.StatusNotFound))
			Expect(o.Type).To(Equal("application/json"))
		}
	})
})

func post(ctx context.Context, r *rig, body string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, "POST", r.base+"/chat/completions", strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	return r.client.Do(request)
}
