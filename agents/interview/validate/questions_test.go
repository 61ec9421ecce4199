package validate_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

const (
	open   = "Pense à une journée de travail qui t'a portée. Qu’est-ce qui la rendait différente ?"
	choice = "Qu'est-ce qui te fait avancer ?\nA. Un objectif net\nB. Une équipe qui compte sur moi\nC. Le plaisir d'apprendre"
)

func batch(questions ...string) string {
	return strings.Join(questions, "\n"+separator+"\n")
}

var _ = Describe("A batch of questions", Label("I-08"), func() {
	It("is split at the separator", func() {
		r := validate.Check(batch(open, choice, open), batchOf3)
		Expect(r.Findings).To(BeEmpty())
		Expect(r.Questions).To(Equal([]string{open, choice, open}))
	})

	DescribeTable("is split at a separator that stands on a line of its own, however it is written", func(separator string) {
		r := validate.Check(open+separator+choice+separator+open, batchOf3)
		Expect(r.Findings).To(BeEmpty())
		Expect(r.Questions).To(Equal([]string{open, choice, open}))
	},
		Entry("with space around it", "\n\n   ---QUESTION_SEPARATOR---  \n\n"),
		Entry("in bold", "\n**---QUESTION_SEPARATOR---**\n"),
		Entry("as code", "\n`---QUESTION_SEPARATOR---`\n"),
		Entry("with an escaped underscore's siblings", "\n\\---QUESTION_SEPARATOR---\n"),
		Entry("with long dashes", "\n—QUESTION_SEPARATOR—\n"),
		Entry("in lower case", "\n---question_separator---\n"),
		Entry("with Windows line ends", "\r\n---QUESTION_SEPARATOR---\r\n"),
	)

	It("may begin and end with a separator", func() {
		r := validate.Check(separator+"\n"+batch(open, choice, open)+"\n"+separator+"\n\n"+separator, batchOf3)
		Expect(r.Findings).To(BeEmpty())
		Expect(r.Questions).To(Equal([]string{open, choice, open}))
	})

	DescribeTable("is refused", func(text string, want validate.Finding) {
		f := only(text, batchOf3)
		Expect(f.Message).NotTo(BeEmpty())
		f.Message = ""
		Expect(f).To(Equal(want))
	},
		Entry("with one question", open,
			validate.Finding{Rule: validate.Rule("question-count"), Count: 1, Limit: 2}),
		Entry("with thirteen questions", batch(strings.Split(strings.Repeat(open+"|", 12)+open, "|")...),
			validate.Finding{Rule: validate.Rule("question-count"), Count: 13, Limit: 12}),
		Entry("with an empty question in the middle", batch(open, "", choice),
			validate.Finding{Rule: validate.Rule("question-empty"), Section: "question 2"}),
		Entry("with the separator within a line", batch(open, choice, "Et encore ---QUESTION_SEPARATOR--- quoi ?"),
			validate.Finding{Rule: validate.Rule("separator"), Section: "question 3"}),
		Entry("with two questions in one", batch(open, choice, "Que fais-tu ? Et pourquoi ?"),
			validate.Finding{Rule: validate.Rule("question-several"), Section: "question 3", Count: 2, Limit: 1}),
		Entry("with a second question after the options", batch(open, choice, choice+"\n\nEt pourquoi ce choix ?"),
			validate.Finding{Rule: validate.Rule("question-several"), Section: "question 3", Count: 2, Limit: 1}),
		Entry("with a question without end", batch(open, choice, n(151)+" ?"),
			validate.Finding{Rule: validate.Rule("too-long"), Section: "question 3", Count: 151, Limit: 150}),
		Entry("with one option", batch(open, choice, "Que choisis-tu ?\nA. Le calme"),
			validate.Finding{Rule: validate.Rule("option-count"), Section: "question 3", Count: 1, Limit: 2}),
		Entry("with six options", batch(open, choice, "Que choisis-tu ?\nA. un\nB. deux\nC. trois\nD. quatre\nE. cinq\nF. six"),
			validate.Finding{Rule: validate.Rule("option-count"), Section: "question 3", Count: 6, Limit: 5}),
		Entry("with a gap in the letters", batch(open, choice, "Que choisis-tu ?\nA. un\nC. trois"),
			validate.Finding{Rule: validate.Rule("option-letters"), Section: "question 3", Count: 2}),
		Entry("with letters that do not begin with A", batch(open, choice, "Que choisis-tu ?\nB. deux\nC. trois"),
			validate.Finding{Rule: validate.Rule("option-letters"), Section: "question 3", Count: 1}),
		Entry("with options packed into the question", batch(open, choice, "Que choisis-tu : A. le calme B. le bruit ?"),
			validate.Finding{Rule: validate.Rule("option-packed"), Section: "question 3", Count: 1}),
		Entry("with options packed into a line", batch(open, choice, "Que choisis-tu ?\nA. le calme B. le bruit\nC. l'entre-deux"),
			validate.Finding{Rule: validate.Rule("option-packed"), Section: "question 3", Count: 1}),
		Entry("with options in parentheses packed into the question", batch(open, choice, "Que choisis-tu, A) le calme ou B) le bruit ?"),
			validate.Finding{Rule: validate.Rule("option-packed"), Section: "question 3", Count: 1}),
		Entry("with an empty option", batch(open, choice, "Que choisis-tu ?\nA. le calme\nB. **\nC. le bruit"),
			validate.Finding{Rule: validate.Rule("option-empty"), Section: "question 3"}),
		Entry("with the same option twice", batch(open, choice, "Que choisis-tu ?\nA. Le calme\nB. le bruit\nC. le calme."),
			validate.Finding{Rule: validate.Rule("option-duplicate"), Section: "question 3"}),
	)

	DescribeTable("may be used, but is tried again", func(text string, want validate.Finding) {
		want.Warning = true
		f := only(text, batchOf3)
		Expect(f.Message).NotTo(BeEmpty())
		f.Message = ""
		Expect(f).To(Equal(want))
	},
		Entry("with fewer questions than were asked for", batch(open, choice),
			validate.Finding{Rule: validate.Rule("question-count"), Count: 2, Limit: 3}),
		Entry("with a question that breaks off", batch(open, choice, "Raconte-moi une période récente : que se passait-il, et"),
			validate.Finding{Rule: validate.Rule("cut-off"), Section: "question 3"}),
		Entry("with one that breaks off in a word", batch(open, "Qu'est-ce qui te fait ava", choice),
			validate.Finding{Rule: validate.Rule("cut-off"), Section: "question 2"}),
	)

	DescribeTable("takes for one question", func(question string) {
		Expect(validate.Check(batch(open, choice, question), batchOf3).Findings).To(BeEmpty())
	},
		Entry("a sentence that ends in e.", "Parle-moi de ce qui te motive."),
		Entry("a sentence that ends in bold type", "**Parle-moi de ce qui te motive.** "),
		Entry("one that ends in a quotation", "Que réponds-tu à « À quoi bon ? »"),
		Entry("one that ends in brackets", "Que fais-tu d'abord (et pourquoi ?)"),
		Entry("one that leaves the end open", "Au travail, je ne supporte pas…"),
		Entry("one that ends in a capital", "Parle-moi de ton plan B."),
		Entry("one with several marks", "Vraiment, tu partirais ?!"),
		Entry("one with a quoted question", "Quand un client dit « à quoi bon ? », que réponds-tu ?"),
		Entry("one with a question in straight quotes", `Quand on te demande "et alors ?", que réponds-tu ?`),
		Entry("one with two clauses", "Que fais-tu et pourquoi ?"),
		Entry("a name with an initial", "Qui te parle le plus ?\nC. Reeve ou un autre, dis-le avec tes mots."),
		Entry("names with initials", "Lequel te parle ?\nA.A. Milne ou un autre, dis-le avec tes mots."),
		Entry("letters that are no options", "Entre le plan A, net, et le plan B, flou, que choisis-tu ?"),
		Entry("options with questions in them", "Que te dis-tu ?\nA. À quoi bon ?\nB. Et si j'essayais ?"),
		Entry("options with parentheses", "Que choisis-tu ?\nA) le calme\nB) le bruit"),
		Entry("options in bold", "Que choisis-tu ?\n**A.** le calme\n**B.** le bruit"),
		Entry("indented options", "Que choisis-tu ?\n   A. le calme\n   B. le bruit"),
		Entry("options in a list", "Que choisis-tu ?\n- A. le calme\n- B. le bruit"),
		Entry("options between blank lines", "Que choisis-tu ?\n\nA. le calme\n\nB. le bruit"),
		Entry("an option on two lines", "Que choisis-tu ?\nA. le calme\n   du matin\nB. le bruit"),
		Entry("an option that ends a sentence with the next letter", "Que choisis-tu ?\nA. toujours un plan B. Jamais sans\nB. le bruit"),
	)
})

const about2B = "Chez Walter White, dans Breaking Bad, quel trait te parle ?\nA. Sa fierté d'artisan\nB. Sa façon de mentir en disant vrai"

const other2B = "Dans Bureau des Legendes, de qui te sens-tu proche, de Marina ou de Malotru ?"

var _ = Describe("The questions of block 2B", func() {
	It("name the works and their characters", func() {
		Expect(validate.Check(batch(about2B, other2B), batchOf2B).Findings).To(BeEmpty())
	})

	It("may be used, but are tried again, if a work is left out", func() {
		f := only(batch(about2B, strings.Replace(other2B, "Bureau des Legendes", "cette série", 1)), batchOf2B)
		Expect(f.Rule).To(Equal(validate.Rule("work-missing")))
		Expect(f.Warning).To(BeTrue())
		Expect(f.Message).To(Equal("the questions name 1 of the 2 works of the candidate; each is named by its title"))
	})

	It("cannot be used if they name no work at all", func() {
		r := validate.Check(batch(choice, open), batchOf2B)
		Expect(r.Valid()).To(BeFalse())
		Expect(rules(batch(choice, open), batchOf2B)).To(ConsistOf(validate.Rule("work-missing"), validate.Rule("character-missing")))
	})

	DescribeTable("name whose traits they ask for", func(question string, want ...validate.Rule) {
		Expect(rules(batch(about2B, other2B, question), batchOf2B)).To(ConsistOf(want))
	},
		Entry("a title is no name", "Dans Breaking Bad, quel trait te parle le plus ?", validate.Rule("character-missing")),
		Entry("the beginning of a sentence is no name", "Quel trait te parle ? Celui-là.", validate.Rule("character-missing")),
		Entry("an acronym is no name", "Pour ce QCM, quel trait te parle ?", validate.Rule("character-missing")),
		Entry("a name with an apostrophe", "Quel trait d'Skyler te parle ?"),
		Entry("no traits", "Quel moment de Breaking Bad t'est resté ?"),
	)

	DescribeTable("ask for traits that fit one character only", func(option string, generic bool) {
		found := rules(batch(about2B+"\nC. "+option, other2B), batchOf2B)
		if generic {
			Expect(found).To(ConsistOf(validate.Rule("trait-generic")))
		} else {
			Expect(found).To(BeEmpty())
		}
	},
		Entry("one adjective", "Intelligent", true),
		Entry("several", "Courageuse et loyale", true),
		Entry("a noun", "Son courage.", true),
		Entry("with padding", "Elle est très intelligente", true),
		Entry("English", "She is brave", true),
		Entry("a trait with a deed", "Le courage de contredire son chef", false),
		Entry("a manner", "Sa patience quand tout brûle", false),
	)

	It("do not count the question mark of a title", func() {
		want := batchOf2B
		want.Works = []string{"Où est passé Dirk ?"}
		Expect(validate.Check(batch("Dans « Où est passé Dirk ? », qui te parle, Dirk ou Todd ?", "Dans Où est passé Dirk ? quel moment de Farah te reste ?"), want).Findings).To(BeEmpty())
	})

	It("finds a work by either part of its title", func() {
		want := batchOf2B
		want.Works = []string{"Star Wars : Andor", "The Office (US)"}
		Expect(validate.Check(batch("Dans Andor, que gardes-tu de Luthen ?", "Que retiens-tu de Pam, dans the office ?"), want).Findings).To(BeEmpty())
	})
})

var _ = Describe("A question of block 2A", func() {
	adaptive := func(index int, medium session.Medium) validate.Expected {
		return validate.Expected{
			Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: index, Language: session.French,
			Medium: medium, Works: []string{"Breaking Bad", "Dark"},
		}
	}

	DescribeTable("fits its place", func(index int, medium session.Medium, text string, want ...validate.Rule) {
		Expect(rules(text, adaptive(index, medium))).To(ConsistOf(want))
	},
		Entry("the medium", 0, session.Medium(""), "Le soir, plutôt…\nA. Une série\nB. Un film ?"),
		Entry("the medium, in English", 0, session.Medium(""), "In the evening?\nA. TV shows\nB. Movies"),
		Entry("the medium without options", 0, session.Medium(""), "Plutôt séries ou films ?", validate.Rule("option-count"), validate.Rule("medium-missing")),
		Entry("another choice", 0, session.Medium(""), "Le soir ?\nA. Une série\nB. Un livre", validate.Rule("medium-missing")),
		Entry("three choices", 0, session.Medium(""), "Le soir ?\nA. Une série\nB. Un film\nC. Un livre", validate.Rule("option-count")),
		Entry("works of the medium", 1, session.Series, "Quelles sont tes trois séries préférées ?"),
		Entry("works of the other medium", 1, session.Film, "Quelles sont tes trois séries préférées ?", validate.Rule("medium-missing"), validate.Rule("medium-other")),
		Entry("works of both media", 1, session.Film, "Quels films, ou quelles séries, préfères-tu ?", validate.Rule("medium-other")),
		Entry("the work that matters", 2, session.Series, "Entre Dark et Breaking Bad, laquelle garderais-tu ?"),
		Entry("no work", 2, session.Series, "Qu'est-ce qui compte pour toi ?", validate.Rule("one-work")),
		Entry("several works", 2, session.Series, "Quelles séries aimes-tu encore ?", validate.Rule("one-work")),
		Entry("two questions", 2, session.Series, "Laquelle de ces séries garderais-tu ? Et pourquoi ?", validate.Rule("question-several")),
	)
})

var _ = Describe("A preamble", func() {
	It("may ask whether to start, and nothing else", func() {
		Expect(validate.Check("Bienvenue. Voici comment cela se passe.\n\nOn commence ?", preamble).Findings).To(BeEmpty())
		Expect(only("Qui es-tu ? D'où vient ton envie de vendre ?", preamble).Rule).To(Equal(validate.Rule("question-several")))
		Expect(only(n(301)+".", preamble).Message).To(Equal("the text has 301 words; at most 300 are allowed"))
		Expect(rules("", preamble)).To(ConsistOf(validate.Rule("empty")))
	})

	It("may be used, but is tried again, if it breaks off", func() {
		f := only("Bienvenue. Voici comment cela se passe : tu réponds à des ques", preamble)
		Expect(f.Rule).To(Equal(validate.Rule("cut-off")))
		Expect(f.Warning).To(BeTrue())
	})
})
