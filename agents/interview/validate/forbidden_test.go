package validate_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
)

// entering are sentences that enter the zones, in both languages.
var entering = map[string][]string{
	"origin":     {"Tes origines ethniques te donnent de la force.", "Your ethnic background gives you strength."},
	"religion":   {"Ta foi chrétienne te porte.", "Your Christian faith carries you."},
	"politics":   {"Tes opinions politiques sont nettes.", "Your political views are clear."},
	"health":     {"Ta maladie t'a endurci.", "Your illness has hardened you."},
	"disability": {"Ton handicap t'a endurci.", "Your disability has hardened you."},
	"sexuality":  {"Ton homosexualité se devine.", "Your homosexuality can be guessed."},
	"union":      {"Ton syndicat te protège.", "Your trade union protects you."},
	"trauma":     {"Ton traumatisme parle.", "Your trauma speaks."},
	"pathology":  {"Ta dépression se voit.", "Your depression shows."},
	"family":     {"Tes enfants te portent.", "Your children carry you."},
	"age":        {"Ton âge se devine.", "Your age can be guessed."},
}

var _ = Describe("Every generated text", Label("I-17"), func() {
	adaptive := validate.Expected{
		Purpose: session.PurposeAdaptive, Step: session.Block2A, Index: 2, Language: session.French, Medium: session.Series,
	}
	// Each text is valid without the sentence that replaces "%".
	for _, c := range []struct {
		kind string
		text string
		want validate.Expected
	}{
		{"a preamble", "Bienvenue. % On commence ?", preamble},
		{"questions", batch(open, choice, "% Qu'est-ce qui te fait avancer ?\nA. Le calme\nB. Le bruit"), batchOf3},
		{"an option", batch(open, choice, "Qu'est-ce qui te fait avancer ?\nA. Le calme\nB. Le bruit %"), batchOf3},
		{"questions on works", batch(about2B, "% "+other2B), batchOf2B},
		{"an adaptive question", "% Laquelle de ces séries garderais-tu ?", adaptive},
		{"a mirror", mirror("Tu avances. %", "Tu tiens."), mirrorOf1},
		{"a mirror of works", strings.Replace(projectiveMirror, "Le pouvoir t'intéresse", "% Le pouvoir t'intéresse", 1), mirrorOf2B},
		{"a profile", strings.Join(portrait, "\n\n") + " %", profile},
		{"a matching", verdict + " %", matching},
	} {
		It("is searched for forbidden zones: "+c.kind, func() {
			Expect(validate.Check(strings.ReplaceAll(c.text, "%", ""), c.want).Findings).To(BeEmpty())
			for zone, all := range entering {
				for _, sentence := range all {
					f := only(strings.ReplaceAll(c.text, "%", sentence), c.want)
					Expect(f.Rule).To(Equal(validate.Rule("forbidden-zone")))
					Expect(f.Section).To(Equal(zone))
					Expect(f.Warning).To(BeFalse())
				}
			}
		})
	}

	It("is reported with the zone and the number of places", func() {
		f := only("Bienvenue. Ta religion, ta religion encore.", preamble)
		Expect(f.Message).To(Equal("the text touches on religion in 2 places; an interview leaves that alone"))
		Expect(f.Count).To(Equal(2))
	})

	It("has a finding for each zone", func() {
		Expect(entering).To(HaveLen(11))
		var all []string
		for _, s := range entering {
			all = append(all, s...)
		}
		Expect(validate.Check(strings.Join(all, " "), preamble).Findings).To(HaveLen(11))
	})

	It("may name a work whose title enters a zone, and go no further", func() {
		want := batchOf2B
		want.Works = []string{"Sex Education", "En thérapie", "Six Feet Under"}
		text := "Dans Sex Education, de qui te sens-tu proche, d'Otis ou de Maeve ?"
		other := "Dans En thérapie et Six Feet Under, que gardes-tu de Nate ?"
		Expect(validate.Check(batch(text, other), want).Findings).To(BeEmpty())
		Expect(only(batch(text, other+" Ta religion compte."), want).Section).To(Equal("religion"))
		want.Works = []string{"Religion"}
		Expect(rules(batch("Dans Religion, que gardes-tu de Nate ?", "Quelle est ta foi, comme Nate ?"), want)).To(ConsistOf(validate.Rule("forbidden-zone")))
	})

	It("is searched for roundabout questions about private life, which are warnings that quote a word", func() {
		f := only(batch(open, choice, "Qui dort dans la chambre à côté de la tienne, le dimanche soir ?"), batchOf3)
		Expect(f.Rule).To(Equal(validate.Rule("forbidden-zone")))
		Expect(f.Section).To(Equal("private"))
		Expect(f.Warning).To(BeTrue())
		Expect(f.Words).NotTo(BeEmpty())
		Expect(f.Place).To(Equal("question 3"))
		Expect(f.In(session.French)).To(ContainSubstring("la vie privée"))
	})

	It("is refused for plain words whatever the classifier estimates", func() {
		text := "Avant de commencer, dis-moi quelle est ta religion et pour qui tu votes ?"
		Expect(intrusion.Shipped().Estimate(text).LogOdds).To(BeNumerically("<", 0), "the classifier misses this question")
		Expect(validate.Check(batch(open, choice, text), batchOf3).Valid()).To(BeFalse())
	})
})
