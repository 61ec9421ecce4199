package match_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/types"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/match"
	"github.com/rehearse-dev/rehearse/internal/golden"
	"github.com/rehearse-dev/rehearse/kinds"
)

var _ = Describe("the matchers", func() {
	It("match the observed values", func() {
		res := rehearse(hours)
		for _, subject := range []any{res, res.Trials[0], *res.Trials[0]} {
			Expect(subject).To(And(
				match.Pass(),
				match.Calls(3), match.Calls(BeNumerically(">", 2)), match.CallsFor("answer", 3), match.CallsFor("review", 0),
				match.Tokens(880), match.Tokens(int64(880)),
				match.CostAtMost("0.01 EUR"), match.CostAtMost("1 USD"),
				match.LatencyAtMost(1, 2*time.Second), match.LatencyAtMost(0.5, 500*time.Millisecond),
				match.EndedWith("done"),
				match.Answered("closed"), match.Answered(Equal("We are closed.")),
				match.Said("At nine"), match.Said(HavePrefix("We")),
				match.FaultFired("status"), match.NoUnexpectedCalls(),
			))
			Expect(subject).NotTo(Or(
				match.Calls(2), match.CallsFor("answer", 2), match.Tokens(879), match.CostAtMost("0.0001 EUR"),
				match.LatencyAtMost(1, 1999*time.Millisecond), match.LatencyAtMost(0.5, 499*time.Millisecond), match.EndedWith("failed"),
				match.Answered("At nine"), match.Said("never"), match.OneQuestionAtATime(), match.FaultFired("timeout"),
			))
		}
		Expect(rehearse(strings.Replace(hours, "calls: 3", "calls: 2", 1))).NotTo(match.Pass())
	})

	It("use the answers of the model if an agent has no turns", func() {
		res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Kinds: kinds.All(), Files: []string{"loop/no-progress"}})
		Expect(err).NotTo(HaveOccurred())
		Expect(res).To(match.Said("Same response"))
		Expect(res).NotTo(match.Said("Another"))
	})

	It("count the questions of each answer separately, outside of code", func() {
		asks := func(text string) *harness.Result {
			return rehearse(strings.Replace(hours, "At nine. Do you want to come? Or do you call?", text, 1))
		}
		Expect(asks("Will you come?")).To(match.OneQuestionAtATime())
		Expect(asks("Try `a ? b : c` or https://example.com/?q=1 first. Well?")).To(match.OneQuestionAtATime())
		Expect(asks("What is it? And why?")).NotTo(match.OneQuestionAtATime())
	})

	It("report what was expected and observed, with the trial", func() {
		res := rehearse(hours)
		odd := rehearse(strings.Replace(hours, "{text: We", "{when: {user: Monday}, text: We", 1))
		var b strings.Builder
		say := func(title string, m types.GomegaMatcher, subject *harness.Result, negated bool) {
			ok, err := m.Match(subject)
			Expect(err).NotTo(HaveOccurred(), title)
			Expect(ok).To(Equal(negated), title)
			message := m.FailureMessage(subject)
			if negated {
				message = m.NegatedFailureMessage(subject)
			}
			message, cut := strings.CutSuffix(message, "\n\n"+subject.Trials[0].String())
			Expect(cut).To(BeTrue(), "the story comes after it: %s", message)
			fmt.Fprintf(&b, "%s:\n%s\n\n", title, message)
		}
		say("Calls", match.Calls(2), res, false)
		say("Calls, not", match.Calls(3), res, true)
		say("Calls with a matcher", match.Calls(BeNumerically("<", 3)), res, false)
		say("Calls with a matcher, not", match.Calls(BeNumerically(">", 2)), res, true)
		say("CallsFor", match.CallsFor("review", 1), res, false)
		say("Tokens", match.Tokens(1000), res, false)
		say("CostAtMost", match.CostAtMost("0.0001 EUR"), res, false)
		say("CostAtMost, not", match.CostAtMost("1 USD"), res, true)
		say("LatencyAtMost", match.LatencyAtMost(0.95, time.Second), res, false)
		say("EndedWith", match.EndedWith("failed"), res, false)
		say("Answered", match.Answered("nine"), res, false)
		say("Answered with a matcher", match.Answered(HavePrefix("At")), res, false)
		say("Said", match.Said("never"), res, false)
		say("Said, not", match.Said("closed"), res, true)
		say("OneQuestionAtATime", match.OneQuestionAtATime(), res, false)
		say("FaultFired", match.FaultFired("timeout"), res, false)
		say("FaultFired, not", match.FaultFired("status"), res, true)
		say("NoUnexpectedCalls", match.NoUnexpectedCalls(), odd, false)
		say("Pass", match.Pass(), odd, false)
		say("Pass, not", match.Pass(), res, true)
		fmt.Fprintf(&b, "The story of a trial that passes:\n%s\nAnd of one that fails:\n%s", res.Trials[0], odd.Trials[0])
		golden.Expect("messages.txt", []byte(b.String()))
	})

	DescribeTable("return an error if they cannot decide",
		func(subject func() any, m types.GomegaMatcher, message string) {
			for _, assert := range []func(a Assertion){
				func(a Assertion) { a.To(m) },
				func(a Assertion) { a.NotTo(m) },
			} {
				failures := InterceptGomegaFailures(func() { assert(Expect(subject())) })
				Expect(failures).To(ConsistOf(ContainSubstring(message)))
			}
		},
		Entry("of nil", func() any { return nil }, match.Calls(1), "expected a *harness.Result or one of its Trials"),
		Entry("of a nil result", func() any { return (*harness.Result)(nil) }, match.Calls(1), "check the error of harness.Rehearse"),
		Entry("of no trials", func() any { return &harness.Result{} }, match.Calls(1), "has no trials"),
		Entry("of something else", func() any { return 3 }, match.Calls(1), "<int>: 3"),
		Entry("of a trial that could not be carried out",
			func() any { return rehearse(strings.Replace(hours, "name: desk", "name: binary", 1)) }, match.Calls(0), "not UTF-8"),
		Entry("of an unknown cost",
			func() any {
				return rehearse(strings.Replace(hours, "model: gpt-4.1-mini", "model: homemade\n  unpriced: true", 1))
			}, match.CostAtMost("1 EUR"), "the cost is unknown: call 2: the price of model"),
		Entry("of an invalid amount", func() any { return rehearse(hours) }, match.CostAtMost("1 EURO"), "is not an amount of money"),
		Entry("of an invalid quantile", func() any { return rehearse(hours) }, match.LatencyAtMost(95, time.Second), "at most 1"),
		Entry("of latencies without calls",
			func() any { return rehearse(strings.Replace(hours, "name: desk", "name: silent", 1)) }, match.LatencyAtMost(1, time.Second), "there was no call"),
		Entry("of something other than text", func() any { return rehearse(hours) }, match.Said(3), "expected a string or a matcher, got int"),
		Entry("by an inapplicable matcher", func() any { return rehearse(hours) }, match.Calls(BeEmpty()), "BeEmpty matcher expects"),
		Entry("of trials that differ", func() any {
			return &harness.Result{Trials: append(rehearse(hours).Trials, rehearse(strings.Replace(hours, "name: desk", "name: broken", 1)).Trials...)}
		}, match.EndedWith("done"), "in every trial or in none; saw it in 1 of 2, and not here:\nExpected the end status \"done\", saw \"failed\".\n\nFAIL desk/hours"),
	)
})
