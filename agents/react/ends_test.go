package react_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks"
)

var _ = Describe("Escalation", Label("R-07"), func() {
	DescribeTable("follows a trigger, whatever the decision",
		func(trigger react.Trigger) {
			for _, answers := range [][]string{
				{searching, deciding("done", "trigger: "+string(trigger))},
				{searching, deciding("continue", "trigger: "+string(trigger))},
				{docs(deciding("escalate", "trigger: "+string(trigger)))},
				{"thought: Two files could be meant.\ntrigger: " + string(trigger) + "\n"},
				{"thought: Two files could be meant.\naction: search\ntrigger: " + string(trigger) + "\n"},
			} {
				r := newRig(answers...)
				res := r.run()
				Expect(res.Status).To(Equal(react.StatusEscalate), "%q", answers)
				Expect(res.Trigger).To(Equal(trigger))
				Expect(res.ExitCode).To(Equal(9))
				Expect(res.Question).NotTo(BeEmpty())
				Expect(res.Next).To(HavePrefix("Let a person answer"))
				Expect(res.Next).To(ContainSubstring(res.Question))
				Expect(r.emitted(event.HandOver, "person")).To(ConsistOf(
					HaveField("Attrs", map[string]any{"trigger": string(trigger), "answered": false})))
				Expect(r.set.done).To(HaveLen(len(answers)-1), "the action of a step with a trigger is not done")
			}
		},
		Entry("ambiguity", react.Ambiguity), Entry("business decision", react.Decision), Entry("security risk", react.Security), Entry("constraint conflict", react.Conflict), Entry("missing information", react.Missing),
	)

	DescribeTable("follows a step with a trigger, wherever it stands",
		func(answers ...string) {
			r := newRig(answers...)
			res := r.run()
			Expect(res.Trigger).To(Equal(react.Security))
			Expect(res.Question).To(Equal("A key is in the log."))
			Expect(refused(res)).To(HaveEach(""))
		},
		Entry("before other documents", docs(alarming, searching, goingOn)),
		Entry("before an error", docs(alarming, "thought: x\n")),
		Entry("in place of the reflection", searching, alarming),
		Entry("after a reflection", searching, docs(goingOn, alarming)),
		Entry("in place of the verification", searching, finished, alarming),
		Entry("in place of the output", searching, docs(finished, verified), alarming),
	)

	It("comes before any call where a required input is missing", func() {
		for _, given := range []any{nil, "", " \n"} {
			r := newRig(searching, ended)
			r.task.Input["code"] = given
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusEscalate))
			Expect(res.Trigger).To(Equal(react.Missing))
			Expect(res.Question).To(Equal("auditor needs inputs that were not given: code. What are they?"))
			Expect(res.Iterations).To(Equal(0))
			Expect(r.requests).To(BeEmpty())
			Expect(r.emitted(event.HandOver, "person")).To(HaveLen(1))
		}
	})

	It("counts what the input schema requires, too", func() {
		r := newRig(searching, ended)
		r.agent.Contract.InputSchema = []byte(`{"required": ["code", "depth"], "properties": {"depth": {"type": "integer"}}}`)
		Expect(r.run().Question).To(ContainSubstring("not given: depth."))
	})

	It("follows the action escalate, with its reason and context", func() {
		r := newRig(doing("escalate", "  reason: The key in config.yaml is a secret.\n  context: It is in the history, too."))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusEscalate))
		Expect(res.Trigger).To(Equal(react.Security))
		Expect(res.Question).To(Equal("The key in config.yaml is a secret.\n\nContext: It is in the history, too."))
		Expect(r.set.done).To(BeEmpty())
	})

	It("is sorted by its reason where no trigger is named", func() {
		Expect(newRig("decision: escalate\nreason: It is unclear which of the two modules is meant.\n").run().Trigger).To(Equal(react.Ambiguity))
		res := newRig("decision: escalate\nreason: So be it.\n").run()
		Expect(res.Trigger).To(BeEmpty())
		Expect(res.Question).To(Equal("So be it."))
	})

	It("asks no more than a person can read", func() {
		r := newRig("decision: escalate\nreason: " + strings.Repeat("é", 1_000_000) + "\x1b\n")
		Expect(len(r.run().Question)).To(BeNumerically("<", 9_000))
	})

	It("needs no reason", func() {
		Expect(newRig("decision: escalate\n").run().Question).To(Equal("the agent did not say why"))
	})

	Describe("by request_info", func() {
		asking := doing("request_info", "  question: Which branch?\n  context: There are two.")

		It("is not needed when the person answers", func() {
			r := newRig(asking, "reflection: The person wants release-2.\ndecision: continue\nreason: x\n", reading, ended)
			var asked []string
			r.deps.Person = person(func(q, c string) (string, bool) {
				asked = append(asked, q, c)
				return "release-2, please\n---\ndecision: done", true
			})
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusDone))
			Expect(asked).To(Equal([]string{"Which branch?", "There are two."}))
			Expect(r.asked(2)).To(ContainSubstring("| release-2, please\n| ---\n| decision: done"))
			Expect(r.emitted(event.HandOver)).To(ConsistOf(event.Event{
				Kind: event.HandOver, Name: "person", N: 1, Detail: "Which branch?", Attrs: map[string]any{"trigger": "missing-information", "answered": true},
			}))
		})

		DescribeTable("ends the run when nobody does", func(p react.Person) {
			r := newRig(asking)
			r.deps.Person = p
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusEscalate))
			Expect(res.Trigger).To(Equal(react.Missing))
			Expect(res.Question).To(Equal("Which branch?\n\nContext: There are two."))
			Expect(r.emitted(event.HandOver)).To(ConsistOf(HaveField("Attrs", map[string]any{"trigger": "missing-information", "answered": false})))
		},
			Entry("no person", nil),
			Entry("one who does not answer", person(func(string, string) (string, bool) { return "", false })),
		)
	})

	DescribeTable("by an action whose input is not valid is a failed observation", Label("R-05"), func(action, input, message string) {
		r := newRig(doing(action, input), deciding("blocked"))
		r.run()
		Expect(r.asked(2)).To(ContainSubstring("could not be done"))
		Expect(r.asked(2)).To(ContainSubstring(message))
		Expect(r.emitted(event.State, "action")).To(ConsistOf(HaveField("Attrs", And(HaveKeyWithValue("failed", true), HaveKeyWithValue("rule", "bad-input")))))
	},
		Entry("no question", "request_info", "  context: x", "question"),
		Entry("an empty question", "request_info", "  question: ''", "the question is empty"),
		Entry("an unknown key", "escalate", "  reason: x\n  reson: y", "reson"),
		Entry("no agent", "delegate", "  task: x", "agent_id"),
		Entry("not a mapping", "delegate", "  - x", "a mapping"),
	)
})

var _ = Describe("An end state", Label("R-09"), func() {
	DescribeTable("has its exit code and what comes next",
		func(answers []string, status react.Status, code int, next string) {
			r := newRig(answers...)
			res := r.run()
			Expect(res.Status).To(Equal(status), "%s", res.Details)
			Expect(res.ExitCode).To(Equal(code))
			Expect(res.Next).To(HavePrefix(next))
			Expect(res.Agent).To(Equal("auditor"))
			Expect(res.Details).NotTo(BeEmpty())
			Expect(r.emitted(event.End)).To(ConsistOf(event.Event{
				Kind: event.End, Name: string(status), N: res.Iterations, Detail: res.Details, Attrs: map[string]any{"exit_code": code},
			}))
		},
		Entry("done", []string{searching, ended}, react.StatusDone, 0, "Hand the final output on."),
		Entry("partial", []string{searching, docs(deciding("done_partial", "missing: the imports"), verified, report)}, react.StatusPartial, 10,
			"Use the partial output, and see to what is missing: the imports."),
		Entry("escalated", []string{"decision: escalate\nreason: Which module?\n"}, react.StatusEscalate, 9, "Let a person answer, then run the agent again with the answer: Which module?"),
		Entry("delegated", []string{searching, deciding("delegate", "agent_id: lawyer", "task: read it")}, react.StatusDelegate, 11, "Hand the task over to the agent lawyer, which is not here."),
		Entry("blocked", []string{searching, deciding("blocked")}, react.StatusBlocked, 6, "Remove what blocks the agent, then run it again: because of line 12"),
		Entry("failed call", nil, react.StatusError, 1, "Mend the error, then run the agent again: call the backend for auditor, iteration 1: "),
	)

	It("done_partial has the output, and every part that is missing", func() {
		r := newRig(searching, docs(deciding("done_partial", "missing:", "  - the imports", "  - the tests"), doubtful, report))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusPartial))
		Expect(res.Output).To(Equal(report))
		Expect(res.Missing).To(HaveLen(3))
		Expect(res.Missing[:2]).To(Equal([]string{"the imports", "the tests"}))
		Expect(r.phases()).To(Equal("act reflect"), "what the agent itself calls a part is not revised")
	})

	It("names no more parts that are missing than a person can read", func() {
		r := newRig(searching, docs(deciding("done_partial", "missing:"+strings.Repeat("\n  - x", 1000)), verified, report))
		Expect(r.run().Missing).To(HaveLen(50))
	})

	It("is text that can be read back", func() {
		for _, row := range react.Statuses() {
			var s react.Status
			Expect(s.UnmarshalText([]byte(row.Status))).To(Succeed())
			Expect(s.ExitCode()).To(Equal(row.ExitCode))
		}
		var s react.Status
		Expect(s.UnmarshalText([]byte("stopped"))).To(MatchError(`"stopped" is not a status of a run`))
		Expect(react.Status("?").ExitCode()).To(Equal(1))
	})
})

// cause makes one reason for an end true while the reflection of the first
// iteration is answered.
type cause struct {
	name string
	is   react.Status
	set  func(*rig)
}

var _ = Describe("Precedence", func() {
	causes := []cause{
		{"interrupted", react.StatusInterrupted, func(*rig) {}},
		{"budget.tokens", react.StatusBudget, func(r *rig) { r.options.Budget = llm.Caps{Tokens: 1} }},
		{"timeout", react.StatusTimeout, func(r *rig) { r.options.Timeout = quantity.Duration(time.Second) }},
		{"done", react.StatusDone, func(*rig) {}},
		{"max-iterations", react.StatusEscalate, func(r *rig) { r.options.MaxIterations = 1 }},
	}
	for i, strong := range causes {
		for _, weak := range causes[i+1:] {
			It(fmt.Sprintf("%s goes before %s", strong.name, weak.name), func() {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				text := goingOn
				if strong.name == "done" || weak.name == "done" {
					text = ended
				}
				r := newRig()
				n := 0
				// A backend that pays no heed to its context, so that an answer can
				// arrive after the time is up.
				r.deps.Backend = llm.BackendFunc(func(context.Context, llm.Request) (llm.Reply, error) {
					if n++; n == 1 {
						return llm.Reply{Text: searching, Usage: &llm.Usage{}}, nil
					}
					if strong.name == "interrupted" {
						cancel()
					}
					return llm.Reply{Text: text, Usage: &llm.Usage{Output: 2}}, r.clock.Sleep(context.Background(), time.Second)
				})
				strong.set(r)
				weak.set(r)
				res := r.runIn(ctx)
				Expect(res.Status).To(Equal(strong.is))
				if strong.is != react.StatusDone && strong.is != react.StatusInterrupted {
					Expect(res.Guard).To(Equal(strong.name))
					Expect(r.emitted(event.Guard, strong.name)).To(HaveLen(1))
				}
			})
		}
	}

	It("stops before the call that a budget does not have", func() {
		r := newRig(searching, ended)
		r.options.Budget = llm.Caps{Calls: 1}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusBudget))
		Expect(res.ExitCode).To(Equal(7))
		Expect(res.Guard).To(Equal("budget.calls"))
		Expect(r.requests).To(HaveLen(1))
		Expect(res.Transcript).To(HaveLen(1), "what was done is kept")
	})

	It("shares a budget with others", func() {
		r := newRig(searching, ended)
		r.deps.Shared = llm.NewBudget(llm.Caps{Calls: 1}, nil, 0)
		Expect(r.run().Status).To(Equal(react.StatusBudget))
	})

	It("ends a call at its timeout, and the run with it", func() {
		r := newRig()
		r.options.CallTimeout = quantity.Duration(time.Minute)
		slow := say("too late")
		slow.Latency.First = mocks.Duration(time.Hour)
		r.turns = []mocks.Line{slow}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(llm.KindOf(res.Err)).To(Equal(llm.Timeout))
		Expect(res.Duration).To(Equal(time.Minute))
	})

	It("ends an action that hangs at the run's timeout", func() {
		r := newRig(searching)
		r.options.Timeout = quantity.Duration(time.Minute)
		r.set.stall = func(ctx context.Context) error { return r.clock.Sleep(ctx, clock.Forever) }
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusTimeout))
		Expect(res.ExitCode).To(Equal(3))
		Expect(res.Guard).To(Equal("timeout"))
	})

	It("makes no call when the user interrupted before", func() {
		r := newRig(searching, ended)
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		res := r.runIn(ctx)
		Expect(res.Status).To(Equal(react.StatusInterrupted))
		Expect(res.ExitCode).To(Equal(130))
		Expect(res.Iterations).To(Equal(0))
		Expect(r.requests).To(BeEmpty())
	})

	It("takes the caller's deadline for a timeout, too", func() {
		r := newRig(searching, ended)
		ctx, cancel := r.clock.WithTimeout(context.Background(), time.Second)
		defer cancel()
		res := r.runIn(ctx)
		Expect(res.Status).To(Equal(react.StatusTimeout))
		Expect(res.Details).To(Equal("stopped at the caller's deadline"))
	})

	It("fails with an action that could not even be tried", func() {
		r := newRig(searching)
		r.set.stall = func(context.Context) error { return errTest }
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(res.Err).To(MatchError(errTest))
		Expect(res.Details).To(Equal("do the action search for auditor: for a test"))
	})

	DescribeTable("stops before what the caller forbids", func(kind string, calls, actions int) {
		r := newRig(searching, goingOn, reading, ended)
		n := 0
		r.deps.Before = func(k string) error {
			if n++; k == kind && n > 2 {
				return errTest
			}
			return nil
		}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusError))
		Expect(errors.Is(res.Err, errTest)).To(BeTrue())
		Expect(r.requests).To(HaveLen(calls))
		Expect(r.set.done).To(HaveLen(actions))
		Expect(r.emitted(event.End, "error")).To(HaveLen(1))
	},
		Entry("before a call", "call", 1, 1),
		Entry("before an action", "action", 3, 1),
	)
})
