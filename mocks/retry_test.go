package mocks_test

import (
	"context"
	"net/http"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// watcher observes an engine, and refuses nothing.
type watcher struct{}

func (watcher) Begin(string, llm.Request) (func(llm.Reply, error), error) {
	return func(llm.Reply, error) {}, nil
}

// retried are the numbers of the requests that repeat a failed one.
func retried(e *mocks.Engine) []int { return numbers(e, func(x mocks.Record) bool { return x.Retry }) }

// tooEarly are the numbers of the requests that ignored a wait.
func tooEarly(e *mocks.Engine) []int { return numbers(e, func(x mocks.Record) bool { return x.Early }) }

func numbers(e *mocks.Engine, keep func(mocks.Record) bool) (all []int) {
	for _, x := range e.Report().Exchanges {
		if keep(x) {
			all = append(all, x.N)
		}
	}
	return all
}

var _ = Describe("a retry of a client that is only observed", Label("H-02"), func() {
	observed := func(script string) *rig {
		return inProcess(compile(script), mocks.EngineOptions{Observer: watcher{}})
	}

	DescribeTable("is the same request again, after it failed",
		func(rules, asked string, want ...any) {
			for _, start := range ways {
				r := start(compile("{rules: "+rules+"}"), mocks.EngineOptions{Observer: watcher{}})
				for _, text := range strings.Fields(asked) {
					r.ask(text)
				}
				r.settle()
				Expect(retried(r.engine)).To(HaveExactElements(want...))
			}
		},
		Entry("a status", "[{when: {user: a}, text: a, fault: {kind: status, status: 503, times: 2}}]", "a a a", 2, 3),
		Entry("a connection that was reset", "[{when: {user: a}, text: a, fault: reset-mid-stream}]", "a a", 2),
		Entry("an answer that was spoilt", "[{when: {user: a}, text: a, fault: malformed-json}]", "a a", 2),
		Entry("no rule for it", "[{when: {user: b}, optional: true, text: b}]", "a a", 2),
		Entry("not another request", "[{when: {user: a}, text: a, fault: {kind: status, status: 503}}, {text: b}]", "a b"),
		Entry("not the same request after an answer", "[{text: a}]", "a a a"),
		Entry("with another one in between", "[{when: {user: a}, text: a, fault: {kind: status, status: 503}}, {text: b}]", "a b a", 3),
		Entry("each failure once", "[{when: {user: a}, text: a, fault: {kind: status, status: 503}}]", "a a a", 2),
	)

	It("follows the header of the client's SDK, whatever else changed", func() {
		r := observed("rules: [{text: a}]")
		for n, count := range []string{"0", "1", "many", ""} {
			req, err := http.NewRequestWithContext(context.Background(), http.MethodPost, r.base+"/chat/completions",
				strings.NewReader(chat(map[string]any{"seed": n}, user("a"))))
			Expect(err).NotTo(HaveOccurred())
			req.Header.Set("X-Stainless-Retry-Count", count)
			response, err := r.client.Do(req)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
		}
		Expect(retried(r.engine)).To(Equal([]int{2}))
	})

	It("is distinguished from two parallel equal requests, of which one fails", func() {
		r := observed("rules: [{text: a, fault: {kind: timeout, times: 1}}]")
		ctx, cancel := context.WithCancel(context.Background())
		hanging := make(chan struct{})
		go func() {
			defer close(hanging)
			r.post(ctx, chat(nil, user("a")))
		}()
		Eventually(func() int { return r.engine.Report().Calls }).Should(Equal(1))
		Expect(r.post(context.Background(), chat(nil, user("a"))).text()).To(Equal("a"), "while the first one still hangs")
		Expect(r.post(context.Background(), chat(nil, user("a"))).text()).To(Equal("a"))
		cancel()
		<-hanging
		Expect(retried(r.engine)).To(Equal([]int{2}))
	})

	DescribeTable("is early if it does not wait for as long as the answer asked for", func(fault, path, body string, wait time.Duration, early ...any) {
		for name, start := range ways {
			r := start(compile("rules: [{text: a, fault: "+fault+"}]"), mocks.EngineOptions{})
			ask := func() {
				GinkgoHelper()
				Expect(r.do(context.Background(), http.MethodPost, path, body, nil).Err).To(BeEmpty())
			}
			ask()
			Expect(r.clock.Sleep(context.Background(), wait)).To(Succeed())
			ask()
			ask() // the wait is over for the next one
			r.settle()
			Expect(tooEarly(r.engine)).To(HaveExactElements(early...), name)
		}
	},
		Entry("at once", "{kind: status, status: 429, retry_after: 20s}", "/chat/completions", chat(nil, user("a")), time.Duration(0), 2),
		Entry("a little early", "{kind: status, status: 503, retry_after: 20s}", "/chat/completions", chat(nil, user("a")), 20*time.Second-1, 2),
		Entry("in time", "{kind: status, status: 429, retry_after: 20s}", "/chat/completions", chat(nil, user("a")), 20*time.Second),
		Entry("in time, by the header in milliseconds", "{kind: status, status: 429, retry_after: 1500ms}", "/chat/completions", chat(nil, user("a")), 1500*time.Millisecond),
		Entry("early, by the header in seconds", "{kind: status, status: 429, retry_after: 1500ms}", "/messages", `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}]}`, 1500*time.Millisecond, 2),
		Entry("early, by the body of Gemini", "{kind: status, status: 429, retry_after: 2s}", "/models/m:generateContent", `{"contents":[{"parts":[{"text":"a"}]}]}`, time.Second, 2),
		Entry("without a wait", "{kind: status, status: 429}", "/chat/completions", chat(nil, user("a")), time.Duration(0)),
	)

	DescribeTable("is early if it is the same request, or comes later than one that was sent in parallel",
		func(again string, after time.Duration, early ...any) {
			for name, start := range ways {
				r := start(compile("rules: [{text: a, fault: {kind: status, status: 429, retry_after: 20s}}]"), mocks.EngineOptions{Observer: watcher{}})
				r.ask("a")
				Expect(r.clock.Sleep(context.Background(), after)).To(Succeed())
				r.ask(again)
				r.ask("c")
				r.settle()
				Expect(tooEarly(r.engine)).To(HaveExactElements(early...), name)
			}
		},
		Entry("the same at once", "a", time.Duration(0), 2),
		Entry("others at once", "b", time.Duration(0)),
		Entry("others a little later", "b", time.Second, 2),
		Entry("others in time", "b", 20*time.Second),
	)

	It("is not searched for if the client counts its retries itself", func() {
		r := start("rules: [{text: a, fault: {kind: status, status: 503}}]")
		r.ask("a")
		r.ask("a")
		Expect(retried(r.engine)).To(BeEmpty())
	})
})
