package validate

import (
	"strings"
	"testing"

	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

var _ = Describe("A forbidden zone", func() {
	DescribeTable("is found however it is written", func(text string) {
		Expect(found(text)).To(ContainElement(zoneReligion), text)
	},
		Entry("plainly", "Parle-moi de ta religion."),
		Entry("in capitals", "PARLE-MOI DE TA RELIGION."),
		Entry("with a zero width space", "Parle-moi de ta reli\u200bgion."),
		Entry("with soft hyphens", "Parle-moi de ta re\u00adli\u00adgion."),
		Entry("with hyphens", "Parle-moi de ta re-li-gion."),
		Entry("broken at the end of a line", "Parle-moi de ta reli-\ngion."),
		Entry("in full width letters", "ｒｅｌｉｇｉｏｎ"),
		Entry("with letters that look alike", "r\u0435l\u0456gi\u043en"),
		Entry("with accents that do not belong", "rélïgiôn"),
		Entry("with accents of their own", norm.NFD.String("Es-tu chrétienne ?")),
		Entry("in bold", "ta **religion**"),
		Entry("across a line", "Crois-tu\nen Dieu ?"),
		Entry("with a curly apostrophe", "Vas-tu à l’église, dans l’église ?"),
	)

	DescribeTable("is distinguished from its look-alikes", func(text string, want ...zone) {
		if want == nil {
			want = []zone{}
		}
		Expect(found(text)).To(HaveExactElements(want), text)
	},
		Entry("the origin of an idea", "l'origine de ta motivation"),
		Entry("one's own origin", "ton origine", zoneOrigin),
		Entry("a company's health", "la santé financière, en bonne santé, l'entreprise"),
		Entry("one's health", "ta santé", zoneHealth),
		Entry("the financial health of one's portfolio", "ta santé financière"),
		Entry("a meeting", "une réunion"),
		Entry("a proverb", "l'union fait la force"),
		Entry("office politics", "Do you enjoy office politics?"),
		Entry("political views", "your political views", zonePolitics),
		Entry("a handicap in golf", "your golf handicap"),
		Entry("a phrase does not go on across sentences", "Tu sais ce que tu crois. En Dieu seul la foudre.", zoneReligion),
		Entry("nor across a blank line", "Tu as un parti\n\npolitique de prix"),
		Entry("an exception is one for its own zone only", "ta foi en ta religion", zoneReligion),
		Entry("what is sold", "Tu vends des médicaments et de l'alcool."),
		Entry("one's own, next to a client", "Avec tes clients, ta maladie se voit.", zoneHealth),
		Entry("who buys", "Your hospital, trade union and wheelchair accounts grew.", zoneUnion),
		Entry("who buys, next to it", "Your trade union accounts grew."),
		Entry("an abbreviation ends no sentence", "Are you a U.S. citizen?", zoneOrigin),
	)

	It("is not entered by a sentence that rules it out, unless it asks", func() {
		Expect(found("Je ne te demanderai rien sur ta santé ni sur ta religion.")).To(BeEmpty())
		Expect(found("Je ne te demanderai rien sur ta santé. Quelle est ta religion ?")).To(ConsistOf(zoneReligion))
		Expect(found("Je ne te demanderai rien sur ta santé, mais quelle est ta religion ?")).To(ConsistOf(zoneHealth, zoneReligion))
		Expect(found("I will not ask about your health")).To(BeEmpty())
		Expect(found("I will not ask, but are you religious?")).To(ConsistOf(zoneReligion))
	})

	It("is found with its place", func() {
		text := "Écoute : quelle est ton orientation sexuelle ?"
		hits := findZones(text)
		Expect(hits).To(HaveLen(1))
		Expect(text[hits[0].Start:hits[0].End]).To(Equal("sexuelle"))
	})

	It("is found once for each place, and at most 1,000 times", func() {
		Expect(findZones("ta religion, ta religion")).To(HaveLen(2))
		Expect(findZones(strings.Repeat("religion ", 5000))).To(HaveLen(1000))
		Expect(findZones(strings.Repeat("Religion. ", 5000))).To(HaveLen(1000))
	})

	It("has words in both languages", func() {
		for _, zone := range zones() {
			for _, set := range []string{"fr-tuned", "en-tuned"} {
				n := 0
				for _, s := range sentences(set) {
					if s.zone == zone {
						Expect(found(s.text)).To(ContainElement(zone), s.text)
						n++
					}
				}
				Expect(n).To(BeNumerically(">=", 4), "%s in %s", zone, set)
			}
		}
	})

	It("is found in a text whatever stands before and after it", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			noise := rapid.StringOf(rapid.RuneFrom([]rune("aétq ,-'\n\u200b1🔥«")))
			text := noise.Draw(t, "before") + ". Es-tu syndiqué ? " + noise.Draw(t, "after")
			for _, h := range findZones(text) {
				if h.Zone == zoneUnion && text[h.Start:h.End] == "syndiqué" {
					return
				}
			}
			t.Fatalf("not found in %q", text)
		})
	})
})

func FuzzFind(f *testing.F) {
	f.Add("Es-tu croy\u200bant ? re-li-gion - - a-\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, h := range findZones(text) {
			if h.Start < 0 || h.Start >= h.End || h.End > len(text) || h.Zone == "" {
				t.Fatalf("%q: %+v", text, h)
			}
		}
	})
}
