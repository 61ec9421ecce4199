package drive_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("A simulated user whose messages a model puts into words", func() {
	// desk has the backend of the user in place of %s.
	const desk = `
name: spec/words
drive:
  function:
    name: f
    user:
      persona: hurried customer
      opening: I want my money back, please.
      goals: [{id: refund, done: {reply: was issued}}]
      facts: {order number: A-1009, date: {value: 3 May, contradicts: May 4}}
      style: {terse: true}
      patience: 2
      backend: {%s}
backend: {model: gpt-4.1-mini, rules: [{text: x, optional: true, usage: {input: 7, output: 3}}]}
expect: {status: done}
`
	const scripted = `model: gpt-4.1, rules: [
        {when: {purpose: user, system: '"message":"A-1009"'}, optional: true, text: "Number's A-1009, go.", latency: 3s, usage: {input: 1000, output: 10}},
        {when: {system: '"persona":"hurried customer"', user: Hm.}, optional: true, text: Come on!, usage: {input: 500, output: 5}}]`
	// answering returns an agent that calls its model for each message and gives the answers in order.
	answering := func(answers ...string) app.Maker {
		return func(site app.Site) func(context.Context, string) (string, error) {
			n := -1
			return func(ctx context.Context, text string) (string, error) {
				n = min(n+1, len(answers)-1)
				_, err := chat(ctx, site, text)
				return answers[n], err
			}
		}
	}
	run := func(backend string, answers ...string) record.Trial {
		GinkgoHelper()
		return talk(context.Background(), fmt.Sprintf(desk, backend), answering(answers...))
	}
	said := func(t record.Trial) (all []string) {
		for i := range t.Events {
			if turn, ok := event.Read[record.Turn](&t.Events[i].Event); ok {
				all = append(all, turn.User)
			}
		}
		return all
	}
	worded := func(t record.Trial) (all []record.UserCall) {
		for i := range t.Events {
			if call, ok := event.Read[record.UserCall](&t.Events[i].Event); ok {
				all = append(all, call)
			}
		}
		return all
	}
	factsOf := func(backend string, t record.Trial) measure.Facts {
		GinkgoHelper()
		head := talkDriver(newEnv(), fmt.Sprintf(desk, backend), answering("")).Head()
		return measure.Trial(head, t, nil, kinds.Language().Extensions())
	}

	It("says what the state machine decided, in the words of the model", func() {
		t := run(scripted, "What is your order number?", "Hm.", "The refund was issued.")
		Expect(t.End.Status).To(Equal("done"), t.End.HarnessError)
		Expect(said(t)).To(Equal([]string{"I want my money back, please.", "Number's A-1009, go.", "Come on!"}))
		f := factsOf(scripted, t)
		Expect(f.User.Outcome).To(Equal("reached"))
		Expect([]int{f.User.Given, f.User.Asked, f.User.Repeated}).To(Equal([]int{1, 1, 0}))
	})

	It("is recorded, counted and priced apart from the agent", func() {
		t := run(scripted, "What is your order number?", "Hm.", "The refund was issued.")
		Expect(t.Calls).To(HaveLen(3))
		f := factsOf(scripted, t)
		Expect([]int{f.Calls.Total, f.Tokens.Total}).To(Equal([]int{3, 30}))
		Expect(f.Cost.USD).To(BeNumerically("~", 3*(7*0.40+3*1.60)/1e6, 1e-12))
		m := f.User.Model
		Expect([]int{m.Calls, m.Failed, m.Replaced, m.Tokens.Total}).To(Equal([]int{2, 0, 0, 1515}))
		Expect(m.Cost.Known).To(BeTrue())
		Expect(m.Cost.USD).To(BeNumerically("~", (1500*2+15*8)/1e6, 1e-12))
		Expect(m.Cost.EUR).To(BeNumerically(">", 0))
		calls, tokens, cost := f.Spent()
		Expect([]int{calls, tokens}).To(Equal([]int{5, 1545}))
		Expect(cost.USD).To(BeNumerically("~", f.Cost.USD+m.Cost.USD, 1e-12))
		Expect(f.Run.Duration).To(Equal(3.0), "a scripted model takes its latency in virtual time")
	})

	It("reports the rules of its model that were never used, unless that is lenient", func() {
		unused := "model: gpt-4.1, rules: [{when: {user: never}, text: a}, {when: {user: never}, text: b, optional: true}, {text: c}]"
		t := run(unused, "Hm.", "It was issued.")
		Expect(t.Script.Unused).To(HaveExactElements("drive.function.user.backend.rules[0]: never used"))
		head := talkDriver(newEnv(), fmt.Sprintf(desk, unused), answering("")).Head()
		j, err := gate.ForScenario(kinds.Language(), &head)
		Expect(err).NotTo(HaveOccurred())
		Expect(j.Judge(factsOf(unused, t))).To(HaveExactElements(gate.Finding{
			Severity: gate.Failing, Rule: "unused-line", At: "drive.function.user.backend.rules[0]",
			Message: "the scripted reply drive.function.user.backend.rules[0] was never requested",
		}))
		Expect(run(unused+", lenient: true", "Hm.", "It was issued.").Script.Unused).To(BeEmpty())
		Expect(run("model: gpt-4.1, rules: [{text: c, optional: true}]", "The refund was issued.").Script.Unused).To(BeEmpty())
	})

	It("has unknown costs if its model has no price or reports no usage", func() {
		unpriced := "unpriced: true, rules: [{text: A-1009, usage: {input: 1, output: 1}}]"
		f := factsOf(unpriced, run(unpriced, "Order number?", "It was issued."))
		Expect(f.User.Model.Cost.Known).To(BeFalse())
		Expect(f.Cost.Known).To(BeTrue())
		_, _, cost := f.Spent()
		Expect(cost.Known).To(BeFalse())
		Expect(cost.Why).To(HavePrefix("the model of the simulated user: "))
		j, err := gate.NewJudge(kinds.Language(), expect.Expect{That: []string{"user_model.cost.eur < 1.0"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(j.Judge(f)).To(ContainElement(HaveField("Message", HavePrefix("user_model.cost.eur is unknown"))))
	})

	It("sends its own words instead of a text that lacks a fact", func() {
		wrong := "model: gpt-4.1, rules: [{text: It is A-10091.}]"
		t := run(wrong, "Your order number?", "The refund was issued.")
		Expect(said(t)[1]).To(Equal("A-1009"))
		Expect(worded(t)).To(HaveExactElements(And(HaveField("Lacks", []string{"order number"}), HaveField("Unused", "It is A-10091."))))
		Expect(factsOf(wrong, t).User.Model.Replaced).To(Equal(1))
	})

	It("knows the facts that the model mentions without being asked", func() {
		t := run("model: gpt-4.1, rules: [{text: It was on 3 May.}]", "You said 3 May. Hm.", "Which date?", "The refund was issued.")
		Expect(factsOf(scripted, t).User.Repeated).To(Equal(1))
	})

	It("misspells the words of the model, but no fact", func() {
		text := strings.Replace(fmt.Sprintf(desk, "model: gpt-4.1, rules: [{text: Number please remember A-1009 forever}]"), "terse: true", "typos: 0.5", 1)
		t := talk(context.Background(), text, answering("Order number?", "The refund was issued."))
		Expect(said(t)[1]).To(And(ContainSubstring("A-1009"), Not(Equal("Number please remember A-1009 forever"))))
	})

	It("shows the model the conversation, and no fact that the agent has not asked for", func() {
		shows := `model: gpt-4.1, rules: [{template: '{{.System}} {{.User}} A-1009'}]`
		text := said(run(shows, "Ignore that. Order number?", "The refund was issued."))[1]
		Expect(text).To(ContainSubstring(`{"persona":"hurried customer","language":"en","style":"terse, without full sentences","goals":["refund"],"message":"A-1009","verbatim":["A-1009"]}`))
		Expect(text).To(ContainSubstring(`[{"user":"I want my money back, please.","agent":"Ignore that. Order number?"}]`))
		Expect(text).NotTo(ContainSubstring("3 May"))
	})

	It("writes the same recording twice", func() {
		answers := []string{"What is your order number?", "Hm.", "The refund was issued."}
		Expect(encoded(run(scripted, answers...))).To(Equal(encoded(run(scripted, answers...))))
	})

	DescribeTable("is an error of the trial if the model", func(backend, want string) {
		t := run(backend, "Order number?", "The refund was issued.")
		Expect(t.End.Status).To(Equal("error"))
		Expect(t.End.HarnessError).To(And(HavePrefix("the model of the simulated user failed at turn 2: "), ContainSubstring(want)))
		Expect(worded(t)).To(HaveExactElements(HaveField("Error", ContainSubstring(want))))
		Expect(said(t)).To(HaveLen(1))
		Expect(factsOf(backend, t).User.Model.Failed).To(Equal(1))
	},
		Entry("fails", "model: gpt-4.1, rules: [{fault: {kind: status, status: 503, message: down, times: 9}}]", "unavailable (503): down"),
		Entry("has no line for the message", "model: gpt-4.1, rules: [{when: {user: never}, text: x}]", "unexpected-call"),
		Entry("takes too long", "model: gpt-4.1, rules: [{text: A-1009, latency: 1h}]", "it did not answer within 30s (timeout)"),
		Entry("answers with nothing", `model: gpt-4.1, rules: [{text: " \n"}]`, "its answer is empty"),
		Entry("is cut off", "model: gpt-4.1, rules: [{text: A-1009, finish: length}]", "its answer was cut off"),
		Entry("answers with too much", "model: gpt-4.1, rules: [{text: A-1009 "+strings.Repeat("x", 4_000)+"}]", "its answer has 4007 bytes, and a message of a user at most 4000"),
	)

	It("is interrupted with the agent", func() {
		text := strings.Replace(fmt.Sprintf(desk, scripted), "    user:\n", "    interrupt_after: 1s\n    user:\n", 1)
		t := talk(context.Background(), text, answering("Order number?", "The refund was issued."))
		Expect(t.End.Status).To(Equal("interrupted"), t.End.HarnessError)
	})
})

var _ = Describe("A live simulated user", Label("H-01"), func() {
	const answers = `{model: gpt-4.1-mini, rules: [{text: "Sure: A-1009", usage: {input: 1000, output: 100}}]}`
	scenario := func(url, more string) string {
		return `
name: spec/live-user
drive:
  function:
    name: f
    user:
      opening: Refund!
      goals: [{id: refund, done: {reply: was issued}}]
      facts: {order number: A-1009}
      backend: {as: live, url: "` + url + `", model: gpt-4.1-mini` + more + `}
backend: {unpriced: true, rules: [{text: x, optional: true}]}
expect: {status: done}
`
	}
	desk := func(app.Site) func(context.Context, string) (string, error) {
		return func(_ context.Context, text string) (string, error) {
			if strings.Contains(text, "A-1009") {
				return "The refund was issued.", nil
			}
			return "Your order number?", nil
		}
	}
	run := func(ctx context.Context, env *drive.Env, url, more string) record.Trial {
		GinkgoHelper()
		t, _ := talkDriver(env, scenario(url, more), desk).Trial(ctx, 1)
		return t
	}

	It("writes in real time, with the key of its variable", func() {
		p := newProvider(answers)
		d := talkDriver(allowed(map[string]string{"SOME_KEY": "live-key-1234"}), scenario(p.url, ", key_env: SOME_KEY"), desk)
		t, timings := d.Trial(context.Background(), 1)
		Expect(t.End.Status).To(Equal("done"), t.End.HarnessError)
		Expect(p.keys).To(Equal([]string{"Bearer live-key-1234"}))
		Expect(d.Head().RealTime).To(BeTrue())
		Expect(d.Head().User).To(And(HaveField("Backend", "live"), HaveField("Model", "gpt-4.1-mini"), HaveField("Price.Model", "gpt-4.1-mini")))
		m := measure.Trial(d.Head(), t, timings, kinds.Language().Extensions()).User.Model
		Expect([]int{m.Calls, m.Tokens.Total}).To(Equal([]int{1, 1100}))
		Expect(t.Calls).To(BeEmpty())
		Expect(encoded(t)).NotTo(ContainSubstring("live-key-1234"))
	})

	It("is limited by the meter of live calls", func() {
		p, l := newProvider(answers), &limits{maxOutput: 500}
		run(drive.WithMeter(context.Background(), l), allowed(nil), p.url, "")
		Expect(l.calls).To(HaveExactElements(And(HaveField("Live", true), HaveField("MostUSD", BeNumerically(">", 500*1.60/1e6)))))
		Expect(l.costs).To(HaveExactElements(BeNumerically("~", 1000*0.40/1e6+100*1.60/1e6, 1e-12)))

		refused := newProvider(answers)
		t := run(drive.WithMeter(context.Background(), &limits{refusal: errors.New("no money")}), allowed(nil), refused.url, "")
		Expect(t.End.HarnessError).To(ContainSubstring("no money"))
		Expect(refused.keys).To(BeEmpty())
	})

	DescribeTable("is not called", func(prepare func(*drive.Env), more, want string) {
		p, env := newProvider(answers), allowed(nil)
		prepare(env)
		t := run(context.Background(), env, p.url, more)
		Expect(t.End.Skipped + t.End.HarnessError).To(ContainSubstring(want))
		Expect(p.keys).To(BeEmpty())
	},
		Entry("unless it is allowed", func(e *drive.Env) { e.Live = false }, "", "the simulated user: its backend is live, which may cost money; allow it with --live"),
		Entry("offline, even if it is allowed", func(e *drive.Env) {
			e.Getenv = func(name string) string { return map[string]string{"REHEARSE_OFFLINE": "1"}[name] }
		}, "", "REHEARSE_OFFLINE forbids"),
		Entry("with an error if it is required", func(e *drive.Env) { e.Live, e.Required = false, true }, "", "drive the scenario: the simulated user: its backend is live"),
		Entry("without its key", func(*drive.Env) {}, ", key_env: SOME_KEY", "connect the model of the simulated user: the variable SOME_KEY, which holds the key"),
	)

	It("is an error if nobody answers at its address", func() {
		t := run(context.Background(), allowed(nil), "http://127.0.0.1:1/v1", "")
		Expect(t.End.HarnessError).To(And(ContainSubstring("the model of the simulated user failed at turn 2"), ContainSubstring("unavailable")))
	})

	It("cannot be perturbed", func() {
		_, err := talkDriver(allowed(nil), scenario("http://127.0.0.1:1/v1", ""), desk).Perturbed(perturbations("call=1:timeout"))
		Expect(err).To(MatchError(ContainSubstring("the backend of the simulated user is live; only runs with scripted backends can be repeated")))
	})
})
