package react_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
)

var _ = Describe("The lexicon of triggers", Label("R-07"), func() {
	DescribeTable("sorts a reason",
		func(reason string, want react.Trigger) {
			Expect(react.TriggerIn(reason)).To(Equal(want))
			Expect(react.TriggerIn(strings.ToUpper(reason))).To(Equal(want))
		},
		Entry(nil, "It is unclear whether the old or the new endpoint is meant.", react.Ambiguity),
		Entry(nil, "The request can be read in two ways.", react.Ambiguity),
		Entry(nil, "La demande est ambiguë : deux modules portent ce nom.", react.Ambiguity),
		Entry(nil, "On ne sait pas lequel des deux formats est attendu.", react.Ambiguity),
		Entry(nil, "L'énoncé n'est pas clair et peut se lire autrement.", react.Ambiguity),

		Entry(nil, "Dropping support for version 1 is a business decision.", react.Decision),
		Entry(nil, "Pricing must be approved by the product owner.", react.Decision),
		Entry(nil, "C'est un choix stratégique qui revient à la direction.", react.Decision),
		Entry(nil, "Il faut arbitrer entre le délai et la qualité.", react.Decision),

		Entry(nil, "I found a vulnerability that is exploited already.", react.Security),
		Entry(nil, "A private key is in the repository.", react.Security),
		Entry(nil, "Un mot de passe figure en clair dans le fichier.", react.Security),
		Entry(nil, "Risque de sécurité : une fuite de données personnelles.", react.Security),

		Entry(nil, "The two constraints contradict each other.", react.Conflict),
		Entry(nil, "Speed and the size limit are incompatible.", react.Conflict),
		Entry(nil, "La demande est en conflit avec la contrainte de licence.", react.Conflict),
		Entry(nil, "Ces deux exigences sont inconciliables.", react.Conflict),

		Entry(nil, "The version number was not provided.", react.Missing),
		Entry(nil, "I have no access to the logs.", react.Missing),
		Entry(nil, "Il manque le fichier de configuration.", react.Missing),
		Entry(nil, "L'adresse du serveur n'a pas été fournie.", react.Missing),
		Entry(nil, "Je n'ai pas le journal des erreurs.", react.Missing),

		Entry(nil, "I am not sure which file is meant.", react.Ambiguity),
		Entry(nil, "It does not say which one to change.", react.Ambiguity),
		Entry("what is denied does not count", "There is no security risk and no known vulnerability, but the version was not provided.", react.Missing),
		Entry("what is denied does not count, in French", "Il n'y a aucune faille ni de conflit, mais la consigne n'est pas claire.", react.Ambiguity),
		Entry("nothing but denials", "It is not ambiguous, without conflict, and not missing.", react.Trigger("")),
		Entry("a denial of something else", "We could not go on: a password was leaked.", react.Security),

		Entry("nothing of it", "So be it.", react.Trigger("")),
		Entry("nothing of it, in French", "Le travail continue demain.", react.Trigger("")),
		Entry("words that only contain one", "The dismissing tone of the secretary.", react.Trigger("")),
		Entry("nothing", "", react.Trigger("")),
		Entry("the graver of two", "It is unclear who leaked the password.", react.Security),
	)

	It("reads no more of a reason than it needs", func() {
		Expect(react.TriggerIn(strings.Repeat("well ", 1_000_000) + "a vulnerability")).To(BeEmpty())
	})
})
