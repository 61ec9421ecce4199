package drive_test

import (
	"context"
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
)

// interviewed returns the end and the facts of an interview with lea, and its number of calls. Keys
// are further keys of the drive, rules further rules of the backend.
func interviewed(drive, rules string) (record.End, measure.Facts, int) {
	GinkgoHelper()
	text := "drive:\n  interview:\n    persona: lea\n" + indent(drive) +
		"backend:\n  model: gpt-6.1-terra\n  cast: lea\n" + rules + "expect: {status: finished}\n"
	d := driver(newEnv(), text)
	tr, _ := d.Trial(context.Background(), 1)
	facts := measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())
	return tr.End, facts, facts.Calls.Total
}

func indent(text string) string {
	if text == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}

var _ = Describe("Driving an interview", func() {
	It("completes it with all calls and answers stored", func() {
		end, facts, calls := interviewed("", "")
		Expect(end.Status).To(Equal("finished"), end.Details)
		Expect(facts.Run.Violations).To(BeEmpty())
		Expect(calls).To(Equal(24))
		Expect(interviewOf(facts).Answers).To(Equal(44))
		Expect(interviewOf(facts).QueuedCalls).To(BeZero())
		Expect(interviewOf(facts).Step).To(Equal("STEP_99_MATCHING"))
	})

	DescribeTable("crashes the process and sends the answer again, for answers with and without a call",
		func(at, instant string, lost, calls int) {
			end, facts, made := interviewed("moves: [{at: "+at+", do: crash, instant: "+instant+"}]", "")
			Expect(end.Status).To(Equal("finished"), end.Details)
			Expect(facts.Run.Violations).To(BeEmpty())
			Expect(interviewOf(facts).Answers).To(Equal(44))
			Expect(interviewOf(facts).Lost).To(Equal(lost))
			Expect(made).To(Equal(calls))
		},
		Entry("before the answer, with a call", "BLOC_01/2", "before-answer", 0, 24),
		Entry("before the call, with a call", "BLOC_01/2", "before-call", 1, 24),
		Entry("after the call, with a call", "BLOC_01/2", "after-call", 1, 25),
		Entry("after the reply, with a call", "BLOC_01/2", "after-reply", 0, 24),
		Entry("before the answer, without a call", "BLOC_03/0", "before-answer", 0, 24),
		Entry("before the call, without a call", "BLOC_03/0", "before-call", 0, 24),
		Entry("after the reply, without a call", "BLOC_03/0", "after-reply", 0, 24),
	)

	DescribeTable("reports a violation",
		func(moves, want string) {
			_, facts, _ := interviewed("moves: ["+moves+"]", "")
			Expect(facts.Run.Violations).To(ContainElement(ContainSubstring(want)))
		},
		Entry("if a valid move is refused", "{at: BLOC_01/0, do: say, text: ''}", "empty_answer"),
		Entry("if an invalid move is accepted", "{at: BLOC_01/0, do: say, text: x, want: empty_answer}", `expected the code "empty_answer", got ""`),
		Entry("if the interview never reaches a move", "{at: BLOC_01/7, do: reload}", "did not reach BLOC_01/7"),
		Entry("if the process never reaches the planned crash", "{at: BLOC_01/0, do: crash, instant: after-call}", `did not reach the instant "after-call"`),
	)

	It("fails at a message that cannot be generated, with all answers stored, or retries up to its limit", func() {
		fault := "  rules: [{when: {purpose: mirror, metadata: {step: BLOC_01}}, fault: {kind: status, status: 500, times: 2}}]\n"
		end, facts, _ := interviewed("transport_retries: 1", fault)
		Expect(end.Status).To(Equal("failed"))
		Expect(end.Details).To(HavePrefix("backend_failed"))
		Expect(interviewOf(facts).Answers).To(Equal(5), "name, tone and block 1")
		Expect(facts.Run.Violations).To(BeEmpty())

		end, facts, calls := interviewed("transport_retries: 1\nretries: 1", fault)
		Expect(end.Status).To(Equal("finished"), end.Details)
		Expect(interviewOf(facts).Exhausted).To(Equal(1))
		Expect(calls).To(Equal(26))
	})

	It("is skipped if it needs a PostgreSQL server and there is none", func() {
		server, set := os.LookupEnv("REHEARSE_TEST_POSTGRES")
		Expect(os.Unsetenv("REHEARSE_TEST_POSTGRES")).To(Succeed())
		DeferCleanup(func() {
			if set {
				Expect(os.Setenv("REHEARSE_TEST_POSTGRES", server)).To(Succeed())
			}
		})
		end, _, calls := interviewed("store: postgres", "")
		Expect(end.Skipped).To(ContainSubstring("REHEARSE_TEST_POSTGRES"))
		Expect(calls).To(BeZero())
	})
})

var _ = Describe("Driving an interview with custom prompts", func() {
	It("sends them in place of the shipped ones, and records that", func() {
		text := "drive:\n  interview:\n    persona: lea\n    prompts: {mirror: Say what you saw.}\n" +
			"backend:\n  model: gpt-6.1-terra\n  cast: lea\nexpect: {status: finished}\n"
		d := driver(newEnv(), text)
		tr, _ := d.Trial(context.Background(), 1)
		Expect(tr.End.Status).To(Equal("finished"), tr.End.Details)
		// All mirrors except that of block 2B, which has its own form.
		Expect(strings.Count(encoded(tr), `"content":"Say what you saw.`)).To(Equal(8))
		Expect(string(d.Head().Limits)).To(MatchRegexp(`"prompts":"[^"]*\+own"`))
	})
})
