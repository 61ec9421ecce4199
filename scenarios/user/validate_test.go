package user_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/scenarios/user"
)

var _ = Describe("A user that is not valid", func() {
	const goals = "opening: Hi.\ngoals: [{id: a, done: {reply: ok}}]\n"
	DescribeTable("is reported with the path and the mistake", func(text, want string) {
		u := parse(text)
		problems := u.Validate()
		Expect(problems).To(HaveLen(1))
		Expect(problems[0].String()).To(HavePrefix(want))
		_, err := user.New(&u, 1)
		Expect(err).To(HaveOccurred())
	},
		Entry("without an opening", "goals: [{id: a, done: {reply: ok}}]", "opening: the user's text is empty"),
		Entry("without goals", "opening: Hi.", "goals: the user has no goals"),
		Entry("another language", goals+"language: de", `language: "de" is not a language of simulated users; there are en, fr`),
		Entry("a bad id", "opening: Hi.\ngoals: [{id: A b, done: {reply: ok}}]", `goals[0].id: "A b" is not an id`),
		Entry("an id twice", "opening: Hi.\ngoals: [{id: a, done: {reply: ok}}, {id: a, done: {reply: no}}]", `goals[1].id: the id "a" is used`),
		Entry("a goal without a condition", "opening: Hi.\ngoals: [{id: a, done: {}}]", "goals[0].done: the goal has no condition"),
		Entry("a goal that every answer reaches", "opening: Hi.\ngoals: [{id: a, done: {reply: {matches: '.*'}}}]", "goals[0].done.reply: an empty answer matches"),
		Entry("a goal that no answer reaches", "opening: Hi.\ngoals: [{id: a, done: {reply: {matches: '[^\\x00-\\x{10FFFF}]'}}}]", "goals[0].done.reply: no text matches"),
		Entry("a goal with text after the end of the answer", "opening: Hi.\ngoals: [{id: a, done: {reply: {matches: 'issued$ today'}}}]", "goals[0].done.reply: no text matches"),
		Entry("a goal with text before the beginning", "opening: Hi.\ngoals: [{id: a, done: {reply: {matches: '(a|b)^c'}}}]", "goals[0].done.reply: no text matches"),
		Entry("a goal in a state that no rule leads to",
			"opening: Hi.\ngoals: [{id: a, done: {state: hapy}}]\nrules: [{say: Yes., then: happy}]",
			`goals[0].done.state: the goal cannot be reached: no rule leads to the state "hapy"; did you mean "happy"?`),
		Entry("a bad expression", goals+"refuses: {matches: '('}", "refuses: matches: error parsing regexp"),
		Entry("a rule in an unreachable state", goals+"rules: [{in: x, say: Yes., then: x}, {say: No., then: y}]", "rules[0].in: no rule leads"),
		Entry("a rule that asks for refusals", goals+"rules: [{when: {refused: true}, say: Oh.}]", "rules[0].when.refused: it is unknown"),
		Entry("a rule after the end", goals+"max_turns: 5\nrules: [{when: {turn: 5}, say: Oh.}]", "rules[0].when.turn: there is no message after 5 answers"),
		Entry("a rule without a text", goals+"rules: [{when: {turn: 1}}]", "rules[0].say: the user's text is empty"),
		Entry("a contradiction that the fact is", goals+"facts: {date: {value: 3 May, contradicts: May}}", "facts.date.contradicts: the fact itself"),
		Entry("a fact without a value", goals+"facts: {date: ''}", "facts.date: the user's text is empty"),
		Entry("a fact without a name", goals+"facts: {'?': x}", "facts.?: the name of a fact needs a word"),
		Entry("negative patience", goals+"patience: -1", "patience: must be at least 1"),
		Entry("too many turns", goals+"max_turns: 1000", "max_turns: must be between 1 and 200, not 1000"),
		Entry("too many typos", goals+"style: {typos: .nan}", "style.typos: must be between 0 and 0.5"),
	)
})

var _ = Describe("A step", func() {
	DescribeTable("is a name or a mapping, and is written as it was read", func(text string, simulated bool) {
		var s, again user.Step
		Expect(yaml.Load([]byte(text), &s)).To(Succeed())
		Expect(s.Simulated()).To(Equal(simulated))
		data, err := yaml.Dump(s)
		Expect(err).NotTo(HaveOccurred())
		Expect(yaml.Load(data, &again)).To(Succeed())
		Expect(again).To(Equal(s))
	},
		Entry(nil, "user", true), Entry(nil, "user: Hello.", false), Entry(nil, "agent", false), Entry(nil, "proceed", true),
		Entry(nil, "proceed: 3", true), Entry(nil, "check: turns.size() == 1", false), Entry(nil, "succeed", false), Entry(nil, "fail: why", false),
	)

	DescribeTable("is refused", func(text, want string) {
		var s user.Step
		Expect(yaml.Load([]byte(text), &s)).To(MatchError(ContainSubstring(want)))
	},
		Entry("with another name", "judge", `"judge" is not a step`),
		Entry("with two keys", "{user: a, check: b}", "has exactly one of"),
		Entry("without a key", "{}", "has exactly one of"),
		Entry("that proceeds nowhere", "proceed: 0", "proceed must be at least 1, got 0"),
	)
})
