package validate_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

// plots are questions on what happens in well-known works.
var plots = []string{
	"Dans Intouchables, qu'est-ce qui te touche dans le lien entre Driss et Philippe, tétraplégique en fauteuil roulant ?",
	"Dans Breaking Bad, Walter White apprend son cancer. Qu'est-ce qui te retient dans ses choix d'alors ?",
	"Dans Game of Thrones, la foi militante du Grand Moineau fait plier Cersei : que retiens-tu de cette bascule ?",
	"Dans The Crown, Elizabeth tait ses opinions politiques. Qu'est-ce qui vous frappe dans cette réserve ?",
	"Dans Germinal, quand Étienne lance la grève avec le syndicat, quel geste de lui te parle ?",
	"Dans La Liste de Schindler, que gardes-tu de Schindler, qui achète la vie d'ouvriers juifs ?",
	"Dans Naruto, le traumatisme de Sasuke le pousse à partir : quel choix de Naruto te marque ?",
	"Dans The Good Doctor, Shaun, autiste, s'impose par un détail que personne n'a vu. Lequel de ses gestes te reste ?",
	"Dans Baron noir, Philippe Rickwaert et son parti politique : qu'as-tu pensé de ses alliances ?",
	"Dans Le Seigneur des anneaux, Aragorn accepte ses origines : à quel moment l'admires-tu ?",
	"In Breaking Bad, what draws you to Walter's cancer as a turning point?",
	"In The West Wing, which of Bartlet's decisions struck you once his illness was known?",
	"In Philadelphia, what moves you in Andrew Beckett, who is gay and fights alone?",
	"In Crash, what have you noticed in the way Officer Ryan treats immigrants?",
}

// turns are questions that leave a work for the candidate.
var turns = []string{
	"Dans Breaking Bad, Walter a un cancer. As-tu déjà vécu une maladie ?",
	"Dans Breaking Bad, Walter a un cancer ; et toi, quelle est ta santé ?",
	"Es-tu syndiqué, comme Étienne dans Germinal ?",
	"Dans The Crown, Elizabeth tait ses opinions ; quelles sont tes opinions politiques ?",
	"Comme Philippe dans Intouchables, as-tu un handicap ?",
	"Dans Naruto, Sasuke porte un traumatisme. Quel est le tien ?",
	"Dans Game of Thrones, le Grand Moineau croit. Crois-tu en Dieu comme lui ?",
	"Quelle place la religion tient-elle dans ta vie, comme dans celle de Jude Law dans The Young Pope ?",
	"In Philadelphia, Andrew is gay. Are you gay too?",
	"In Breaking Bad, Walter has cancer. Have you been through an illness yourself?",
	"Like Bartlet in The West Wing, do you have an illness that you hide?",
	"In Crash, people speak of immigrants. What is your own ethnic background?",
}

var _ = Describe("What happens in a work", Label("I-17"), func() {
	named := []string{"Intouchables", "Breaking Bad", "Game of Thrones", "The Crown", "Germinal", "La Liste de Schindler", "Naruto", "The Good Doctor"}
	want := func(text string) validate.Expected {
		w := validate.Expected{Purpose: session.PurposeQuestions, Step: session.Block2B, Works: named}
		for _, title := range named {
			if len(w.Works) == len(named) && len(session.NewTitles([]string{title}).Named(text)) > 0 {
				w.Works = []string{title}
			}
		}
		return w
	}
	refused := func(text string) bool {
		for _, f := range validate.Check(batch(text, "Quel geste de Driss, de Walter ou d'Elizabeth te reste en tête ?"), want(text)).Findings {
			if f.Rule == validate.Rule("forbidden-zone") {
				return true
			}
		}
		return false
	}
	It("may be asked about", func() {
		for _, text := range plots {
			Expect(refused(text)).To(BeFalse(), text)
		}
	})
	It("is not a way to ask the candidate about themself", func() {
		for _, text := range turns {
			Expect(refused(text)).To(BeTrue(), text)
		}
	})
	It("is no excuse in a block about work", func() {
		w := validate.Expected{Purpose: session.PurposeQuestions, Step: session.Block4, Works: named}
		Expect(rules(batch("Comment la maladie de Walter te parle-t-elle ?", open, choice), w)).To(ContainElement(validate.Rule("forbidden-zone")))
		Expect(validate.Check(batch("Comment la maladie de Walter te parle-t-elle ?", open, choice), w).Valid()).To(BeFalse())
	})
})
