package react_test

import (
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
)

var _ = Describe("The lexicon of triggers", Label("R-07"), func() {
	// triggerOf returns the trigger of a run that escalates for a reason.
	triggerOf := func(reason string) react.Trigger {
		return newRig("decision: escalate\nreason: " + strconv.Quote(reason) + "\n").run().Trigger
	}

	DescribeTable("sorts a reason",
		func(reason string, want react.Trigger) {
			Expect(triggerOf(reason)).To(Equal(want))
			Expect(triggerOf(strings.ToUpper(reason))).To(Equal(want))
		},
		Entry("unclear which", "It is unclear whether the old or the new endpoint is meant.", react.Ambiguity),
		Entry("two readings", "The request can be read in two ways.", react.Ambiguity),
		Entry("ambiguous request, in French", "La demande est ambiguë : deux modules portent ce nom.", react.Ambiguity),
		Entry("unknown which, in French", "On ne sait pas lequel des deux formats est attendu.", react.Ambiguity),
		Entry("not clear, in French", "L'énoncé n'est pas clair et peut se lire autrement.", react.Ambiguity),

		Entry("a business decision", "Dropping support for version 1 is a business decision.", react.Decision),
		Entry("an approval", "Pricing must be approved by the product owner.", react.Decision),
		Entry("a strategic choice, in French", "C'est un choix stratégique qui revient à la direction.", react.Decision),
		Entry("a trade-off, in French", "Il faut arbitrer entre le délai et la qualité.", react.Decision),

		Entry("an exploited vulnerability", "I found a vulnerability that is exploited already.", react.Security),
		Entry("a private key", "A private key is in the repository.", react.Security),
		Entry("a password, in French", "Un mot de passe figure en clair dans le fichier.", react.Security),
		Entry("a data leak, in French", "Risque de sécurité : une fuite de données personnelles.", react.Security),

		Entry("contradictory constraints", "The two constraints contradict each other.", react.Conflict),
		Entry("incompatible limits", "Speed and the size limit are incompatible.", react.Conflict),
		Entry("a conflict with a constraint, in French", "La demande est en conflit avec la contrainte de licence.", react.Conflict),
		Entry("irreconcilable demands, in French", "Ces deux exigences sont inconciliables.", react.Conflict),

		Entry("an input that was not provided", "The version number was not provided.", react.Missing),
		Entry("no access", "I have no access to the logs.", react.Missing),
		Entry("a missing file, in French", "Il manque le fichier de configuration.", react.Missing),
		Entry("an address that was not provided, in French", "L'adresse du serveur n'a pas été fournie.", react.Missing),
		Entry("no log, in French", "Je n'ai pas le journal des erreurs.", react.Missing),

		Entry("not sure which", "I am not sure which file is meant.", react.Ambiguity),
		Entry("not stated which", "It does not say which one to change.", react.Ambiguity),
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
		Expect(triggerOf(strings.Repeat("well ", 1_000_000) + "a vulnerability")).To(BeEmpty())
	})
})
