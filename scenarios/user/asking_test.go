package user_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// asked returns the facts, of those with the given names separated by "|", that an answer asks for.
func asked(language, names, reply string) string {
	GinkgoHelper()
	text := "language: " + language + "\nopening: x\ngoals: [{id: g, done: {reply: fin}}]\nfacts:\n"
	for name := range strings.SplitSeq(names, "|") {
		text += "  " + name + ": A-1009\n"
	}
	_, heard := talk(start(text, 1), reply)
	return strings.Join(heard[0].Asked, "|")
}

var _ = Describe("A simulated user recognizes", func() {
	asks := func(language, name, reply string) { Expect(asked(language, name, reply)).To(Equal(name), reply) }
	ignores := func(language, name, reply string) { Expect(asked(language, name, reply)).To(BeEmpty(), reply) }

	DescribeTable("the name of a fact", asks,
		Entry("in the plural", "en", "order number", "What are your order numbers?"),
		Entry("in the singular", "en", "order numbers", "What is your order number?"),
		Entry("with a plural in -es", "en", "address", "Which addresses do you use?"),
		Entry("with a plural in -ies", "en", "city", "Which cities?"),
		Entry("with an irregular plural", "en", "children", "Which child is it for?"),
		Entry("in American spelling", "en", "colour", "Which color?"),
		Entry("without its hyphen", "fr", "adresse e-mail", "Quelle est votre adresse email ?"),
		Entry("with a hyphen", "en", "email address", "What is your e‑mail address?"),
		Entry("as two words", "en", "postcode", "What is your post code?"),
		Entry("with a French plural in -x", "fr", "bureau", "Quels bureaux ?"),
		Entry("with a French plural in -aux", "fr", "code postal", "Quels sont les codes postaux ?"),
		Entry("with another article", "fr", "date d'achat", "Quelle est la date de l’achat ?"),
		Entry("with a possessive", "fr", "date d'achat", "Quelle est la date de votre achat ?"),
		Entry("without accents", "fr", "numéro de commande", "votre numero de commande svp"),
		Entry("of minor words only", "en", "this", "What is this?"),
	)

	DescribeTable("other words as no name", ignores,
		Entry("a part is missing", "en", "order number", "How many numbers?"),
		Entry("another ending", "en", "order number", "What is your ordered number?"),
		Entry("the same beginning", "en", "date", "Is the dataset empty?"),
		Entry("the words apart", "en", "order number", "In order to help you, may I ask how large the number is?"),
		Entry("the words in another order", "en", "order number", "What number of orders?"),
	)

	DescribeTable("questions and requests", asks,
		Entry("a need", "en", "order number", "I'd like your order number."),
		Entry("a lack", "en", "order number", "I don't have your order number yet."),
		Entry("a missing fact", "en", "order number", "The order number is missing."),
		Entry("what is impossible without it", "en", "order number", "I can't help you without your order number."),
		Entry("an imperative", "en", "order number", "Please type in your order number."),
		Entry("an infinitive for the user", "en", "order number", "I need you to send me the order number."),
		Entry("a reminder", "en", "order number", "Do not forget to send the order number."),
		Entry("a denial in another clause", "en", "order number", "Don't worry, just send me your order number."),
		Entry("a question with a denial", "en", "order number", "Do you not have an order number?"),
		Entry("a fragment with please", "en", "order number", "order number please"),
		Entry("a fragment with a colon", "en", "order number", "**Order number:**"),
		Entry("lists", "en", "order number|country", "I require: order number, country."),
		Entry("lists after a preposition", "en", "name|order number", "I need the name on the account and the order number."),
		Entry("lists of lines", "en", "name|order number", "Please send me the following:\n1. Name\n2. **Order number**"),
		Entry("a missing answer", "en", "order number", "You haven't told me your order number yet."),
		Entry("a condition", "en", "order number", "I can help you once I have your order number."),
		Entry("an explanation", "en", "problem", "Explain the problem."),
		Entry("a verification", "en", "email address", "Please verify your email address."),
		Entry("an appearance", "en", "problem", "What seems to be the problem?"),
		Entry("what the agent will do with it", "en", "address", "Which address do I send it to?"),
		Entry("tu", "fr", "numéro de commande", "Donne-moi ton numéro de commande."),
		Entry("vous", "fr", "numéro de commande", "Dites-moi votre numéro de commande."),
		Entry("an infinitive", "fr", "numéro de commande", "Merci de bien vouloir me transmettre votre numéro de commande."),
		Entry("a French need", "fr", "numéro de commande", "Il nous faudrait votre numéro de commande."),
		Entry("a wish", "fr", "numéro de commande", "Je voudrais connaître votre numéro de commande."),
		Entry("a French fragment", "fr", "numéro de commande", "Votre numéro de commande, je vous prie."),
		Entry("a French reminder", "fr", "numéro", "N'oubliez pas d'indiquer votre numéro."),
		Entry("a fragment with thanks", "fr", "numéro", "Votre numéro, merci."),
		Entry("a fragment with thanks in advance", "fr", "numéro", "Votre numéro, merci d'avance."),
		Entry("thanks for doing so", "fr", "numéro", "Merci de me donner votre numéro."),
		Entry("a question after thanks", "fr", "numéro", "Merci pour votre message, votre numéro ?"),
		Entry("the last missing fact", "fr", "code postal", "Il ne me manque plus que votre code postal."),
		Entry("the only need", "fr", "code postal", "Je n'ai besoin que de votre code postal."),
		Entry("an obligation of the agent", "fr", "numéro", "Je dois connaître votre numéro."),
		Entry("a possibility", "fr", "numéro", "Serait-il possible d'avoir votre numéro ?"),
		Entry("a wait", "fr", "numéro", "J'attends votre numéro."),
		Entry("a missing French answer", "fr", "numéro", "Vous ne m'avez pas donné votre numéro."),
		Entry("a French condition", "fr", "numéro", "Une fois que j'aurai votre numéro, je pourrai vous aider."),
		Entry("a French explanation", "fr", "problème", "Expliquez-moi votre problème."),
		Entry("what is impossible in French", "fr", "numéro", "Sans votre numéro, je ne peux pas vous aider."),
	)

	DescribeTable("what is not asked for", ignores,
		Entry("a statement", "en", "order number", "Here are order numbers."),
		Entry("a denial", "en", "order number", "I don't need the order number. Please wait."),
		Entry("a warning", "en", "order number", "Do not share your order number with anyone."),
		Entry("an offer", "en", "order number", "Should I send you your order number by email?"),
		Entry("an offer with me", "en", "order number", "Would you like me to send the order number to you?"),
		Entry("another action of the agent", "en", "order number", "Can I look up your order number for you?"),
		Entry("another action of the user", "en", "order number", "Have you forgotten your order number?"),
		Entry("the past", "en", "order number", "Did you send the order number?"),
		Entry("the user's need", "en", "order number", "Why do you need the order number?"),
		Entry("an instrument", "en", "order number", "What did you do with the order number?"),
		Entry("a purpose", "en", "email address", "Click the link to confirm your email address."),
		Entry("another clause", "en", "order number", "Can you tell me why the order number is wrong?"),
		Entry("a state", "en", "order number", "Is the order number still readable?"),
		Entry("what is possible without it", "en", "order number", "You can track it without the order number."),
		Entry("a lack of the user", "en", "order number", "If you don't have the order number, please wait."),
		Entry("a statement about the user", "en", "order number", "Once you have the order number, we can go on."),
		Entry("a relative clause", "en", "order number", "I have seen in the mail which order number was lost."),
		Entry("whether it is needed", "en", "order number", "Is the order number required?"),
		Entry("another missing thing", "en", "order number", "The order number was on the missing page."),
		Entry("a line of another list", "en", "order number", "Here is what I found:\n- Order number"),
		Entry("an exclamation", "en", "problem", "What a problem!"),
		Entry("a note", "en", "order number", "Please write down your order number."),
		Entry("what the user may not know", "en", "order number", "Did you know your order number is on the receipt?"),
		Entry("what the agent did", "en", "email address", "Which email address did we send it to?"),
		Entry("a missing answer in a condition", "en", "number", "If you haven't told me your number, that is fine."),
		Entry("another wait", "en", "order number", "Once I have checked the order number, I will call."),
		Entry("thanks with pour", "fr", "numéro", "Merci pour votre numéro."),
		Entry("thanks with du", "fr", "numéro", "Merci du numéro !"),
		Entry("thanks with de", "fr", "numéro", "Merci de votre numéro."),
		Entry("an apology", "fr", "problème", "Merci, désolé pour le problème."),
		Entry("an action that the agent needs", "fr", "numéro", "J'ai besoin de vérifier votre numéro."),
		Entry("an action that is needed", "fr", "numéro", "Il me faut vérifier votre numéro."),
		Entry("what the agent did, in French", "fr", "adresse", "Quelle adresse avons-nous utilisée ?"),
		Entry("an explanation by the agent", "fr", "problème", "Laissez-moi vous expliquer le problème."),
		Entry("an announced explanation", "fr", "problème", "Permettez-moi de vous expliquer le problème."),
		Entry("another French wait", "fr", "numéro", "J'attends la confirmation du numéro."),
		Entry("a French offer", "fr", "numéro de commande", "Puis-je vous envoyer votre numéro de commande ?"),
		Entry("a French past", "fr", "numéro de commande", "Avez-vous bien reçu le numéro de commande par courriel ?"),
		Entry("questions about it", "fr", "numéro de commande", "Avez-vous d'autres questions sur votre numéro de commande ?"),
		Entry("a French denial", "fr", "numéro", "Je n'ai pas besoin de votre numéro."),
		Entry("a French warning", "fr", "numéro", "Ne communiquez jamais votre numéro."),
		Entry("a French purpose", "fr", "numéro", "Cliquez ici pour confirmer votre numéro."),
	)

	It("nothing in data of one endless sentence, and in a short time", func() {
		ignores("en", "order number", strings.Repeat("tell about order number ", 20_000))
	})
})
