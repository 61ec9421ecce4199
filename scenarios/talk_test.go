package scenarios_test

import (
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("A simulated conversation", func() {
	const user = "    user:\n      opening: Hello.\n      goals: [{id: a, done: {reply: ok}}]\n"
	parse := func(drive string) (scenarios.Scenario, scenarios.Diagnostics) {
		return scenarios.Parse("a.yaml", []byte("name: a\ndrive:\n  function:\n    name: f\n"+drive+
			"backend: {unpriced: true, replies: [{text: x}]}\nexpect: {status: done}\n"), fstest.MapFS{},
			scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
	}

	DescribeTable("is refused at the position of the mistake", func(drive, want string) {
		_, found := parse(drive)
		Expect(found).To(HaveLen(1), "%v", found)
		Expect(found[0].Error()).To(HavePrefix("a.yaml:" + want))
	},
		Entry("without turns", "", "3:3: there are no turns; write turns: with at least one text, or user: with"),
		Entry("with turns beside it", user+"    turns: [Hi.]\n", "8:5: turns cannot be combined with user or script"),
		Entry("with an unknown key", user+"      patiense: 3\n", `8:7: `),
		Entry("with a mistake of the user", user+"      rules: [{in: x, say: Hm.}]\n", `8:20: no rule leads to the state "x"`),
		Entry("with a mistake in a fact whose name has a space", user+"      facts: {order number: {value: A, contradicts: A}}\n", `8:53: the fact itself, "A", matches`),
		Entry("without its user", "    script: [user: Hi., proceed]\n", "5:25: there is no simulated user"),
		Entry("with an agent that speaks first", user+"    script: [agent, user]\n", "8:14: the agent only answers"),
		Entry("with a step after the end", user+"    script: [user, succeed, agent]\n", "8:29: the step is never reached"),
		Entry("with a bad check", user+"    script: [user, check: turns.size() == x]\n", "8:27: the expression cannot be used: "),
		Entry("with an unknown step", user+"    script: [user, judge]\n", `8:20: "judge" is not a step`),
		Entry("whose user never speaks", user+"    script: [user: Hi.]\n", "8:5: the simulated user never writes a message"),
		Entry("whose script only checks", "    script: [check: turns.size() == 0]\n", "3:3: there are no turns"),
	)

	DescribeTable("checks the model of the user as that of a judge", func(backend, want string) {
		_, found := parse(user + "      backend: {" + backend + "}\n")
		Expect(found).To(HaveLen(1), "%v", found)
		Expect(found[0].Error()).To(HavePrefix("a.yaml:8:"))
		Expect(found[0].Path + ": " + found[0].Message).To(HavePrefix("drive.function.user.backend" + want))
	},
		Entry("a process", "as: claude, unpriced: true", ".as: the model of a simulated user is a scripted backend in process (openai) or a live one, not claude"),
		Entry("a script file", "unpriced: true, script: a.yaml", ": the model of a simulated user has an inline script"),
		Entry("an unknown model", "model: gpt-x, rules: [{text: a}]", `.model: the price table has no model "gpt-x"`),
		Entry("a line without an answer", "unpriced: true, rules: [{}]", ".rules[0]: the line has neither"),
		Entry("a live one without a URL", "as: live, model: gpt-4.1-mini", ".url: a live backend needs the URL"),
		Entry("the key itself", "as: live, url: 'https://api.example.com/v1', model: gpt-4.1-mini, key_env: sk-123", ".key_env: this is not the name of a variable"),
		Entry("a missing file", "unpriced: true, rules: [{file: b.txt}]", ".rules[0].file: "),
	)

	It("may have a live user, which cannot be perturbed", func() {
		live := user + "      backend: {as: live, url: 'https://api.example.com/v1', model: gpt-4.1-mini}\n"
		sc, found := parse(live)
		Expect(found).To(BeEmpty())
		Expect(sc.LiveBackends()).To(HaveExactElements(HaveField("URL", "https://api.example.com/v1")))
		_, found = parse(live + "perturb: ['call=1:timeout']\n")
		Expect(found.Err()).To(MatchError(ContainSubstring("a conversation with a live simulated user cannot be repeated")))
	})

	It("survives the way through a Go value", func() {
		sc, found := parse(user + "      backend: {unpriced: true, rules: [{text: a}]}\n      facts: {date: 3 May}\n    script: [user: Hi., agent, check: turns.size() == 1, proceed: 2, user, proceed, succeed]\n")
		Expect(found).To(BeEmpty())
		again, found := scenarios.ParseValue("b", sc, nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(again.Drive.Options).To(Equal(sc.Drive.Options))
		Expect(sc.Drive.Options.(*function.Options).User.Facts["date"].Value).To(Equal("3 May"))
	})
})
