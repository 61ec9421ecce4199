package react_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

var _ = Describe("A step that is not accepted", Label("R-01"), func() {
	DescribeTable("counts as an iteration and is asked for again, with its error and place",
		func(bad, rule, guard, place string) {
			r := newRig(bad, searching, ended)
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusDone))
			Expect(refused(res)).To(Equal([]string{rule, ""}))
			Expect(res.Iterations).To(Equal(2))
			Expect(r.set.done).To(Equal([]string{"search"}), "actions done")
			Expect(r.emitted(event.Guard)).To(ConsistOf(HaveField("Name", guard)))
			Expect(r.asked(2)).To(HavePrefix("That was not accepted: " + place))
			Expect(r.asked(2)).To(HaveSuffix("(rule " + rule + ")\n\nWrite the next step: thought, action and action_input. End the answer there."))
			Expect(res.Transcript[0].Fault).To(HavePrefix(place))
			Expect(r.phases()).To(Equal("act act reflect"))
		},
		Entry("prose", "I would like to look around.", "no-step", "malformed", ""),
		Entry("a key that is unknown", "thougt: x\naction: search\n", "unknown-key", "malformed", "line 1, column 1: "),
		Entry("an action without a thought", "action: search\naction_input:\n  query: eval\n", "thought-required", "thought-required", "line 1, column 1: "),
		Entry("an action with an empty thought", "thought: ''\naction: search\n", "thought-required", "thought-required", "line 2, column 1: "),
		Entry("an observation after the action", docs(searching, "observation: I see\n"+goingOn), "invented-observation", "invented-observation", "line 7, column 1: "),
		Entry("a reflection after the action", docs(searching, goingOn), "invented-observation", "invented-observation", "line 7, column 1: "),
		Entry("a second action after the action", docs(searching, reading), "invented-observation", "invented-observation", "line 7, column 1: "),
		Entry("a whole run in one answer", docs(searching, finished, verified, report), "invented-observation", "invented-observation", "line 7, column 1: "),
		Entry("an error after the action", docs(searching, "thought: y\n"), "action-required", "malformed", "line 7, column 1: "),
		Entry("a reflection before anything was done", goingOn, "too-early", "malformed", "line 1, column 1: "),
		Entry("done before anything was done", docs(finished, verified, report), "too-early", "malformed", "line 1, column 1: "),
		Entry("a verification before the decision", docs(verified, report), "too-early", "malformed", "line 1, column 1: "),
	)

	It("is an unknown action, too", Label("R-05"), func() {
		r := newRig(doing("sniff", "  query: x"), searching, ended)
		r.set.results["sniff"] = action.Result{Failed: true, Rule: "unknown-action", Observation: `there is no action "sniff"`}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"unknown-action", ""}))
		Expect(r.emitted(event.Guard)).To(ConsistOf(HaveField("Name", "unknown-action")))
		Expect(r.emitted(event.State)).To(HaveLen(1), "only what was done")
		Expect(r.asked(2)).To(HavePrefix(`That was not accepted: line 1, column 1: there is no action "sniff" (rule unknown-action)`))
	})

	DescribeTable("is asked for again when an answer was cut off, however good it looks",
		func(reason llm.FinishReason) {
			r := newRig("", searching, ended)
			r.turns[0] = say(searching)
			r.deps.Backend = llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
				reply, err := r.Complete(ctx, req)
				if len(r.requests) == 1 {
					reply.Finish = reason
				}
				return reply, err
			})
			res := r.run()
			Expect(refused(res)).To(Equal([]string{"cut-off", ""}))
			Expect(r.set.done).To(HaveLen(1))
		},
		Entry("at the limit", llm.FinishLength),
		Entry("by a filter", llm.FinishContentFilter),
	)

	It("is asked for again after an empty answer, without sending an empty message", func() {
		r := newRig("", "  \n", searching, ended)
		Expect(r.run().Status).To(Equal(react.StatusDone))
		Expect(r.requests[2].Messages).To(HaveLen(2))
		Expect(strings.Count(r.asked(3), "That was not accepted")).To(Equal(1), "said once, not once for each empty answer")
		Expect(r.asked(3)).To(HavePrefix("The task:"))
	})

	It("leaves what came before it in the answer", func() {
		r := newRig(searching, docs(goingOn, "action: analyze\n"), reading, ended)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"", "thought-required", ""}))
		Expect(res.Transcript[0].Decision).To(Equal("continue"))
	})
})

var _ = DescribeTable("An answer of megabytes is one more step, or output, that is judged",
	func(status react.Status, answers ...string) {
		r := newRig(answers...)
		r.agent.Contract.Output = []byte(`{"type": "array"}`)
		r.options.MaxIterations, r.options.Revisions = len(answers), -1
		Expect(r.run().Status).To(Equal(status))
	},
	Entry("keys", react.StatusEscalate, strings.Repeat("thought: x\n", 1_000_000)),
	Entry("documents", react.StatusEscalate, strings.Repeat("thought: x\naction: search\n---\n", 300_000)),
	Entry("brackets", react.StatusEscalate, strings.Repeat(`{"a":[{"`, 1_250_000)),
	Entry("fences", react.StatusEscalate, strings.Repeat("```yaml\n", 500_000)),
	Entry("an action's input", react.StatusBlocked, doing("delegate", strings.Repeat("  - [{\n", 300_000)), deciding("blocked")),
	Entry("a reflection", react.StatusBlocked, searching, "reflection: |\n"+strings.Repeat("  src/login.go:12 calls eval.\n", 100_000)+"decision: blocked\n"),
	Entry("an output", react.StatusPartial, searching, docs(finished, verified, strings.Repeat("[", 900_000))),
	Entry("fences in an output", react.StatusPartial, searching, docs(finished, verified, strings.Repeat("```\n{}\n```\n", 70_000))),
)

var _ = Describe("Thought", Label("R-03"), func() {
	It("goes before every action that is done", func() {
		r := newRig("action: search\n", "thought: |\n\n\naction: search\n", searching, docs(goingOn, "action: analyze\n"), ended)
		res := r.run()
		Expect(r.set.done).To(Equal([]string{"search"}))
		Expect(refused(res)).To(Equal([]string{"thought-required", "thought-required", "", "thought-required", "too-early"}))
	})
})

var _ = Describe("Reflection", Label("R-04"), func() {
	It("is refused when it cites nothing of the observation, and asked for again", func() {
		r := newRig(searching, pleased, goingOn, reading, ended)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"complacent-reflection", "", ""}))
		Expect(res.Transcript[0].Observation).To(Equal(found))
		Expect(res.Transcript[0].Decision).To(BeEmpty(), "a refused reflection decides nothing")
		Expect(r.phases()).To(Equal("act reflect reflect act reflect"))
		Expect(r.emitted(event.Guard)).To(ConsistOf(And(HaveField("Name", "complacent-reflection"), HaveField("Attrs", map[string]any{"refused": true}))))
		Expect(r.asked(3)).To(ContainSubstring("(rule complacent-reflection)\n\nWrite the reflection on this observation"))
		Expect(r.emitted(event.Verdict, "reflection")).To(HaveLen(3))
	})

	It("is reported, and the run continues, if the policy allows it", func() {
		r := newRig(searching, pleased, reading, ended)
		r.options.Reflection = react.Flag
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"", ""}))
		Expect(r.emitted(event.Guard)).To(ConsistOf(And(HaveField("Name", "complacent-reflection"), HaveField("Attrs", map[string]any{"refused": false}))))
	})

	DescribeTable("is compared with the engine's observation, not with the agent's", func(claim string) {
		r := newRig(searching, claim+"reflection: 7 files hold passwords in config.yaml.\ndecision: continue\nreason: x\n", goingOn, reading, ended)
		Expect(refused(r.run())).To(Equal([]string{"complacent-reflection", "", ""}))
	},
		Entry("nothing", ""),
		Entry("an invented observation", "observation: 7 files hold passwords in config.yaml\n"),
	)

	DescribeTable("is not needed to be critical to hand over to a person", func(decision string, status react.Status) {
		r := newRig(searching, "reflection: It went well.\n"+decision)
		Expect(r.run().Status).To(Equal(status))
	},
		Entry("escalate", "decision: escalate\nreason: Which one?\n", react.StatusEscalate),
		Entry("blocked", "decision: blocked\nreason: no disk\n", react.StatusBlocked),
		Entry("a trigger", "decision: continue\ntrigger: ambiguity\n", react.StatusEscalate),
	)

	It("comes before the next action", func() {
		r := newRig(searching, reading, goingOn, reading, ended)
		res := r.run()
		Expect(refused(res)).To(Equal([]string{"reflection-required", "", ""}))
		Expect(r.set.done).To(Equal([]string{"search", "analyze"}))
		Expect(r.phases()).To(Equal("act reflect reflect act reflect"))
	})

	It("is asked for again when it cannot be read", func() {
		r := newRig(searching, "reflection: src/login.go:12\n", ended)
		Expect(refused(r.run())).To(Equal([]string{"decision-required", ""}))
	})
})

var _ = Describe("Being stuck", func() {
	// results gives the observations in turn; one that begins with "ok" has not failed.
	results := func(r *rig, failed bool, observations ...string) {
		n := 0
		r.deps.Actions = func(*agentOf) (action.Set, error) {
			return setFunc(func(string) action.Result {
				text := observations[n%len(observations)]
				n++
				return action.Result{Failed: failed && !strings.HasPrefix(text, "ok"), Rule: "timeout", Observation: text}
			}), nil
		}
	}
	// acting is n iterations, each with its own action input where inputs differ.
	acting := func(n int, differ bool) (answers []string) {
		for i := range n {
			query := "x"
			if differ {
				query = fmt.Sprintf("x%d", i)
			}
			answers = append(answers, doing("search", "  query: "+query), deciding("continue"))
		}
		return answers
	}

	DescribeTable("ends the run",
		func(limit int, failed, differ bool, observations []string, iterations int, why string) {
			r := newRig(acting(20, differ)...)
			results(r, failed, observations...)
			r.options.MaxIterations, r.options.Stuck, r.options.Reflection = 20, limit, react.Flag
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusBlocked))
			Expect(res.ExitCode).To(Equal(6))
			Expect(res.Guard).To(Equal("stuck"))
			Expect(res.Details).To(ContainSubstring(why))
			Expect(res.Iterations).To(Equal(iterations))
			Expect(r.emitted(event.Guard, "stuck")).To(HaveLen(1))
		},
		Entry("same action and observation", 0, false, false, []string{"a"}, 3, "3 times the same action with the same observation (stuck 3)"),
		Entry("observations that differ in a time only", 3, false, false, []string{"at 10:15", "at 10:16", "at 11:17"}, 3, "3 times the same action"),
		Entry("at another limit", 5, false, false, []string{"a"}, 5, "5 times"),
		Entry("the same error of different attempts", 3, true, true, []string{"no disk"}, 3, "3 times the same error"),
		Entry("two that alternate", 2, false, false, []string{"a", "b"}, 4, "a cycle of 2 actions that came 2 times"),
		Entry("four that go round", 3, false, false, []string{"a", "b", "c", "d"}, 12, "a cycle of 4 actions that came 3 times"),
	)

	DescribeTable("does not end a run",
		func(limit int, failed, differ bool, observations ...string) {
			r := newRig(acting(20, differ)...)
			results(r, failed, observations...)
			r.options.MaxIterations, r.options.Stuck, r.options.Reflection = 20, limit, react.Flag
			Expect(r.run().Guard).To(Equal("max-iterations"))
		},
		Entry("that gets further", 3, false, false, "a", "b", "c", "d", "e"),
		Entry("with the same observation of different attempts", 3, false, true, "nothing found"),
		Entry("whose errors are not in a row", 3, true, true, "no disk", "no disk", "ok, three files"),
		Entry("where it is off", -1, false, false, "a"),
	)

	It("loses to an end that the agent decides", func() {
		r := newRig(append(acting(2, false), doing("search", "  query: x"), ended)...)
		Expect(r.run().Status).To(Equal(react.StatusDone))
	})
})
