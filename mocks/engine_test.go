package mocks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

// start connects a fresh engine in process.
func start(script string) *rig {
	GinkgoHelper()
	return inProcess(compile(script), mocks.EngineOptions{Seed: 1, Count: countBytes})
}

var _ = Describe("a sequence of replies", Label("H-02"), func() {
	It("answers in order, each line the given number of times", func() {
		r := start("replies: [{text: a, times: 2}, {text: b}]")
		Expect(texts(r.ask("1"), r.ask("2"), r.ask("3"))).To(Equal([]string{"a", "a", "b"}))
		Expect(r.engine.Report().Unused).To(BeEmpty())
	})

	It("ends with script_exhausted, which no client retries", func() {
		r := start("replies: [{text: a}]")
		r.ask("1")
		response, err := r.client.Post(r.base+"/chat/completions", "", strings.NewReader(chat(nil, user("more"))))
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		Expect(response.StatusCode).To(Equal(http.StatusNotFound))
		Expect(response.Header.Get("X-Should-Retry")).To(Equal("false"))
		code, text := r.ask("more").problem()
		Expect(code).To(Equal("script_exhausted"))
		Expect(text).To(And(ContainSubstring("replies[0]"), ContainSubstring(`"more"`)))
		Expect(r.engine.Report().Unexpected).To(HaveLen(2))
		Expect(r.engine.Report().Unexpected[0]).To(HavePrefix("call 2: "))
	})

	It("treats when as an assertion and names the first field that differs", func() {
		r := start(`replies: [{when: {user: "order", turn: 0}, text: a}, {text: b}]`)
		code, text := r.ask("hello").problem()
		Expect(code).To(Equal("unexpected_call"))
		Expect(text).To(And(ContainSubstring("replies[0]"), ContainSubstring(`when.user.contains: expected "order", got "hello"`)))
		Expect(r.ask("my order").text()).To(Equal("a"), "the mismatch consumed nothing")
	})

	It("fires at the first attempts, then leaves the line to the retry", func() {
		r := start("replies: [{text: a, fault: {kind: status, status: 503, times: 2}}, {text: b}]")
		Expect([]int{r.ask("1").Status, r.ask("1").Status, r.ask("1").Status}).To(Equal([]int{503, 503, 200}))
		Expect(r.ask("2").text()).To(Equal("b"))
		var attempts []int
		for _, x := range r.engine.Report().Exchanges {
			attempts = append(attempts, x.Attempt)
		}
		Expect(attempts).To(Equal([]int{1, 2, 3, 1}))
	})

	It("treats a fault without an answer as a line", func() {
		r := start("replies: [{fault: {kind: status, status: 429, retry_after: 3s, message: slow down, times: 2}}, {text: b}]")
		first := r.ask("1")
		_, text := first.problem()
		Expect(text).To(Equal("slow down"))
		Expect([]int{first.Status, r.ask("1").Status, r.ask("1").Status}).To(Equal([]int{429, 429, 200}))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("reports unused lines, with how many answers are left", func() {
		r := start("replies: [{text: a, times: 3}, {text: b, fault: empty-text}]")
		r.ask("1")
		report := r.engine.Report()
		Expect(report.Unused).To(Equal([]string{"replies[0]: 2 of 3 left", "replies[1]: 1 of 1 left"}))
		Expect(report.Unfired).To(Equal([]string{"replies[1]: empty-text (fired 0 of 1)"}))
	})

	It("never gives a line to two calls at once, and gives it back if it is lost", func() {
		r := start("replies: [{text: a}, {text: b}]")
		ctx := context.Background()
		open := func() *http.Response {
			request, err := http.NewRequestWithContext(ctx, "POST", r.base+"/chat/completions", strings.NewReader(chat(nil, user("x"))))
			Expect(err).NotTo(HaveOccurred())
			response, err := r.client.Do(request)
			Expect(err).NotTo(HaveOccurred())
			return response
		}
		first := open() // in flight: its body is not read
		Expect(r.ask("2").text()).To(Equal("b"))
		code, _ := r.ask("3").problem()
		Expect(code).To(Equal("script_exhausted"))
		Expect(first.Body.Close()).To(Succeed())
		Expect(r.ask("4").text()).To(Equal("a"))
		report := r.engine.Report()
		Expect(report.Exchanges[0].HungUp).To(BeTrue())
		Expect(report.Exchanges[0].Delivered).To(BeFalse())
		Expect(report.Unused).To(BeEmpty())
	})

	It("gives the line to a quick retry before the server has noticed that the client left", func() {
		e := mocks.NewEngine(compile("replies: [{text: a}, {text: b}]"), mocks.EngineOptions{})
		ctx, leave := context.WithCancel(context.Background())
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		slow := e.Begin(ctx, codec, nil, nil)
		leave()
		Expect(answerOf(e, codec.request)).To(Equal("a"))
		Expect(slow.Send(0, nil)).To(MatchError(context.Canceled), "it is too late for the first one")
		slow.End()
		Expect(answerOf(e, codec.request)).To(Equal("b"))
		Expect(e.Report().Unused).To(BeEmpty())
	})

	It("gives the line to the retry as soon as a fault has fired, and not before", func() {
		e := mocks.NewEngine(compile("replies: [{text: a, fault: timeout}, {text: b}]"), mocks.EngineOptions{})
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		hanging := e.Begin(context.Background(), codec, nil, nil)
		Expect(answerOf(e, codec.request)).To(Equal("b"), "the line is taken")
		Expect(hanging.Send(0, func() error {
			Expect(answerOf(e, codec.request)).To(Equal("a"))
			return nil
		})).To(Succeed())
		hanging.End()
		Expect(e.Report().Exchanges[0]).To(And(HaveField("Fault", "timeout"), HaveField("Fired", true), HaveField("HungUp", true)))
	})

	It("counts a fault as fired only once a changed frame was sent", func() {
		for after, fired := range map[int]bool{1: true, 3: false} {
			r := start(fmt.Sprintf("replies: [{text: one two three four, fault: {kind: malformed-json, after: %d}}]", after))
			response, err := post(context.Background(), r, chat(map[string]any{"stream": true}, user("x")))
			Expect(err).NotTo(HaveOccurred())
			_, err = io.CopyN(io.Discard, response.Body, 600)
			Expect(err).NotTo(HaveOccurred())
			Expect(response.Body.Close()).To(Succeed())
			x := r.engine.Report().Exchanges[0]
			Expect(x.Frames).To(BeNumerically("~", 3, 1))
			Expect(x.Fired).To(Equal(fired))
		}
	})

	It("takes back the effects of an answer that was not delivered", func() {
		e := mocks.NewEngine(compile("{state: s, rules: [{in: s, then: t, text: a, times: 1}, {in: t, text: b, fault: status}]}"), mocks.EngineOptions{})
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		lose := func() {
			x := e.Begin(context.Background(), codec, nil, nil)
			Expect(x.Send(0, func() error { return io.ErrClosedPipe })).To(MatchError(io.ErrClosedPipe))
			x.End()
		}
		lose()
		Expect(answerOf(e, codec.request)).To(Equal("a"))
		lose() // the fault
		report := e.Report()
		Expect(report.Unfired).To(ConsistOf(ContainSubstring("fired 0 of 1")))
		Expect(report.Exchanges).To(HaveExactElements(
			And(HaveField("HungUp", true), HaveField("Delivered", false), HaveField("Bytes", 0)),
			HaveField("Delivered", true),
			And(HaveField("HungUp", true), HaveField("Fired", false))))
		Expect([]string{answerOf(e, codec.request), answerOf(e, codec.request)}).To(Equal([]string{"", "b"}))
	})

	It("answers a hundred callers at once with a hundred lines", func() {
		r := overSocket(compile("replies: [{template: '{{.User}}', times: 100}]"), mocks.EngineOptions{})
		DeferCleanup(func(before []gleak.Goroutine) {
			r.client.CloseIdleConnections()
			Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
		}, gleak.Goroutines())
		var group sync.WaitGroup
		got := make([]string, 100)
		for i := range got {
			group.Go(func() { got[i] = r.ask(fmt.Sprint(i)).text() })
		}
		group.Wait()
		for i, text := range got {
			Expect(text).To(Equal(fmt.Sprint(i)))
		}
		r.settle()
		Expect(r.engine.Report().Unused).To(BeEmpty())
		Expect(r.engine.Report().Calls).To(Equal(100))
	})
})

var _ = Describe("rules", Label("H-02"), func() {
	DescribeTable("match",
		func(when, body string, header http.Header, want bool) {
			r := start("rules: [{when: " + when + ", text: yes}, {text: no}]")
			got := r.do(context.Background(), "POST", "/chat/completions", body, header).text()
			Expect(got).To(Equal(map[bool]string{true: "yes", false: "no"}[want]), got)
		},
		Entry("a purpose", "{purpose: judge}", chat(map[string]any{"metadata": map[string]any{"purpose": "judge"}}, user("x")), nil, true),
		Entry("another purpose", "{purpose: judge}", chat(map[string]any{"metadata": map[string]any{"purpose": "loop"}}, user("x")), nil, false),
		Entry("metadata", "{metadata: {block: a, purpose: p}}", chat(map[string]any{"metadata": map[string]any{"block": "a", "purpose": "p"}}, user("x")), nil, true),
		Entry("other metadata", "{metadata: {block: a}}", chat(map[string]any{"metadata": map[string]any{"block": "b"}}, user("x")), nil, false),
		Entry("a model", "{model: m}", chat(nil, user("x")), nil, true),
		Entry("another model", "{model: n}", chat(nil, user("x")), nil, false),
		Entry("the system text", "{system: brief}", chat(nil, message{"role": "system", "content": "Be brief."}, user("x")), nil, true),
		Entry("the developer text", "{system: brief}", chat(nil, message{"role": "developer", "content": "Be brief."}, user("x")), nil, true),
		Entry("no system text", "{system: brief}", chat(nil, user("brief")), nil, false),
		Entry("the last user text, contained", "{user: b}", chat(nil, user("a"), assistant("x"), user("abc")), nil, true),
		Entry("an earlier user text", "{user: a}", chat(nil, user("a"), assistant("x"), user("b")), nil, false),
		Entry("the last user text, equal", "{user: {equals: abc}}", chat(nil, user("abc")), nil, true),
		Entry("the last user text, longer", "{user: {equals: abc}}", chat(nil, user("abcd")), nil, false),
		Entry("a regular expression", `{user: {matches: "^a+b$"}}`, chat(nil, user("aaab")), nil, true),
		Entry("another text", `{user: {matches: "^a+b$"}}`, chat(nil, user("aaabc")), nil, false),
		Entry("any text", "{any: early}", chat(nil, user("early"), assistant("x"), user("late")), nil, true),
		Entry("no text", "{any: never}", chat(nil, user("early")), nil, false),
		Entry("a turn", "{turn: 1}", chat(nil, user("a"), assistant("x"), user("b")), nil, true),
		Entry("another turn", "{turn: 0}", chat(nil, user("a"), assistant("x"), user("b")), nil, false),
		Entry("a tool that is offered", "{tool_offered: f}", chat(map[string]any{"tools": []any{map[string]any{"type": "function", "function": map[string]any{"name": "f"}}}}, user("a")), nil, true),
		Entry("a tool that is not", "{tool_offered: f}", chat(nil, user("a")), nil, false),
		Entry("a tool's result", "{tool_result: sunny}", chat(nil, user("a"), toolCall("c1"), toolResult("c1", "sunny")), nil, true),
		Entry("a tool's result before the last user text", "{tool_result: sunny}", chat(nil, user("a"), toolCall("c1"), toolResult("c1", "sunny"), user("b")), nil, false),
		Entry("a header", "{header: {x-tenant: a}}", chat(nil, user("a")), http.Header{"X-Tenant": {"a"}}, true),
		Entry("another header", "{header: {x-tenant: a}}", chat(nil, user("a")), http.Header{"X-Tenant": {"b"}}, false),
		Entry("all conditions together", "{user: a, turn: 1}", chat(nil, user("a")), nil, false),
	)

	It("limits a rule by its times and goes on to the next", func() {
		r := start("rules: [{when: {user: a}, text: first, times: 2}, {text: rest}]")
		Expect(texts(r.ask("a"), r.ask("a"), r.ask("a"))).To(Equal([]string{"first", "first", "rest"}))
	})

	It("moves through states as answers are delivered", func() {
		r := start(`
state: start
rules:
  - {in: start, then: asked, text: who are you?, fault: status}
  - {in: asked, then: done, text: welcome}
  - {in: done, text: bye}`)
		Expect(r.ask("x").Status).To(Equal(500))
		Expect(texts(r.ask("x"), r.ask("x"), r.ask("x"), r.ask("x"))).To(Equal([]string{"who are you?", "welcome", "bye", "bye"}))
	})

	It("takes the state back when the answer is lost", func() {
		r := start("{state: a, rules: [{in: a, then: b, text: one}, {in: b, text: two}]}")
		response, err := r.client.Post(r.base+"/chat/completions", "", strings.NewReader(chat(nil, user("x"))))
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(texts(r.ask("x"), r.ask("x"))).To(Equal([]string{"one", "two"}))
	})

	It("moves the state for one of two calls at once", func() {
		r := start("{state: a, rules: [{in: a, then: b, text: one}, {in: b, text: two}]}")
		response, err := r.client.Post(r.base+"/chat/completions", "", strings.NewReader(chat(nil, user("x"))))
		Expect(err).NotTo(HaveOccurred())
		defer response.Body.Close()
		Expect(r.ask("x").text()).To(Equal("two"))
	})

	It("names the closest rule, the state and used-up lines", func() {
		r := start(`
state: s
rules:
  - {when: {purpose: judge, user: order}, text: a}
  - {when: {purpose: loop}, in: s, then: t, text: b, times: 1}
  - {when: {purpose: loop, user: never}, text: c}`)
		loop := map[string]any{"metadata": map[string]any{"purpose": "loop"}}
		judge := map[string]any{"metadata": map[string]any{"purpose": "judge"}}
		ask := func(fields map[string]any) string {
			code, text := r.post(context.Background(), chat(fields, user(strings.Repeat("long ", 50)))).problem()
			Expect(code).To(BeElementOf("unexpected_call", ""))
			return text
		}
		Expect(ask(judge)).To(And(ContainSubstring("rules[0]: when.user.contains: expected \"order\", got \"long"), ContainSubstring("…")))
		Expect(ask(loop)).To(BeEmpty())
		Expect(ask(loop)).To(ContainSubstring(`rules[2]: when.user.contains: expected "never"`))
	})

	DescribeTable("names the rule that comes closest",
		func(rules, asked, want string) {
			_, text := start("{rules: " + rules + "}").ask(asked).problem()
			Expect(text).To(ContainSubstring("the closest is " + want))
		},
		Entry("but for upper and lower case", "[{when: {user: refund}, text: a}, {when: {user: {contains: thanks}}, text: b}]", "Thanks a lot",
			`rules[1]: when.user.contains: expected "thanks", got "Thanks a lot" (it differs only in case)`),
		Entry("but for case, of the whole text", "[{when: {user: hello}, text: a}, {when: {user: {equals: GOOD BYE}}, text: b}]", "good Bye",
			`rules[1]: when.user.equals: expected "GOOD BYE", got "good Bye" (it differs only in case)`),
		Entry("but for case, of a pattern", "[{when: {user: bye}, text: a}, {when: {user: {matches: '^order [0-9]+$'}}, text: b}]", "Order 66",
			`rules[1]: when.user.matches: expected "^order [0-9]+$", got "Order 66" (it differs only in case)`),
		Entry("but for a typing error", "[{when: {user: weather}, text: a}, {when: {user: refund policy}, text: b}]", "what is your refnud policy?",
			`rules[1]: when.user.contains: expected "refund policy"`),
		Entry("of several conditions", "[{when: {model: other}, text: a}, {when: {user: order, turn: 1}, text: b}, {when: {user: return}, text: c}]", "my order",
			`rules[1]: when.turn: expected "1", got "0"`),
		Entry("the nearest turn", "[{when: {turn: 7}, text: a}, {when: {turn: 1}, text: b}]", "x", `rules[1]: when.turn: expected "1", got "0"`),
		Entry("the first of equals", "[{when: {user: apples}, text: a}, {when: {user: zebras}, text: b}]", "x", `rules[0]: when.user.contains`),
	)

	It("reports that a rule waits for another state, or is used up", func() {
		r := start("{state: s, rules: [{when: {user: a}, in: t, text: x}, {when: {user: b}, then: t, text: y, times: 1}]}")
		_, waiting := r.ask("a").problem()
		Expect(waiting).To(ContainSubstring(`rules[0]: in: expected "t", got "s"`))
		Expect(r.ask("b").text()).To(Equal("y"))
		_, used := r.ask("b").problem()
		Expect(used).To(ContainSubstring("rules[1]: it is used up (times: 1)"))
	})

	It("answers an unexpected call only if the script is lenient, and still records it", func() {
		r := start("{lenient: true, rules: [{when: {user: a}, text: first}]}")
		o := r.ask("b")
		Expect(o.Status).To(Equal(200))
		Expect(o.text()).NotTo(BeEmpty())
		Expect(r.engine.Report().Unexpected).To(HaveLen(1))
		Expect(r.engine.Report().Unused).To(Equal([]string{"rules[0]: never used"}))
	})
})
