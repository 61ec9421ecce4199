package validate_test

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

const sentence = "Dis-moi si ça te parle, ou s'il y a une nuance importante que je n'ai pas vue."

// mirror returns a mirror with the bodies of its first two sections.
func mirror(reading, deduction string) string {
	return "1️⃣ Lecture implicite\n" + reading + "\n\n2️⃣ Déduction personnalisée\n" + deduction +
		"\n\n3️⃣ Validation ouverte\n" + sentence
}

var good = mirror("Tu avances quand le défi est net et que la progression se voit.",
	"Face à l'ennui, tu cherches d'abord un enjeu caché avant de partir ailleurs.")

var _ = Describe("A mirror", Label("I-07", "I-08"), func() {
	It("is good with three sections, in order, short, with the sentence", func() {
		Expect(validate.Check(good, mirrorOf1).Findings).To(BeEmpty())
	})

	DescribeTable("is found by its headings, however they are written", func(change func(string) string) {
		Expect(validate.Check(change(good), mirrorOf1).Findings).To(BeEmpty())
	},
		Entry("keycaps without the variation selector", func(s string) string { return strings.ReplaceAll(s, "\uFE0F", "") }),
		Entry("no blank lines", func(s string) string { return strings.ReplaceAll(s, "\n\n", "\n") }),
		Entry("blank lines after the headings", func(s string) string { return strings.ReplaceAll(s, "\n", "\n\n") }),
		Entry("Windows line ends", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }),
		Entry("decomposed accents", norm.NFD.String),
		Entry("upper case", strings.ToUpper),
		Entry("titles only", func(s string) string {
			return strings.NewReplacer("1️⃣ ", "", "2️⃣ ", "", "3️⃣ ", "").Replace(s)
		}),
		Entry("keycaps only", func(s string) string {
			return strings.NewReplacer(" Lecture implicite", "", " Déduction personnalisée", "", " Validation ouverte", "").Replace(s)
		}),
		Entry("Markdown headings", func(s string) string {
			return strings.NewReplacer("1️⃣", "### 1.", "2️⃣", "### 2.", "3️⃣", "### 3.").Replace(s)
		}),
		Entry("bold headings with a colon", func(s string) string {
			return strings.NewReplacer("1️⃣ Lecture implicite", "**1. Lecture implicite :**", "2️⃣ Déduction personnalisée", "**2️⃣ Déduction personnalisée** :").Replace(s)
		}),
		Entry("headings with the limit in parentheses", func(s string) string {
			return strings.Replace(s, "implicite\n", "implicite (20 mots au plus)\n", 1)
		}),
		Entry("bodies on the line of the heading", func(s string) string {
			return strings.NewReplacer("implicite\n", "implicite : ", "personnalisée\n", "personnalisée — ", "ouverte\n", "ouverte : ").Replace(s)
		}),
		Entry("a curly apostrophe in the sentence", func(s string) string { return strings.ReplaceAll(s, "'", "’") }),
		Entry("the sentence in quotation marks", func(s string) string { return strings.Replace(s, sentence, "« "+sentence+" »", 1) }),
		Entry("the formal sentence", func(s string) string {
			return strings.NewReplacer("Tu avances", "Vous avancez", "tu cherches", "vous cherchez",
				sentence, "Dites-moi si cela vous parle, ou s’il y a une nuance importante que je n’ai pas vue.").Replace(s)
		}),
	)

	It("is good in English", func() {
		english := mirrorOf1
		english.Language = session.English
		Expect(validate.Check("1️⃣ Implicit reading\nYou move when the challenge is clear.\n\n2️⃣ Personal deduction\n"+
			"You will look for a hidden stake before you leave.\n\n3️⃣ Open validation\n"+
			"Tell me if this rings true, or if there is an important nuance I have missed.", english).Findings).To(BeEmpty())
		Expect(rules(good, english)).To(ConsistOf(validate.Rule("open-validation"), validate.Rule("language")), "the sentence is that of the language")
	})

	DescribeTable("has sections of bounded length, counted without the heading",
		func(reading, deduction, count, limit int, warning bool) {
			f := only(mirror(n(reading), n(deduction)), mirrorOf1)
			Expect(f.Rule).To(Equal(validate.Rule("section-words")))
			Expect(f.Count).To(Equal(count))
			Expect(f.Limit).To(Equal(limit))
			Expect(f.Warning).To(Equal(warning))
		},
		Entry("21 words are a warning", 21, 25, 21, 20, true),
		Entry("30 words are a warning", 30, 25, 30, 20, true),
		Entry("31 words are too many", 31, 25, 31, 30, false),
		Entry("26 words of deduction are a warning", 20, 26, 26, 25, true),
		Entry("35 words of deduction are a warning", 20, 35, 35, 25, true),
		Entry("36 words of deduction are too many", 20, 36, 36, 35, false),
	)

	It("may be as long as 20 and 25 words", func() {
		Expect(validate.Check(mirror(n(20), n(25)), mirrorOf1).Findings).To(BeEmpty())
	})

	It("may be used with warnings", func() {
		Expect(validate.Check(mirror(n(30), n(35)), mirrorOf1).Valid()).To(BeTrue())
		Expect(validate.Check(mirror(n(31), n(35)), mirrorOf1).Valid()).To(BeFalse())
	})

	It("reports the section, the number of words and the limit", func() {
		Expect(only(mirror(n(24), n(3)), mirrorOf1).Message).To(Equal(
			"section 1 (implicit reading) has 24 words without its heading; 20 are demanded at most"))
		Expect(only(mirror(n(3), n(40)), mirrorOf1).Message).To(Equal(
			"section 2 (personal deduction) has 40 words without its heading; 25 are demanded at most and more than 35 cannot be used"))
	})

	DescribeTable("is refused", func(text string, want ...validate.Rule) {
		Expect(rules(text, mirrorOf1)).To(ConsistOf(want))
		Expect(validate.Check(text, mirrorOf1).Valid()).To(BeFalse())
	},
		Entry("without section 1", strings.Replace(good, "1️⃣ Lecture implicite\n", "", 1),
			validate.Rule("section-missing"), validate.Rule("stray-text")),
		Entry("without section 2", strings.Replace(good, "2️⃣ Déduction personnalisée\n", "", 1), validate.Rule("section-missing")),
		Entry("without section 3", strings.Replace(good, "3️⃣ Validation ouverte\n", "", 1), validate.Rule("section-missing")),
		Entry("with an empty section", mirror("", "Tu avances."), validate.Rule("section-empty")),
		Entry("with a section twice", strings.Replace(good, "2️⃣ Déduction", "1️⃣ Lecture implicite\nEncore.\n2️⃣ Déduction", 1), validate.Rule("section-doubled")),
		Entry("with a section too many", good+"\n4️⃣ Conseil\nTiens bon.", validate.Rule("stray-text")),
		Entry("with another sentence", strings.Replace(good, sentence, "Qu'en penses-tu ?", 1), validate.Rule("open-validation")),
		Entry("with text before", "Merci pour ta réponse.\n\n"+good, validate.Rule("stray-text")),
		Entry("with a transition glued on", good+"\n\nPassons maintenant au bloc suivant.", validate.Rule("stray-text")),
		Entry("out of order", "2️⃣ Déduction personnalisée\nTu agis.\n1️⃣ Lecture implicite\nTu vois.\n3️⃣ Validation ouverte\n"+sentence, validate.Rule("section-order")),
		Entry("empty", " \n ", validate.Rule("empty")),
		Entry("of signs only", "1️⃣\n2️⃣\n3️⃣", validate.Rule("empty")),
	)

	It("reports a superfluous section", func() {
		f := only(good+"\n4️⃣ Conseil\nTiens bon.", mirrorOf1)
		Expect(f.Message).To(Equal("there is a section 4; a mirror has 3"))
		Expect(f.Count).To(Equal(4))
	})

	It("speaks of its titles within the text", func() {
		text := mirror("La lecture implicite d'un brief te suffit.", "Ta déduction personnalisée précède souvent celle du client.")
		Expect(validate.Check(text, mirrorOf1).Findings).To(BeEmpty())
	})
})

const projectiveMirror = `De Breaking Bad tu gardes la patience du plan, celle de Gus Fring.
Dans Le Bureau des légendes, tu suis Marie-Jeanne, qui encaisse et vérifie.
Le pouvoir t'intéresse moins que la maîtrise de ce qu'il coûte.
Sous pression, tu ralentis, tu tries, puis tu tranches.
Point de vigilance : à tout porter, tu peux oublier de demander.`

var _ = Describe("The mirror of block 2B", func() {
	It("is good with works, characters and one point of vigilance", func() {
		Expect(validate.Check(projectiveMirror, mirrorOf2B).Findings).To(BeEmpty())
	})

	lines := strings.Split(projectiveMirror, "\n")
	join := func(some ...string) string { return strings.Join(some, "\n") }

	DescribeTable("is refused", func(text string, want ...validate.Rule) {
		Expect(rules(text, mirrorOf2B)).To(ConsistOf(want))
	},
		Entry("with three lines", join(lines[0], lines[1], lines[4]), validate.Rule("line-count")),
		Entry("with seven lines", join(lines[0], lines[1], lines[2], lines[3], lines[2], lines[3], lines[4]), validate.Rule("line-count")),
		Entry("without a point of vigilance", join(lines[0], lines[1], lines[2], lines[3]), validate.Rule("vigilance")),
		Entry("with two points of vigilance", join(lines[0], lines[1], lines[4], lines[4]), validate.Rule("vigilance")),
		Entry("without a work", join("Tu suis Marie-Jeanne.", lines[2], "Tu aimes Gus.", lines[4]), validate.Rule("work-missing")),
		Entry("without a character", join("Breaking Bad te plaît.", lines[2], lines[3], lines[4]), validate.Rule("character-missing")),
		Entry("with lines without end", join(lines[0], lines[1], n(200), lines[4]), validate.Rule("too-long")),
	)

	It("may have blank lines between its lines, and four or six of them", func() {
		Expect(validate.Check(strings.ReplaceAll(projectiveMirror, "\n", "\n\n"), mirrorOf2B).Findings).To(BeEmpty())
		Expect(validate.Check(join(lines[0], lines[1], lines[2], lines[4]), mirrorOf2B).Findings).To(BeEmpty())
		Expect(validate.Check(join(lines[0], lines[1], lines[2], lines[3], lines[3], lines[4]), mirrorOf2B).Findings).To(BeEmpty())
	})

	It("reports the number of lines", func() {
		Expect(only(join(lines[0], lines[1], lines[4]), mirrorOf2B).Message).To(Equal("the mirror has 3 lines; 4 to 6 are expected"))
	})
})
