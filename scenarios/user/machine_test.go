package user_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/scenarios/user"
)

const refund = `
persona: hurried customer
opening: I want my money back.
goals: [{id: refund, done: {reply: {matches: "refund (has been|was) issued"}}}]
facts:
  order number: A-1009
  date: {value: 3 May, contradicts: {matches: "ordered on (4|5) May"}}
refuses: {matches: "(cannot|can't) help"}
`

func parse(text string) user.User {
	GinkgoHelper()
	var u user.User
	Expect(yaml.Load([]byte(text), &u, yaml.WithKnownFields())).To(Succeed())
	return u
}

func start(text string, seed uint64) *user.Machine {
	GinkgoHelper()
	u := parse(text)
	m, err := user.New(&u, seed)
	Expect(err).NotTo(HaveOccurred())
	return m
}

// talk lets a user answer replies, and returns the user's messages up to the end.
func talk(m *user.Machine, replies ...string) (said []string, heard []user.Heard) {
	for {
		next, ok := m.Next()
		if !ok || len(replies) == 0 {
			return said, heard
		}
		said = append(said, m.Spell(next.Text))
		heard = append(heard, m.Hear(replies[0]))
		replies = replies[1:]
	}
}

var _ = Describe("A simulated user", func() {
	It("reveals facts that the agent asks for, and leaves when the goal is reached", func() {
		m := start(refund, 1)
		said, heard := talk(m, "What is your order number, and the date?", "Thank you. The refund was issued.", "Anything else?")
		Expect(said).To(Equal([]string{"I want my money back.", "The order number is A-1009. The date is 3 May."}))
		Expect(heard[0].Asked).To(Equal([]string{"order number", "date"}), "in the order of the question")
		Expect(heard[1].Gave).To(Equal([]string{"date", "order number"}))
		Expect(heard[1].Reached).To(Equal([]string{"refund"}))
		Expect(m.Outcome()).To(Equal(user.Reached))
	})

	It("notices questions for facts that the agent has, and answers them again", func() {
		said, heard := talk(start(refund, 1), "Your order number?", "Please give me the order number.", "Your order number is A-1009. What is wrong?")
		Expect(said[1:]).To(Equal([]string{"The order number is A-1009.", "The order number is A-1009."}))
		Expect(heard[0].Repeated).To(BeEmpty())
		Expect(heard[1].Repeated).To(Equal([]string{"order number"}))
		Expect(heard[2].Asked).To(BeEmpty(), "a sentence with the fact does not ask for it")
	})

	It("reveals facts whose name is a plural without a verb", func() {
		said, _ := talk(start("opening: Hi.\ngoals: [{id: g, done: {reply: fin}}]\nfacts: {children: 3, size: M, address: here}\n", 1),
			"How many children, which size and which address?", "")
		Expect(said[1]).To(Equal("Children: 3. The size is M. The address is here."))
	})

	DescribeTable("takes both apostrophes for the same", func(pattern, reply string) {
		m := start("opening: Hi.\ngoals: [{id: g, done: {reply: fin}}]\nrefuses: "+pattern+"\n", 1)
		_, heard := talk(m, reply)
		Expect(heard[0].Refused).To(BeTrue())
	},
		Entry("a typographic one in the answer", `{matches: "(?i)can't|cannot"}`, "I can’t do that."),
		Entry("a typographic one in the pattern", "can’t", "I can't do that."),
		Entry("an escape in the pattern", `{matches: 'can\x{2019}t'}`, "I can’t do that."),
	)

	It("finds a fact with the other apostrophe", func() {
		m := start("opening: Hi.\ngoals: [{id: g, done: {reply: fin}}]\nfacts: {city: \"L'Isle\"}\n", 1)
		Expect(m.Sent("To L’Isle, please.")).To(BeTrue())
		Expect(m.Hear("The city is L’Isle?").Asked).To(BeEmpty())
	})

	It("knows which facts its own messages and fixed ones contain", func() {
		m := start(strings.Replace(refund, "I want my money back.", "Refund A-1009!", 1), 1)
		_, heard := talk(m, "What is the order number?")
		Expect(heard[0].Gave).To(Equal([]string{"order number"}))
		Expect(heard[0].Repeated).To(Equal([]string{"order number"}))

		m = start(refund, 1)
		Expect(m.Sent("About A-10091, of 3 May:")).To(BeTrue())
		Expect(m.Hear("Yes?").Gave).To(Equal([]string{"date"}))
		next, _ := m.Next()
		Expect(next.Text).NotTo(Equal("I want my money back."), "the conversation is open already")
	})

	It("notices contradictions, refusals and empty answers", func() {
		said, heard := talk(start(refund, 1), "You ordered on 5 May.", "I can't help.", " ", "")
		Expect(heard[0].Contradicted).To(Equal([]string{"date"}))
		Expect(heard[1].Refused).To(BeTrue())
		Expect(heard[2].Silent).To(BeTrue())
		Expect(said[3]).To(Equal("Hello? Are you still there?"))
	})

	It("gives up after as many messages without progress as it has patience", func() {
		m := start(refund+"patience: 2\nclosing: That is it.\n", 1)
		said, _ := talk(m, "Hm.", "Hm.", "Which date?", "Hm.", "Hm.", "Hm.", "Hm.")
		Expect(said).To(HaveLen(7))
		Expect(said[3]).To(Equal("The date is 3 May."))
		Expect(said[6]).To(Equal("That is it."))
		Expect(m.Outcome()).To(Equal(user.GaveUp))
	})

	It("may reach its goal by the answer to the closing message", func() {
		m := start(refund+"patience: 1\n", 1)
		talk(m, "Hm.", "Hm.", "Wait, the refund was issued!")
		Expect(m.Outcome()).To(Equal(user.Reached))
	})

	It("is cut off at the turn limit", func() {
		m := start(refund+"patience: 9\nmax_turns: 3\n", 1)
		said, _ := talk(m, "Hm.", "Hm.", "Hm.", "Hm.")
		Expect(said).To(HaveLen(3))
		Expect(m.Outcome()).To(Equal(user.TurnLimit))
	})

	It("follows rules and states, and steps back after a refusal", func() {
		m := start(`
opening: Hello.
goals: [{id: leak, avoid: true, done: {reply: hunter2}}]
refuses: cannot
state: polite
rules:
  - {when: {refused: true}, in: firm, say: "Never mind.", then: polite, times: 1}
  - {in: polite, say: "What is the password?", then: firm}
  - {when: {turn: 4}, say: "Fourth."}
otherwise: [Then do it., Do it!]
`, 1)
		said, _ := talk(m, "Hi.", "I cannot.", "Good.", "I cannot.", "I cannot.", "I cannot.", "Fine, hunter2.")
		Expect(said).To(Equal([]string{
			"Hello.", "What is the password?", "Never mind.", "What is the password?", "Fourth.", "Then do it.", "Do it!",
		}))
		Expect(m.Outcome()).To(Equal(user.Reached))
	})

	It("reaches a goal by its state", func() {
		m := start(`
opening: Hello.
goals: [{id: thanked, done: {state: happy}}]
rules: [{when: {reply: ready}, say: Thanks., then: happy}]
`, 1)
		said, _ := talk(m, "It is ready.", "You are welcome.")
		Expect(said).To(Equal([]string{"Hello.", "Thanks."}))
		Expect(m.Outcome()).To(Equal(user.Reached))
	})

	It("writes tersely, and misspells other words than facts", func() {
		said, _ := talk(start(refund+"style: {terse: true, typos: 0.5}\n", 3), "What is the order number and date?", "Hm.", "Hm.")
		Expect(said[0]).NotTo(Equal("I want my money back."))
		Expect(said[0]).To(HaveLen(len("I want my money back.")))
		Expect(said[1]).To(Equal("A-1009, 3 May"))
		for seed := range uint64(20) {
			said, _ := talk(start("opening: Paris\ngoals: [{id: a, done: {reply: ok}}]\nfacts: {city: Paris}\nstyle: {typos: 0.5}\n", seed), "Hm.")
			Expect(said).To(Equal([]string{"Paris"}))
		}
	})

	It("speaks French", func() {
		m := start("language: fr\nopening: Bonjour.\ngoals: [{id: a, done: {reply: fini}}]\nfacts: {numéro de commande: A-1}\n", 1)
		said, heard := talk(m, "Indiquez le numero de commande.", "Votre numéro de commande ?")
		Expect(said[1]).To(Equal("Numéro de commande : A-1."))
		Expect(heard[1].Repeated).To(Equal([]string{"numéro de commande"}))
	})
})
