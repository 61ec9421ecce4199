package scenarios_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// interviewScenario reads a scenario with an interview.
func interviewScenario(drive, backend string) (scenarios.Scenario, scenarios.Diagnostics) {
	text := "name: a/b\ndrive: {interview: {" + drive + "}}\nbackend: {model: gpt-6.1-terra, " + backend + "}\nexpect: {status: finished}\n"
	return scenarios.Parse("x.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
}

var _ = Describe("A scenario with an interview", func() {
	It("has the replies of its cast after its own rules, as rules that need not be used", func() {
		sc, found := interviewScenario("persona: lea", "cast: lea, rules: [{when: {purpose: mirror}, text: x}]")
		Expect(found).To(BeEmpty())
		Expect(sc.Backend.Rules).To(HaveLen(26)) // 24 calls, and a matching for other jobs than the shipped one
		Expect(sc.Backend.Rules[0].Text.String()).To(HaveValue(Equal("x")))
		Expect(sc.Backend.Rules[1:]).To(HaveEach(HaveField("Optional", true)))
		_, err := mocks.Compile(sc.Backend.Script)
		Expect(err).NotTo(HaveOccurred())
	})

	It("has the replies of its cast in its digest", func() {
		one, found := interviewScenario("persona: lea", "cast: lea")
		Expect(found).To(BeEmpty())
		bare, _ := interviewScenario("persona: lea", "rules: [{text: x}]")
		Expect(one.Digest).NotTo(Equal(bare.Digest))
	})

	DescribeTable("is refused where it makes no sense",
		func(drive, backend, want string) {
			_, found := interviewScenario(drive, backend)
			var all []string
			for _, d := range found {
				all = append(all, d.Error())
			}
			Expect(strings.Join(all, "\n")).To(ContainSubstring(want))
		},
		Entry("persona", "persona: leo", "cast: lea", `unknown persona "leo"`),
		Entry("persona, with the nearest", "persona: leo", "cast: lea", `did you mean "lea"?`),
		Entry("cast", "persona: lea", "cast: tim", `unknown persona "tim"`),
		Entry("a sequence beside a cast", "persona: lea", "cast: lea, replies: [{text: x}]", "write rules instead"),
		Entry("place", "persona: lea, moves: [{at: BLOC_11/0, do: reload}]", "cast: lea", `invalid place "BLOC_11/0"`),
		Entry("code", "persona: lea, moves: [{at: BLOC_01/0, do: reload, want: empty_anser}]", "cast: lea", `did you mean "empty_answer"?`),
		Entry("an event that is not sent", "persona: lea, moves: [{at: BLOC_01/0, do: reload, event: GO}]", "cast: lea", "event is only valid with do: event"),
		Entry("no instant", "persona: lea, moves: [{at: BLOC_01/0, do: crash}]", "cast: lea", "do: crash requires instant"),
		Entry("what is done", "persona: lea, moves: [{at: BLOC_01/0, do: dance}]", "cast: lea", "dance"),
		Entry("store", "persona: lea, store: mysql", "cast: lea", "mysql"),
	)
})

var _ = Describe("prompts of a scenario", func() {
	It("reports impossible ones with their place", func() {
		text := `name: a/b
drive:
  interview:
    persona: lea
    prompts:
      miror: x
      mirror: "[[you]]"
      frame: "  "
backend: {model: gpt-4.1-mini, cast: lea}
expect: {status: finished}
`
		_, found := parse(text)
		var got []string
		for _, d := range found {
			got = append(got, fmt.Sprintf("%d %s %s", d.Line, d.Message, d.Nearest))
		}
		Expect(got).To(Equal([]string{
			`6 unknown prompt "miror"; prompts are named like the shipped files, such as mirror or mirror/BLOC_01 mirror`,
			`7 expected [[informal|formal]] after "" `,
			"8 the text is empty ",
		}))
	})
})
