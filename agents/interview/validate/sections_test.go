package validate_test

import (
	"strings"

	"golang.org/x/text/unicode/norm"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
)

var portrait = []string{
	"🔥 Ce qui te met vraiment en mouvement\nLe client de Rouen, gagné en trois hivers.",
	"🧱 Comment tu tiens dans le temps\nPar un carnet rayé le vendredi, et un café avec Paul.",
	"⚖️ Tes valeurs quand il faut choisir\nLa remise promise au voisin, refusée à la caisse.",
	"🧩 Ce que révèlent tes projections\nMarie-Jeanne relit ses dossiers, devis après devis.",
	"🛠️ Tes vraies forces et tes vraies limites\nChaque appel noté au feutre ; le devis délégué trop tard.",
	"🎯 Ton positionnement professionnel naturel\nDix comptes suivis longtemps, sans badge ni pointeuse.",
	"🧠 Synthèse émotionnelle courte\nUne eau lente qui creuse, et qui gagne à demander.",
}

var _ = Describe("A profile", Label("I-08"), func() {
	whole := strings.Join(portrait, "\n\n")

	It("is good with its seven sections", func() {
		Expect(validate.Check(whole, profile).Findings).To(BeEmpty())
	})

	It("is good in English", func() {
		english := profile
		english.Language = session.English
		Expect(validate.Check("🔥 What really sets you in motion\nThe red notebook from Hull stays open at noon.\n🧱 How you last over time\nThe red notebook from Hull stays open at noon.\n⚖️ Your values when you must choose\nThe red notebook from Hull stays open at noon.\n"+
			"🧩 What your projections reveal\nThe red notebook from Hull stays open at noon.\n🛠️ Your real strengths and real limits\nThe red notebook from Hull stays open at noon.\n🎯 Your natural professional position\nThe red notebook from Hull stays open at noon.\n🧠 Short emotional summary\nThe red notebook from Hull stays open at noon.",
			english).Findings).To(BeEmpty())
	})

	It("may be used, but is tried again, if it begins with talk", func() {
		f := only("Bien sûr ! Voici, comme tu l'as demandé, le portrait que j'ai pu tirer de tout ce que tu m'as dit.\n\n"+whole, profile)
		Expect(f.Rule).To(Equal(validate.Rule("stray-text")))
		Expect(f.Warning).To(BeTrue())
		Expect(f.Message).To(Equal("there are 20 words before the first section; begin with that"))
		Expect(validate.Check("Portrait de Léa\n\n"+whole, profile).Findings).To(BeEmpty(), "a title is none")
	})

	DescribeTable("is read however its headings are written", func(change func(string) string) {
		Expect(validate.Check(change(whole), profile).Findings).To(BeEmpty())
	},
		Entry("emoji without the variation selector", func(s string) string { return strings.ReplaceAll(s, "\uFE0F", "") }),
		Entry("Markdown headings", func(s string) string {
			return "## " + strings.ReplaceAll(s, "\n\n", "\n\n## ")
		}),
		Entry("bold headings without emoji", func(s string) string {
			for _, sign := range []string{"🔥", "🧱", "⚖️", "🧩", "🛠️", "🎯", "🧠"} {
				s = strings.ReplaceAll(s, sign+" ", "**")
			}
			for _, p := range portrait {
				_, title, _ := strings.Cut(strings.SplitN(p, "\n", 2)[0], " ")
				s = strings.Replace(s, title+"\n", title+"**\n", 1)
			}
			return s
		}),
		Entry("plain headings", func(s string) string {
			for _, sign := range []string{"🔥 ", "🧱 ", "⚖️ ", "🧩 ", "🛠️ ", "🎯 ", "🧠 "} {
				s = strings.ReplaceAll(s, sign, "")
			}
			return s
		}),
		Entry("addressed formally", func(s string) string {
			return strings.NewReplacer("te met", "vous met", "Comment tu tiens", "Comment vous tenez", "Tes", "Vos", "tes", "vos", "Ton", "Votre").Replace(s)
		}),
		Entry("with bodies on the line of the heading", func(s string) string {
			for _, p := range portrait {
				title := strings.SplitN(p, "\n", 2)[0]
				s = strings.Replace(s, title+"\n", title+" : ", 1)
			}
			return s
		}),
		Entry("decomposed accents", norm.NFD.String),
	)

	It("speaks of time, values and limits within its sections", func() {
		text := strings.Replace(whole, "Le lien, quand", "**Le temps** compte pour toi.\n\n**Tes valeurs**\n\nTes valeurs et tes forces ont leurs limites.\n\n- 🔥 le lien\n\nLe lien, quand", 1)
		Expect(validate.Check(text, profile).Findings).To(BeEmpty())
	})

	It("names the missing sections", func() {
		for i, p := range portrait {
			f := only(strings.Replace(whole, p, "", 1), profile)
			Expect(f.Rule).To(Equal(validate.Rule("section-missing")))
			sign, _, _ := strings.Cut(p, " ")
			Expect(f.Section).To(HavePrefix(sign), "part %d", i)
			Expect(f.Message).To(Equal(f.Section + " is missing"))
		}
	})

	DescribeTable("is refused", func(change func(string) string, want ...validate.Rule) {
		Expect(rules(change(whole), profile)).To(ConsistOf(want))
	},
		Entry("with a section twice", func(s string) string { return s + "\n\n" + portrait[2] }, validate.Rule("section-doubled")),
		Entry("with an empty section", func(s string) string {
			return strings.Replace(s, "La remise promise au voisin, refusée à la caisse.", "", 1)
		}, validate.Rule("section-empty")),
		Entry("out of order", func(s string) string {
			return strings.Join([]string{portrait[1], portrait[0], portrait[2], portrait[3], portrait[4], portrait[5], portrait[6]}, "\n\n")
		}, validate.Rule("section-order")),
		Entry("without end", func(s string) string { return s + "\n" + n(1500) }, validate.Rule("too-long")),
		Entry("without any section", func(string) string { return "Tu avances vite." }, validate.Rule("section-missing")),
	)
})

const verdict = `🟢 ALIGNÉ

Lecture de compatibilité

Rapport au cœur du métier
Tu fais vivre une relation avant de vendre. Ton rythme est aligné sur celui du client.

Rapport à la durée
Tu reviens, semaine après semaine, sans rien forcer.

Cohérence globale
Le poste te donne l'autonomie que tu demandes. Rien n'y est désaligné.`

var _ = Describe("A matching", Label("I-08"), func() {
	It("is good with a status and its justification", func() {
		Expect(validate.Check(verdict, matching).Findings).To(BeEmpty())
	})

	DescribeTable("has a status on a line of its own", func(line string, want ...validate.Rule) {
		Expect(rules(strings.Replace(verdict, "🟢 ALIGNÉ", line, 1), matching)).To(ConsistOf(want))
	},
		Entry("aligned", "🟢 ALIGNÉ"),
		Entry("conditional", "🔵 ALIGNEMENT CONDITIONNEL"),
		Entry("not aligned", "🟠 PAS ALIGNÉ ACTUELLEMENT"),
		Entry("not aligned, shorter", "🟠 PAS ALIGNÉ"),
		Entry("in English", "🟠 NOT CURRENTLY ALIGNED"),
		Entry("without its sign", "ALIGNÉ"),
		Entry("in bold", "**🔵 Alignement conditionnel**"),
		Entry("as a heading", "## 🟢 ALIGNÉ"),
		Entry("with a label", "Statut : 🟢 ALIGNÉ"),
		Entry("with a bold label", "**Statut :** 🟢 ALIGNÉ"),
		Entry("with decomposed accents", norm.NFD.String("🟢 ALIGNÉ")),
		Entry("with a full stop", "🟢 Aligné."),
		Entry("none", "", validate.Rule("status-missing")),
		Entry("désaligné is not aligné", "DÉSALIGNÉ", validate.Rule("status-missing")),
		Entry("misaligned is not aligned", "MISALIGNED", validate.Rule("status-missing")),
		Entry("a sentence is no status", "Tu es aligné.", validate.Rule("status-missing")),
		Entry("the sign of another status", "🟢 PAS ALIGNÉ", validate.Rule("status-conflict")),
		Entry("désaligné with a sign", "🟠 DÉSALIGNÉ", validate.Rule("status-conflict")),
		Entry("words after it", "🟢 ALIGNÉ mais pas tout de suite", validate.Rule("status-conflict")),
		Entry("two of them", "🟢 ALIGNÉ\n🔵 ALIGNEMENT CONDITIONNEL", validate.Rule("status-several")),
		Entry("all of them", "🟢 ALIGNÉ\n🔵 ALIGNEMENT CONDITIONNEL\n🟠 PAS ALIGNÉ ACTUELLEMENT", validate.Rule("status-several")),
	)

	DescribeTable("has a justification", func(old, replacement, section string, want validate.Rule) {
		f := only(strings.Replace(verdict, old, replacement, 1), matching)
		Expect(f.Rule).To(Equal(want))
		Expect(f.Section).To(Equal(section))
	},
		Entry("with its heading", "Lecture de compatibilité\n", "", "the compatibility reading", validate.Rule("section-missing")),
		Entry("with the core of the work", "Rapport au cœur du métier\n", "", "the point on the core of the work", validate.Rule("section-missing")),
		Entry("with duration", "Rapport à la durée\n", "", "the point on duration", validate.Rule("section-missing")),
		Entry("with coherence", "Cohérence globale\n", "", "the point on overall coherence", validate.Rule("section-missing")),
		Entry("with something to say", "Tu reviens, semaine après semaine, sans rien forcer.", "", "the point on duration", validate.Rule("section-empty")),
	)

	It("may list its points", func() {
		text := strings.NewReplacer("métier\n", "métier** : ", "durée\n", "durée** : ", "globale\n", "globale** : ",
			"Rapport", "- **Rapport", "Cohérence", "- **Cohérence").Replace(verdict)
		Expect(validate.Check(text, matching).Findings).To(BeEmpty())
	})
})
