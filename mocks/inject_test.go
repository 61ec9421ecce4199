package mocks_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// fault is the injection of a fault that fires once at a call.
func fault(call int, kind string) mocks.Injection {
	return mocks.Injection{Call: call, Name: fmt.Sprintf("call=%d:%s", call, kind), Fault: &mocks.Fault{Kind: kind}}
}

func latency(call int, d time.Duration) mocks.Injection {
	return mocks.Injection{Call: call, Name: fmt.Sprintf("call=%d:latency", call), Kind: "latency", Latency: d}
}

// shout edits an answer.
func shout(call int) mocks.Injection {
	return mocks.Injection{Call: call, Name: fmt.Sprintf("call=%d:shout", call), Kind: "shout", Edit: strings.ToUpper}
}

// injected connects a fresh engine in process.
func injected(script string, injections ...mocks.Injection) *rig {
	GinkgoHelper()
	return inProcess(compile(script), mocks.EngineOptions{Seed: 1, Count: countBytes, Inject: injections})
}

func statuses(outcomes ...outcome) []int {
	var all []int
	for _, o := range outcomes {
		all = append(all, o.Status)
	}
	return all
}

var _ = Describe("an injected fault", Label("H-04"), func() {
	// calls answers three calls; each is made anew until it is answered.
	calls := func(stream bool) func(*rig) []outcome {
		return func(r *rig) (all []outcome) {
			fields := map[string]any{"stream": stream}
			if stream {
				fields["stream_options"] = map[string]any{"include_usage": true}
			}
			for range 4 {
				ctx, cancel := r.clock.WithTimeout(context.Background(), 10*time.Minute)
				all = append(all, r.post(ctx, chat(fields, user("hello"))))
				cancel()
			}
			return all
		}
	}
	const answer = "{text: one two three four, tool_calls: [{name: f}]"

	for _, kind := range wire.FaultKinds() {
		for _, stream := range []bool{false, true} {
			It(fmt.Sprintf("%s acts as on the line itself (streamed: %t)", kind, stream), func() {
				for name, connect := range ways {
					play := func(script string, injections ...mocks.Injection) ([]outcome, mocks.Report) {
						r := connect(compile(script), mocks.EngineOptions{Seed: 5, Count: countBytes, Inject: injections})
						outcomes := calls(stream)(r)
						r.settle()
						return outcomes, r.engine.Report()
					}
					whole := answer + "}"
					want, wantReport := play(fmt.Sprintf("replies: [%s, %s, fault: %s}, %s, %s]", whole, answer, kind, whole, whole))
					got, gotReport := play(fmt.Sprintf("replies: [%s, %s, %s, %s]", whole, whole, whole, whole), fault(2, kind))
					Expect(got).To(Equal(want), name)
					Expect(gotReport.Exchanges).To(Equal(wantReport.Exchanges), name)
					Expect(gotReport.Unused).To(Equal(wantReport.Unused), name)
					Expect(gotReport.Exchanges[1].Fault).To(Equal(kind))
					if gotReport.Exchanges[1].Fired {
						Expect(gotReport.Unfired).To(BeEmpty(), name)
					} else {
						Expect(gotReport.Unfired).To(Equal([]string{"call=2:" + kind + ": it cannot show in that answer"}), name)
					}
				}
			})
		}
	}

	It("fires at the given number of attempts, and then the retry gets the line", func() {
		in := fault(2, "status")
		in.Fault.Status, in.Fault.Times = 503, 2
		r := injected("replies: [{text: a}, {text: b}]", in)
		Expect(statuses(r.ask("1"), r.ask("2"), r.ask("2"))).To(Equal([]int{200, 503, 503}))
		Expect(r.ask("2").text()).To(Equal("b"))
		report := r.engine.Report()
		Expect(report.Unfired).To(BeEmpty())
		Expect(report.Unused).To(BeEmpty())
		Expect(report.Exchanges[1]).To(And(HaveField("Fault", "status"), HaveField("Fired", true), HaveField("Line", "replies[1]")))
	})

	It("reports how often it fired if that was not enough", func() {
		in := fault(1, "status")
		in.Fault.Times = 3
		r := injected("replies: [{text: a}]", in)
		r.ask("1")
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:status: fired 1 of 3"}))
	})

	It("reports that there was no such call", func() {
		r := injected("replies: [{text: a}]", fault(2, "status"))
		r.ask("1")
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=2:status: no such call was made"}))
	})

	It("never fires if it is a fault of a process, or unknown", func() {
		r := injected("replies: [{text: a}]", fault(1, "hang"))
		Expect(r.ask("1").text()).To(Equal("a"))
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:hang: it cannot show in that answer"}))
		r = injected("replies: [{text: a}]", fault(1, "no-such-thing"))
		Expect(r.ask("1").text()).To(Equal("a"))
		Expect(r.engine.Report().Unfired).To(HaveLen(1))
	})

	It("counts calls by used answers of any line", func() {
		r := injected("rules: [{text: a, when: {user: x}}, {text: b}]", fault(3, "status"))
		Expect(statuses(r.ask("x"), r.ask("y"), r.ask("x"), r.ask("x"), r.ask("y"))).To(Equal([]int{200, 200, 500, 200, 200}))
	})

	It("does not count requests that no line answers", func() {
		r := injected("rules: [{text: a, when: {user: x}}]", fault(2, "status"))
		Expect(statuses(r.ask("x"), r.ask("y"), r.ask("y"), r.ask("x"), r.ask("x"))).To(Equal([]int{200, 404, 404, 500, 200}))
	})

	It("does not change the state of the rules", func() {
		r := injected("rules: [{text: a, then: s}, {text: b, in: s}]\nstate: ''", fault(1, "status"))
		r.ask("x")
		Expect(r.ask("x").text()).To(Equal("a"))
	})

	It("fires before the line's own fault, which fires at the next attempt", func() {
		r := injected("replies: [{text: a, fault: {kind: status, status: 529}}]", fault(1, "status"))
		Expect(statuses(r.ask("1"), r.ask("1"), r.ask("1"))).To(Equal([]int{500, 529, 200}))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("fires before a line that is only a fault", func() {
		r := injected("replies: [{fault: {kind: status, status: 529}}, {text: a}]", fault(1, "status"))
		Expect(statuses(r.ask("1"), r.ask("1"), r.ask("1"))).To(Equal([]int{500, 529, 200}))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("shares a call with other injections, one attempt each", func() {
		late := fault(1, "status")
		late.Fault.Status = 503
		r := injected("replies: [{text: a}]", fault(1, "status"), shout(1), late, latency(1, time.Minute))
		Expect(statuses(r.ask("1"), r.ask("1"))).To(Equal([]int{500, 503}))
		before := r.clock.Now()
		Expect(r.ask("1").text()).To(Equal("A"))
		Expect(r.clock.Now().Sub(before)).To(Equal(time.Minute))
		report := r.engine.Report()
		Expect(report.Unfired).To(BeEmpty())
		Expect(report.Injected).To(Equal(map[string]int{"call=1:status": 2, "call=1:shout": 1, "call=1:latency": 1}))
		Expect(report.Exchanges[2]).To(And(HaveField("Fault", "shout+latency"), HaveField("Fired", true)))
	})

	It("fires at one of several parallel requests, and only once", func() {
		r := overSocket(compile("rules: [{text: a}]"), mocks.EngineOptions{Inject: []mocks.Injection{fault(1, "status"), fault(30, "status")}})
		var refused int
		var mu sync.Mutex
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				for range 10 {
					if o := r.ask("x"); o.Status == http.StatusInternalServerError {
						mu.Lock()
						refused++
						mu.Unlock()
					}
				}
			})
		}
		all.Wait()
		r.settle()
		Expect(refused).To(Equal(2))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("counts answers in progress: a parallel call is another one", func() {
		e := mocks.NewEngine(compile("rules: [{text: a}]"), mocks.EngineOptions{Inject: []mocks.Injection{fault(2, "status")}})
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		first := e.Begin(context.Background(), codec, nil, nil)
		Expect(answerOf(e, codec.request)).To(BeEmpty(), "it was the second one")
		Expect(first.Send(0, handOver)).To(Succeed())
		first.End()
		Expect(answerOf(e, codec.request)).To(Equal("a"))
		Expect(e.Report().Unfired).To(BeEmpty())
	})

	It("fires at one request at a time, and leaves the line to the retry once it has fired", func() {
		e := mocks.NewEngine(compile("replies: [{text: a, times: 2}]"), mocks.EngineOptions{Inject: []mocks.Injection{fault(1, "timeout")}})
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		hanging := e.Begin(context.Background(), codec, nil, nil)
		Expect(answerOf(e, codec.request)).To(Equal("a"), "the same call, beside it")
		Expect(answerOf(e, codec.request)).To(BeEmpty(), "its line is reserved")
		Expect(hanging.Send(0, handOver)).To(Succeed())
		Expect(answerOf(e, codec.request)).To(Equal("a"))
		hanging.End()
		Expect(e.Report().Unfired).To(BeEmpty())
		Expect(e.Report().Unused).To(BeEmpty())
	})

	It("has not fired if the client left before, and fires at the retry", func() {
		e := mocks.NewEngine(compile("replies: [{text: a}]"), mocks.EngineOptions{Inject: []mocks.Injection{fault(1, "empty-text")}})
		codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
		ctx, leave := context.WithCancel(context.Background())
		gone := e.Begin(ctx, codec, nil, nil)
		leave()
		Expect(answerOf(e, codec.request)).To(BeEmpty())
		gone.End()
		Expect(e.Report().Exchanges[0].Fired).To(BeFalse())
		Expect(e.Report().Unfired).To(BeEmpty())
	})

	It("is undone if its frame was lost", func() {
		for _, in := range []mocks.Injection{fault(1, "empty-text"), shout(1)} {
			e := mocks.NewEngine(compile("replies: [{text: a}]"), mocks.EngineOptions{Inject: []mocks.Injection{in}})
			codec := neutral{llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "x"}}}}
			lost := e.Begin(context.Background(), codec, nil, nil)
			Expect(lost.Send(0, func() error { return io.ErrClosedPipe })).To(MatchError(io.ErrClosedPipe))
			lost.End()
			report := e.Report()
			Expect(report.Exchanges[0]).To(And(HaveField("Fired", false), HaveField("Delivered", false)))
			Expect(report.Unused).To(HaveLen(1))
			Expect(report.Unfired).To(HaveLen(1))
			Expect(answerOf(e, codec.request)).To(Or(BeEmpty(), Equal("A")))
			Expect(e.Report().Unfired).To(BeEmpty())
		}
	})
})

var _ = Describe("an injected latency", Label("H-04"), func() {
	It("replaces the line's latency", func() {
		for name, connect := range ways {
			r := connect(compile("replies: [{text: one two three, latency: {first: 2s, per_token: 1s}, times: 2}]"),
				mocks.EngineOptions{Count: countBytes, Inject: []mocks.Injection{latency(2, time.Minute)}})
			begin := r.clock.Now()
			r.ask("1")
			first := r.clock.Now()
			r.ask("2")
			Expect(first.Sub(begin)).To(BeNumerically(">", 2*time.Second), name)
			Expect(r.clock.Now().Sub(first)).To(Equal(time.Minute), name)
			r.settle()
			report := r.engine.Report()
			Expect(report.Unfired).To(BeEmpty(), name)
			Expect(report.Unused).To(BeEmpty(), name)
			Expect(report.Exchanges[1]).To(And(HaveField("Fault", "latency"), HaveField("Fired", true)), name)
		}
	})

	It("can speed up an answer, and is reported if it changes nothing", func() {
		r := injected("replies: [{text: a, latency: 10s, times: 2}]", latency(1, time.Second), latency(2, 10*time.Second))
		begin := r.clock.Now()
		r.ask("1")
		Expect(r.clock.Now().Sub(begin)).To(Equal(time.Second))
		r.ask("2")
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=2:latency: it cannot show in that answer"}))
	})

	It("fires once for a client that left because of it", func() {
		r := injected("replies: [{text: a, latency: 2s}]", latency(1, time.Hour))
		ctx, cancel := r.clock.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		Expect(r.post(ctx, chat(nil, user("x"))).Err).To(Equal("deadline"))
		Expect(r.ask("x").text()).To(Equal("a"))
		report := r.engine.Report()
		Expect(report.Unfired).To(BeEmpty())
		Expect(report.Unused).To(BeEmpty())
		Expect(report.Exchanges[0]).To(And(HaveField("Fired", true), HaveField("HungUp", true), HaveField("Delivered", false)))
	})

	It("fires for a client that disconnected from a socket", func() {
		server, e := &mocks.Server{}, mocks.NewEngine(compile("replies: [{text: a}]"), mocks.EngineOptions{Inject: []mocks.Injection{latency(1, time.Hour)}})
		Expect(server.Attach("", e)).To(Succeed())
		listening := httptest.NewServer(server)
		DeferCleanup(listening.Close)
		r := &rig{engine: e, client: listening.Client(), base: listening.URL + "/v1"}
		ctx, leave := context.WithCancel(context.Background())
		go func() {
			defer leave()
			for e.Report().Calls == 0 {
				runtime.Gosched()
			}
		}()
		Expect(r.post(ctx, chat(nil, user("x"))).Err).To(Equal("cancelled"))
		Eventually(func() bool { return e.Report().Exchanges[0].HungUp }).Should(BeTrue())
		Expect(r.ask("x").text()).To(Equal("a"))
		Expect(e.Report().Unfired).To(BeEmpty())
		Expect(e.Report().Exchanges[0].Fired).To(BeTrue())
	})

	It("does not fire for a client that would have left anyway", func() {
		r := injected("replies: [{text: a, latency: 20s}]", latency(1, time.Hour))
		ctx, cancel := r.clock.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		r.post(ctx, chat(nil, user("x")))
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:latency: the client left before it showed"}))
	})

	It("is scaled by the engine", func() {
		r := inProcess(compile("replies: [{text: a}]"), mocks.EngineOptions{Scale: 0.1, Inject: []mocks.Injection{latency(1, time.Minute)}})
		begin := r.clock.Now()
		r.ask("1")
		Expect(r.clock.Now().Sub(begin)).To(Equal(6 * time.Second))
	})

	It("fires at the attempt that delivers the answer", func() {
		r := injected("replies: [{text: a, fault: status}]", latency(1, time.Minute))
		begin := r.clock.Now()
		Expect(r.ask("1").Status).To(Equal(http.StatusInternalServerError))
		Expect(r.clock.Now()).To(Equal(begin))
		Expect(r.ask("1").text()).To(Equal("a"))
		Expect(r.clock.Now().Sub(begin)).To(Equal(time.Minute))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("does not fire on a line that is only a fault", func() {
		r := injected("replies: [{fault: status}, {text: a}]", latency(1, time.Minute))
		r.ask("1")
		r.ask("2")
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:latency: it cannot show in that answer"}))
	})
})

var _ = Describe("an injected edit", Label("H-04"), func() {
	It("changes the text and its counted usage, and uses the answer", func() {
		double := mocks.Injection{Call: 1, Name: "double", Kind: "double", Edit: func(s string) string { return s + s }}
		r := injected("replies: [{text: 12345678, times: 2}]", double)
		Expect(texts(r.ask("1"), r.ask("2"))).To(Equal([]string{"1234567812345678", "12345678"}))
		report := r.engine.Report()
		Expect(report.Exchanges[0].Usage.Output).To(Equal(2 * report.Exchanges[1].Usage.Output))
		Expect(report.Exchanges[0]).To(And(HaveField("Fault", "double"), HaveField("Fired", true), HaveField("Delivered", true)))
		Expect(report.Unfired).To(BeEmpty())
		Expect(report.Unused).To(BeEmpty())
	})

	It("does not change usage that the script gives", func() {
		r := injected("replies: [{text: a, usage: {input: 7, output: 9}}]", mocks.Injection{Call: 1, Name: "x", Kind: "x", Edit: strings.ToUpper})
		r.ask("1")
		Expect(r.engine.Report().Exchanges[0].Usage.Output).To(Equal(9))
	})

	It("changes the output of a template", func() {
		r := injected("replies: [{template: 'you said {{.User}}'}]", shout(1))
		Expect(r.ask("hello").text()).To(Equal("YOU SAID HELLO"))
	})

	It("is reported if it changes nothing", func() {
		r := injected("replies: [{text: ABC}]", shout(1))
		Expect(r.ask("1").text()).To(Equal("ABC"))
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:shout: it cannot show in that answer"}))
	})

	It("combines with a fault that delivers the answer", func() {
		r := injected("replies: [{text: abc}]", shout(1), fault(1, "wrong-usage"))
		o := r.ask("1")
		Expect(o.text()).To(Equal("ABC"))
		Expect(o.Body).To(ContainSubstring(`"completion_tokens":1010`))
		Expect(r.engine.Report().Unfired).To(BeEmpty())
	})

	It("combines with such a fault of the line, but two faults do not combine", func() {
		r := injected("replies: [{text: abc, fault: wrong-usage}]", shout(1), fault(1, "slow-drip"))
		o := r.ask("1")
		Expect(o.text()).To(Equal("ABC"))
		Expect(o.Body).To(ContainSubstring(`"completion_tokens":1010`))
		Expect(r.engine.Report().Unfired).To(Equal([]string{"call=1:slow-drip: it cannot show in that answer"}))
	})

	It("has fired once the first changed frame was sent", func() {
		r := injected("replies: [{text: one two three four}]", mocks.Injection{
			Call: 1, Name: "tail", Kind: "tail", Edit: func(s string) string { return strings.Replace(s, "four", "five", 1) },
		})
		response, err := post(context.Background(), r, chat(map[string]any{"stream": true}, user("x")))
		Expect(err).NotTo(HaveOccurred())
		_, err = io.CopyN(io.Discard, response.Body, 300)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(r.engine.Report().Exchanges[0].Fired).To(BeFalse())
		Expect(r.engine.Report().Unfired).To(HaveLen(1))
	})
})
