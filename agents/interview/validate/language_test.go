package validate_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

var _ = Describe("The language of a text", func() {
	const (
		french  = "Bienvenue. Dans les minutes qui viennent, je te pose des questions sur ta façon de travailler, et tu me réponds avec tes mots."
		english = "Welcome. In the next few minutes you are asked about the way that you work, and you answer in your own words."
		greek   = "Καλώς ήρθες. Θα σου κάνω μερικές ερωτήσεις για τον τρόπο που δουλεύεις, και απαντάς με δικά σου λόγια."
	)
	in := func(l session.Language) validate.Expected {
		want := preamble
		want.Language = l
		return want
	}

	It("is that of the interview", func() {
		Expect(validate.Check(french, in(session.French)).Findings).To(BeEmpty())
		Expect(validate.Check(english, in(session.English)).Findings).To(BeEmpty())
	})

	It("is worth another attempt if it is the other one", func() {
		f := only(english, in(session.French))
		Expect(f).To(Equal(validate.Finding{Rule: validate.Rule("language"), Warning: true, Message: "the text is in English; write it in French"}))
		f = only(french, in(session.English))
		Expect(f).To(Equal(validate.Finding{Rule: validate.Rule("language"), Warning: true, Message: "the text is in French; write it in English"}))
	})

	It("cannot be one that is written in another script", func() {
		for _, l := range session.Languages() {
			f := only(greek, in(l))
			Expect(f.Rule).To(Equal(validate.Rule("language")))
			Expect(f.Warning).To(BeFalse())
		}
	})

	DescribeTable("is not doubted for", func(text string) {
		Expect(validate.Check(text, in(session.French)).Findings).To(BeEmpty())
	},
		Entry("titles of works in the other one", french+" On parlera de The Wire, de The Good Place, de How to Get Away with Murder et de What We Do in the Shadows."),
		Entry("a few words in another script", french+" On dit Γνῶθι σεαυτόν."),
		Entry("a short text", "Are you ready to start?"),
		Entry("a text in both", french+" "+english),
		Entry("symbols", strings.Repeat("🔥 ", 50)+"On commence ?"),
	)
})
