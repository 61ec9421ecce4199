package followup_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/followup"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/budget"
)

var _ = Describe("A todo", Label("G-07"), func() {
	DescribeTable("is settled by the new answer",
		func(todo, answer string, want followup.State) {
			r := newRig(followup.Options{Rounds: 1}, say(answer))
			Expect(states(r.run("left: " + todo))).To(HaveKeyWithValue(todo, want))
		},
		Entry("done", "deploy to staging", "Deployed to staging.", followup.Done),
		Entry("pending without a word of it", "deploy to staging", "All good.", followup.Pending),
		Entry("pending while all that is said is that all is done", "deploy to staging", "All done.", followup.Pending),
		Entry("done if all steps are said to be done", "deploy to staging", "All steps are done.", followup.Done),
		Entry("done by its number", "deploy to staging", "1. Done", followup.Done),
		Entry("done with another verb of its kind", "write the login tests", "Added the login tests.", followup.Done),
		Entry("done by its result", "run the login tests", "The login tests pass.", followup.Done),
		Entry("done in French", "écrire les tests", "Les tests sont écrits.", followup.Done),
		Entry("pending where another thing was done to it", "document the tests", "The tests are written and pass.", followup.Pending),
		Entry("pending where it is only announced", "deploy to staging", "I will deploy to staging.", followup.Pending),
		Entry("pending where it depends", "deploy to staging", "Once it is deployed to staging, we can look.", followup.Pending),
		Entry("pending where the user is asked", "write the tests", "Should I use Jest or Vitest for the tests?", followup.Pending),
		Entry("left again", "deploy to staging", "left: deploy to staging", followup.Pending),
		Entry("left again in other words", "run the new tests", "left: run all new tests", followup.Pending),
		Entry("another one is left", "test the login page", "Tested the login page.\nleft: document the API", followup.Done),
		Entry("denied", "deploy to staging", "I could not deploy to staging: no key.", followup.Failed),
		Entry("denied in another form", "run the tests", "The tests have not been run.", followup.Failed),
		Entry("denied by an apostrophe", "run the tests", "I couldn’t run the tests here.", followup.Failed),
		Entry("skipped", "deploy to staging", "Deployment to staging was skipped.", followup.Failed),
		Entry("denied in French", "déployer en production", "Je n'ai pas pu déployer en production.", followup.Failed),
		Entry("not denied by a result", "fix the login test", "Fixed the login test: it did not time out again.", followup.Done),
		Entry("not denied by something else", "deploy to staging", "I could not reproduce the old bug. Deployed to staging.", followup.Done),
		Entry("denied after something else", "deploy to staging", "I could not lint it. I could not deploy to staging.", followup.Failed),
		Entry("not denied by the same verb", "run the login tests on staging", "I could not run the linter.", followup.Pending),
		Entry("not denied by a word that begins alike", "configure staging", "I could not confirm staging.", followup.Pending),
		Entry("a longer one is left", "run tests", "Ran the tests.\nleft: run nightly export tests on docker", followup.Done),
		Entry("left again without a word that means anything", "all of it", "left: all of it", followup.Pending),
		Entry("unsettled by an empty answer", "deploy", "", followup.Pending),
	)

	It("that was denied is left, although the answer could stop", func() {
		r := newRig(followup.Options{}, say("I did not deploy it."), say("Deployed."))
		out := r.run("left: deploy")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(out.Rounds).To(HaveLen(2))
		Expect(r.prompt(2)).To(ContainSubstring(`("1 of 1 todos are not reported as done")`))
		Expect(r.prompt(2)).To(ContainSubstring(`1. "deploy"`))
	})

	It("that only the user decides on is none, and the prompt says so", func() {
		r := newRig(followup.Options{Rounds: 1}, say("The tests are written."))
		r.deps.Judge = nil
		out := r.run("Next steps:\n- Write the tests\n- Delete the production database")
		Expect(states(out)).To(Equal(map[string]followup.State{"Write the tests": followup.Done}))
		Expect(r.prompt(1)).To(And(ContainSubstring("1. \"Write the tests\"\nContinue"),
			ContainSubstring("say that it needs the user:\n- \"Delete the production database\"")))
	})

	It("is done only where one answer of three names it", func() {
		r := newRig(followup.Options{}, say("The tests are written and pass."), say("The API is documented."), say("The page is updated."))
		r.deps.Judge = nil
		out := r.run("Next steps:\n- Write the tests\n- Document the API\n- Update the page")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(out.Rounds).To(HaveLen(3))
		Expect(r.told(event.Verdict)[1].Attrs).To(HaveKeyWithValue("executed", 1))
	})

	It("that was denied does not keep the agent from asking the user", func() {
		r := newRig(followup.Options{}, say("I could not deploy: which key? ask"))
		out := r.run("left: deploy")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(states(out)).To(Equal(map[string]followup.State{"deploy": followup.Failed}))
	})

	It("is done when the judge lets the answer stop, even one that names steps", func() {
		r := newRig(followup.Options{}, say("Deployed."))
		r.deps.Judge = func(_ context.Context, answer string) stop.Verdict {
			return stop.Verdict{MayStop: answer == "Deployed.", Steps: []stop.Step{{ID: "1", Description: "deploy"}}}
		}
		out := r.run("answer")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(states(out)).To(Equal(map[string]followup.State{"deploy": followup.Done}))
	})

	DescribeTable("is made to go on from an answer that settles nothing, although that could stop",
		func(first llm.Reply, reason string) {
			r := newRig(followup.Options{}, say("All of it is done."))
			out := followup.Run(context.Background(), r.options, r.deps, first)
			Expect(out.Status).To(Equal(followup.StatusAllowed))
			Expect(out.Answer).To(Equal("All of it is done."))
			Expect(r.judged).To(Equal([]string{"All of it is done."}))
			Expect(r.prompt(1)).To(ContainSubstring(reason))
		},
		Entry("empty", llm.Reply{Finish: llm.FinishStop}, "the answer is empty"),
		Entry("blank", llm.Reply{Text: " \n", Finish: llm.FinishStop}, "the answer is empty"),
		Entry("cut off", llm.Reply{Text: "The importer reads", Finish: llm.FinishLength}, "the answer was cut off (finish reason length)"),
		Entry("withheld", llm.Reply{Text: "The", Finish: llm.FinishContentFilter}, "the answer was cut off (finish reason content_filter)"),
	)
	DescribeTable("is not done by an answer that was cut off, although that could stop",
		func(finish llm.FinishReason) {
			r := newRig(followup.Options{Rounds: 1}, reply(llm.Reply{Text: "Deployed and", Finish: finish}))
			out := r.run("left: deploy")
			Expect(out.Status).To(Equal(followup.StatusCapped))
			Expect(out.Verdict.Reason).To(Equal(fmt.Sprintf("the answer was cut off (finish reason %s)", finish)))
			Expect(states(out)).To(Equal(map[string]followup.State{"deploy": followup.Pending}))
		},
		Entry("by length", llm.FinishLength),
		Entry("by the content filter", llm.FinishContentFilter),
	)

	It("is left with every step beside it that is new", func() {
		r := newRig(followup.Options{Rounds: 2}, say("Linted.\nleft: b\nleft: c"), say("done"))
		out := r.run("left: lint\nleft: b")
		Expect(out.Rounds[1].Todos).To(Equal([]string{"id-b", "id-c"}))
	})
})

var _ = Describe("A follow-up with a call for each todo", Label("G-07"), func() {
	perTodo := followup.Options{PerTodo: true}

	It("asks for one after the other in the order of the plan", func() {
		r := newRig(perTodo, say("Tested."), say("Deployed."))
		out := r.run("left: deploy after test\nleft: test")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(out.Rounds).To(HaveLen(1))
		Expect(out.Rounds[0].Answer).To(Equal("Tested.\n\nDeployed."))
		Expect(out.Answer).To(Equal("Deployed."))
		Expect(r.prompt(1)).To(ContainSubstring("1. \"test\"\nContinue"))
		Expect(r.prompt(2)).To(ContainSubstring("1. \"deploy\"\nContinue"))
	})

	It("does not mind that an answer announces what comes next anyway", func() {
		r := newRig(perTodo, say("Tested.\nleft: deploy"), say("Deployed."))
		Expect(r.run(twoLeft).Status).To(Equal(followup.StatusAllowed))
		Expect(r.requests).To(HaveLen(2))
	})

	It("keeps what an earlier answer of the round leaves", func() {
		r := newRig(perTodo, say("Tested.\nleft: fix"), say("Deployed."), say("Fixed."))
		out := r.run(twoLeft)
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(out.Rounds).To(HaveLen(2))
		Expect(out.Rounds[1].Todos).To(Equal([]string{"id-fix"}))
	})

	It("blocks what waits for one that failed, and comes back to it", func() {
		r := newRig(perTodo, say("I could not test it."), say("Documented."), say("Tested."), say("Deployed."))
		out := r.run(twoLeft + "\nleft: document")
		Expect(out.Status).To(Equal(followup.StatusAllowed))
		Expect(out.Rounds).To(HaveLen(2))
		Expect(r.prompt(2)).To(ContainSubstring(`"document"`), "deploy waits for test")
		Expect(out.Rounds[1].Todos).To(Equal([]string{"id-test", "id-deploy"}))
		Expect(states(out)).To(HaveEach(followup.Done))
	})

	It("ends with todos blocked when none can go on", func() {
		r := newRig(followup.Options{PerTodo: true, Rounds: 1}, say("I could not test it."))
		out := r.run(twoLeft + "\nleft: announce after deploy")
		Expect(out.Status).To(Equal(followup.StatusCapped))
		Expect(states(out)).To(Equal(map[string]followup.State{
			"test": followup.Failed, "deploy": followup.Blocked, "announce": followup.Blocked,
		}))
	})

	It("stops calling when one fails", func() {
		r := newRig(perTodo, fail, say("Deployed."))
		out := r.run("left: a\nleft: b")
		Expect(out.Status).To(Equal(followup.StatusError))
		Expect(r.requests).To(HaveLen(1))
		Expect(states(out)).To(Equal(map[string]followup.State{"a": followup.Failed, "b": followup.Pending}))
	})

	It("asks once where no step was found", func() {
		r := newRig(perTodo, say("Done."))
		Expect(r.run("refuse").Status).To(Equal(followup.StatusAllowed))
		Expect(r.requests).To(HaveLen(1))
	})
})

var _ = Describe("Any follow-up", Label("G-07"), func() {
	It("ends within its bounds, and is allowed only if the last verdict says so", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			pool := []string{
				"done", "left: a", "left: b", "left: c after a", "left: a\nleft: b", "refuse", "refuse 2", "ask", "", "I could not a.",
				"I did not c. ask", "again\nleft: a",
			}
			var turns []turn
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(pool)+2), 0, 12).Draw(t, "turns") {
				switch {
				case i < len(pool):
					turns = append(turns, say(pool[i]))
				case i == len(pool):
					turns = append(turns, fail)
				case i == len(pool)+1:
					turns = append(turns, hang)
				default:
					turns = append(turns, reply(llm.Reply{Text: "done", Finish: llm.FinishLength}))
				}
			}
			o := followup.Options{
				PerTodo:         rapid.Bool().Draw(t, "per todo"),
				Rounds:          rapid.IntRange(1, 6).Draw(t, "rounds"),
				NoProgressLimit: rapid.IntRange(-1, 3).Draw(t, "no progress"),
				Timeout:         quantity.Duration(rapid.IntRange(1, 10).Draw(t, "timeout") * 1e9),
				Budget:          budget.Caps{Calls: rapid.IntRange(0, 8).Draw(t, "calls")},
			}
			r := newRig(o, turns...)
			answer := rapid.SampledFrom(pool).Draw(t, "answer")
			out := followup.Run(context.Background(), r.options, r.deps, llm.Reply{Text: answer})

			last := r.told("verdict")
			switch {
			case !slices.ContainsFunc(followup.Statuses(), func(row followup.StatusInfo) bool {
				return row.Status == out.Status && row.ExitCode == out.ExitCode
			}):
				t.Fatalf("status %q, exit code %d", out.Status, out.ExitCode)
			case len(out.Rounds) > o.Rounds, out.Calls > o.Rounds*4, o.Budget.Calls > 0 && out.Calls > o.Budget.Calls:
				t.Fatalf("%d rounds and %d calls", len(out.Rounds), out.Calls)
			case out.Calls != len(r.requests):
				t.Fatalf("%d calls told, %d made", out.Calls, len(r.requests))
			case out.Status == followup.StatusAllowed && (!out.Verdict.MayStop || last[len(last)-1].Attrs["allow"] != true):
				t.Fatalf("allowed by %+v", out.Verdict)
			case out.Status == followup.StatusAllowed && !r.judge(context.Background(), out.Answer).MayStop:
				t.Fatalf("allowed although %q may not stop", out.Answer)
			case len(r.told("end")) != 1:
				t.Fatalf("%d ends", len(r.told("end")))
			}
			for _, e := range r.told("state") {
				if e.Attrs["from"] == e.Attrs["to"] {
					t.Fatalf("no move: %+v", e)
				}
			}
			for _, todo := range out.Todos {
				undone := todo.State != followup.Done && out.Verdict.Class != stop.Asks
				if out.Status == followup.StatusAllowed && undone {
					t.Fatalf("allowed with todo %q %s", todo.Description, todo.State)
				}
			}
		})
	})

	It("is the same when it runs again", func() {
		events := func() string {
			r := newRig(followup.Options{PerTodo: true}, say("I could not test it."), say("left: more"), say("Tested."), fail)
			r.run(twoLeft + "\nleft: document")
			return strings.ReplaceAll(fmt.Sprintf("%v", r.events), "\n", " ")
		}
		Expect(events()).To(Equal(events()))
	})
})
