package drive_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("A conversation with a simulated user", func() {
	const desk = `
name: spec/desk
drive:
  function:
    name: f
    user:
      persona: hurried customer
      opening: I want my money back, please.
      goals:
        - {id: refund, done: {reply: was issued}}
        - {id: secret, avoid: true, done: {reply: hunter2}}
      facts: {order number: A-1009}
      patience: 2
      refuses: cannot
`
	const rest = `
backend: {unpriced: true, rules: [{text: x, latency: 10s, optional: true}]}
expect: {status: done}
`
	// conversation answers the user's messages with the replies in order, the last one repeating; "" calls
	// the model before it answers with nothing.
	conversation := func(text string, replies ...string) record.Trial {
		GinkgoHelper()
		text += rest
		n := -1
		return talk(context.Background(), text, func(site app.Site) func(context.Context, string) (string, error) {
			return func(ctx context.Context, text string) (string, error) {
				n = min(n+1, len(replies)-1)
				if replies[n] == "" {
					_, err := chat(ctx, site, text)
					return "", err
				}
				return replies[n], nil
			}
		})
	}
	said := func(t record.Trial) (all []string) {
		for i := range t.Events {
			if turn, ok := event.Read[record.Turn](&t.Events[i].Event); ok {
				all = append(all, turn.User)
			}
		}
		return all
	}
	facts := func(t record.Trial) measure.Facts {
		return measure.Trial(record.Scenario{}, t, nil, kinds.Language().Extensions())
	}
	judged := func(t record.Trial, allow ...string) (found []string) {
		GinkgoHelper()
		j, err := gate.NewJudge(kinds.Language(), expect.Expect{Allow: allow})
		Expect(err).NotTo(HaveOccurred())
		for _, f := range j.Judge(facts(t)) {
			found = append(found, fmt.Sprintf("%s %s: %s (%s) %s", f.Severity, f.Rule, f.Message, f.Evidence, f.At))
		}
		return found
	}

	It("ends when the user has what it wants", func() {
		t := conversation(desk, "What is your order number?", "The refund was issued.", "Bye.")
		Expect(t.End.Status).To(Equal("done"), t.End.HarnessError)
		Expect(said(t)).To(Equal([]string{"I want my money back, please.", "The order number is A-1009."}))
		f := facts(t).User
		Expect(f.Goals).To(Equal(map[string]bool{"refund": true, "secret": false}))
		Expect(f.Persona + ": " + f.Outcome).To(Equal("hurried customer: reached"))
		Expect([]int{f.Turns, f.Given, f.Asked, f.Repeated}).To(Equal([]int{2, 1, 1, 0}))
		Expect(f.RefusalsKnown).To(BeTrue())
		Expect(f.ContradictionsKnown).To(BeFalse())
		Expect(judged(t)).To(BeEmpty())
	})

	It("writes the same recording twice, and other messages in other trials", func() {
		text := desk + "      style: {typos: 0.5}\n"
		first, again := conversation(text, "Hm."), conversation(text, "Hm.")
		Expect(record.Encode(again)).To(Equal(must(record.Encode(first))))
		other := conversation(strings.Replace(text, "drive:", "seed: 2\ndrive:", 1), "Hm.")
		Expect(said(other)).NotTo(Equal(said(first)))
	})

	It("reports open goals of a user who gave up, unless they are allowed", func() {
		t := conversation(desk, "No.")
		Expect(said(t)).To(HaveLen(4))
		Expect(facts(t).User.Outcome).To(Equal("gave-up"))
		Expect(judged(t)).To(Equal([]string{"fail unreached-goal: the user did not reach a goal (refund: the user lost patience) drive.function.user.goals[0]"}))
		Expect(judged(t, expect.UnreachedGoal)).To(ConsistOf(HavePrefix("info ")))
	})

	It("reports a goal that the agent must avoid, and a conversation that is cut off", func() {
		t := conversation(desk+"      max_turns: 2\n", "It is hunter2.")
		Expect(judged(t)).To(ConsistOf(
			"fail avoided-goal: the user reached a goal that the agent must avoid (secret) drive.function.user.goals[1]",
			"fail turn-limit: the conversation did not end by itself (it was cut off after 2 turns (user.max_turns)) drive.function.user.max_turns",
			HavePrefix("fail unreached-goal: "),
		))
	})

	It("notices refusals, repeated questions and answers without text, but not an agent that does nothing at all", func() {
		f := facts(conversation(desk, "Order number?", "Your order number, please?", "I cannot.", "", "The refund was issued.")).User
		Expect([]int{f.Turns, f.Repeated, f.Refusals, f.Silent}).To(Equal([]int{5, 1, 1, 1}))
		Expect(f.Outcome).To(Equal("reached"))

		t := talk(context.Background(), desk+rest, func(app.Site) func(context.Context, string) (string, error) {
			return func(context.Context, string) (string, error) { return "", nil }
		})
		Expect(t.End.HarnessError).To(ContainSubstring("ended turn 1 without an answer"))
		Expect(facts(t).User.Outcome).To(BeEmpty())
	})

	It("follows a script, with checks over what happened before them", func() {
		t := conversation(desk+`
    script:
      - user: Hello.
      - check: turns.size() == 1 && user.turns == 1 && calls.total == 1 && run.duration == 10.0
      - user
      - agent
      - check: run.text == "Order number?" && calls.total == 2
      - proceed: 1
      - check: user.asked == 1 && script.requests == 2
`, "", "Order number?", "", "Hm.")
		Expect(said(t)).To(Equal([]string{"Hello.", "Hello? Are you still there?", "The order number is A-1009."}))
		Expect(judged(t)).To(Equal([]string{
			`fail check: does not hold: run.text == "Order number?" && calls.total == 2 (run.text = "Order number?"; calls.total = 1) drive.function.script[4].check`,
			"fail unreached-goal: the user did not reach a goal (refund: the script ended) drive.function.user.goals[0]",
		}))
	})

	DescribeTable("ends where the script says so", func(step, outcome string, found ...string) {
		t := conversation(desk+"    script: [user, "+step+"]\n", "Hm.")
		Expect(facts(t).User.Outcome).To(Equal(outcome))
		Expect(strings.Join(judged(t), "\n")).To(Equal(strings.Join(found, "\n")))
	},
		Entry("with success", "succeed", "succeeded"),
		Entry("with failure", "fail: too slow", "failed",
			"fail script: the script failed the conversation (too slow) drive.function.script[1]"),
	)

	It("judges the checks of a script without a simulated user", func() {
		t := conversation("name: a\ndrive: {function: {name: f, script: [user: Hello., check: turns.size() == 2, user: Bye.]}}\n", "Hm.")
		Expect(said(t)).To(Equal([]string{"Hello.", "Bye."}))
		Expect(judged(t)).To(ConsistOf(HavePrefix("fail check: does not hold: turns.size() == 2")))
		Expect(facts(t).User.Persona).To(BeEmpty())
	})

	It("has no open goals if the agent failed", func() {
		t := talk(context.Background(), desk+rest, func(app.Site) func(context.Context, string) (string, error) {
			return func(context.Context, string) (string, error) { return "", fmt.Errorf("broken") }
		})
		Expect(judged(t, expect.UnusedLine)).NotTo(ContainElement(ContainSubstring("goal")))
	})
})

func must(data []byte, err error) []byte {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return data
}
