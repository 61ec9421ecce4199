package kind

import (
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/fixtures"
)

// The rules of the prompts that a reader notices and the validators do not check. They are lists of
// words on purpose: a new word that is right is added to the list after a look at its sentence.
var (
	// A second question behind "et", "ou", "and" or "or", and one that repeats "qu'est-ce".
	doubled = regexp.MustCompile(`(?i)[ ,](?:et|ou|and|or) (?:surtout |also )?(?:(?:(?:à|avec|chez|de|par|pour|in|with|by|for) |d')?` +
		`(?:qui|quoi|quel(?:le)?s?|l(?:a|es?)quel(?:le)?s?|who|whom|whose|which|what)|qu'\p{L}+|que \p{L}+-\p{L}+|pourquoi|comment|d'où|où|quand|combien|why|how|when|where)(?:[^\p{L}]|$)` +
		`|qu'est-ce.*qu'est-ce`)
	// A sentence that asks for something without being a question.
	imperative = regexp.MustCompile(`(?i)^(?:(?:dé)?cri[st]|décri(?:s|vez)|raconte|cite|parle|di[st]|donne|explique|pense|imagine|nomme|choisi(?:s|ssez)|partage|` +
		`tell|describe|talk|give|explain|name|share|think|imagine|choose|pick|walk|recall|list)(?:z|es)?(?:-moi)?[ ,]`)
	interrogative = regexp.MustCompile(`(?i)(?:^|[ (])(?:qu'\p{L}+|qu(?:e|i|oi)|quel(?:le)?s?|l(?:a|es?)quel(?:le)?s?|comment|où|d'où|quand|combien|pourquoi|` +
		`who|what|which|how|when|where|why|\p{L}+-(?:tu|vous|il|elle|on|ce))(?:[^\p{L}]|$)`)

	// Words after "tu es", "te sens-tu", "t'a" and the like that agree with the candidate, unless they
	// are listed as invariable.
	agreeing = []*regexp.Regexp{
		regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:tu|vous) (?:ne |n'|t'|t'y |vous |vous y |y )*(?:es|étais|seras|serais|êtes|étiez|serez|seriez|deviens|devenez|restes|restez|sembles|semblez) (\p{L}+)`),
		regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:t'y |t'|y )?(?:es-tu|êtes-vous|étais-tu|étiez-vous|serais-tu|seriez-vous) (\p{L}+)`),
		regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:te|se|vous) (?:sen(?:s|t|tais|tez|tiez|tiras|tirez)|senti)(?:-tu|-vous|-on)? (?:plus |moins )?((?:(?:le|la) (?:plus|moins) )?\p{L}+)`),
		regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:t'|vous )(?:y )?(?:a|ont|avait|avaient|aura|aurait) (?:pas |\p{L}+ment |le plus |beaucoup |déjà )?(\p{L}+)`),
		regexp.MustCompile(`(?i)(?:^|[^\p{L}])(?:te|vous) (?:rend|rende|laisse|trouve|croit|retrouve)(?:nt)? (\p{L}+)`),
		regexp.MustCompile(`(?im)^[A-E]\. (?:(?:pouvoir |vouloir )?être|je suis|j'étais|je serai|je reste|me sentir|la perspective d'être|l'envie d'être) (\p{L}+)`),
	}
	invariable = strings.Fields(`à au aux de d en dans sur sous là le la les l quelqu là loin plus moins capable libre utile tranquille
		proche debout calme responsable autonome davantage bien mieux mal un une pour tant
		appris coûté demandé dit donné fait manqué montré parlé permis plu pris servi suffi`)
	// Words that agree with the candidate wherever they stand.
	gendered = regexp.MustCompile(`(?i)(?:^|[^\p{L}])((?:le|la) plus (?:proche|prête?)|prête?|ravie?|enchantée?|curieu(?:x|se)|loyale?|heureu(?:x|se)|contente?|fi(?:er|ère)|` +
		`compéti(?:teur|trice)|bâtisseu(?:r|se)|seule?|la première|être (?:celui|celle)|comme (?:candidat|candidate))(?:[^\p{L}]|$)`)
	// Other meanings of these words, and texts about characters and things.
	notOfCandidate = regexp.MustCompile(`(?i)(?:une?|la|le|d'une?|qu'une?|qu'un) seule?|la première (?:page|année|fois|personne|semaine)|` +
		`elle arrive seule|ne se contente|client est prêt|l'autre soit prêt|un prêt|ce qui se range seul|n'ose pas être sérieux|un outil nouveau doit être maîtrisé`)
	// Forms such as "prêt·e" and "prêt(e)".
	dotted = regexp.MustCompile(`\p{L}(?:[·•∙]|\()(?:e|es|ne|le|trice|rice|euse|se|ère)(?:[·•∙)]|[^\p{L}]|$)`)

	advice = regexp.MustCompile(`(?i)je (?:te|vous) (?:conseille|recommande|suggère|invite)|(?:tu devrais|vous devriez|tu ferais|vous feriez|tu gagnerais|vous gagneriez|il faut que (?:tu|vous)|n'hésite)|` +
		`(?:^|[.!?] )(?:cherche|essaie|prends|demande|garde|parle|aborde|prépare|commence|pense)[rz]? |(?:^|[.!?] )(?:cherchez|essayez|prenez|demandez|gardez|parlez|abordez|préparez|commencez|pensez) |` +
		`\bI (?:would |'d )?(?:advise|recommend|suggest)|you (?:should|ought|had better|may want)|(?:^|[.!?] )(?:try|consider|look for|ask|keep|start|take) |` +
		`\d ?%|pour cent|per ?cent|\d ?/ ?\d`)
	counted = regexp.MustCompile(`(?i)(\p{L}+|\d+) (?:blocs?|étapes?|parties|blocks?|stages|parts)(?:[^\p{L}]|$)`)
)

// numerals are the numbers that a text may give to the blocks, and their values.
var numerals = map[string]int{
	"six": 6, "sept": 7, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
	"eleven": 11, "twelve": 12, "6": 6, "7": 7, "8": 8, "9": 9, "10": 10, "11": 11, "12": 12,
}

// questionBlocks is the number of blocks with questions.
func questionBlocks() int {
	blocks := map[int]bool{}
	for _, step := range session.Steps() {
		if slices.Contains(step.Calls(), session.PurposeMirror) {
			blocks[step.Block()] = true
		}
	}
	return len(blocks)
}

// slips returns what in a text breaks the rules of wording. A question is a text of which a candidate
// sees nothing else.
func slips(text string, purpose session.Purpose) []string {
	var found []string
	add := func(rule, place string) { found = append(found, fmt.Sprintf("%s: %q", rule, strings.TrimSpace(place))) }
	if purpose == session.PurposeQuestions || purpose == session.PurposeAdaptive {
		for _, question := range validate.Split(text) {
			stem, _, _ := strings.Cut(question, "\nA. ")
			if strings.Count(stem, "?") > 1 {
				add("two questions", stem)
			}
			for sentence := range strings.FieldsFuncSeq(strings.TrimSpace(stem), func(r rune) bool { return strings.ContainsRune(".!\n", r) }) {
				sentence, asks := strings.CutSuffix(strings.TrimSpace(sentence), "?")
				if !asks {
					continue
				}
				if doubled.MatchString(sentence) {
					add("two questions", sentence)
				}
				_, asked, colon := strings.Cut(sentence, ":")
				if imperative.MatchString(sentence) && (!colon || !interrogative.MatchString(asked)) {
					add("no question before the question mark", sentence)
				}
			}
		}
	}
	if purpose == session.PurposeMatching {
		for _, m := range advice.FindAllString(text, -1) {
			add("advice or a score", m)
		}
	}
	own := notOfCandidate.ReplaceAllString(text, "…")
	for _, r := range agreeing {
		for _, m := range r.FindAllStringSubmatch(own, -1) {
			if !slices.Contains(invariable, strings.ToLower(m[1])) {
				add("agrees with the candidate", m[0])
			}
		}
	}
	for _, m := range gendered.FindAllStringSubmatch(own, -1) {
		add("agrees with the candidate", m[1])
	}
	for _, m := range dotted.FindAllString(text, -1) {
		add("a form with a dot", m)
	}
	for _, m := range counted.FindAllStringSubmatch(text, -1) {
		if n, ok := numerals[strings.ToLower(m[1])]; ok && n != questionBlocks() {
			add(fmt.Sprintf("there are %d blocks with questions", questionBlocks()), m[0])
		}
	}
	return found
}

var _ = Describe("The wording", func() {
	DescribeTable("of a text that breaks a rule is reported",
		func(text string, purpose session.Purpose, want string) {
			Expect(slips(text, purpose)).To(ContainElement(HavePrefix(want + ":")))
		},
		Entry("a second question behind a comma", "Raconte-moi une période : que se passait-il, et d'où venait cette énergie ?", session.PurposeQuestions, "two questions"),
		Entry("a reason as well", "De qui te sens-tu proche, et pourquoi ?", session.PurposeQuestions, "two questions"),
		Entry("a reason in other words", "Qui reste en vous, et pour quelle raison ?", session.PurposeQuestions, "two questions"),
		Entry("with whom not", "Avec qui voudrais-tu travailler, et avec qui surtout pas ?", session.PurposeQuestions, "two questions"),
		Entry("an inverted verb", "Qu'est-ce qu'on attend de toi, et que demandes-tu en échange ?", session.PurposeQuestions, "two questions"),
		Entry("the same question word", "Dans ta semaine : qu'est-ce qui tient, qu'est-ce qui saute ?", session.PurposeQuestions, "two questions"),
		Entry("two marks", "Où vas-tu ? Pourquoi ?", session.PurposeAdaptive, "two questions"),
		Entry("the third of a batch", "Où ?\n---QUESTION_SEPARATOR---\nQui ?\n---QUESTION_SEPARATOR---\nQue fais-tu, et comment ?", session.PurposeQuestions, "two questions"),
		Entry("two in English", "Tell me about a loss: what happened, and which habit came out of it?", session.PurposeQuestions, "two questions"),
		Entry("a request with a mark", "Décris-moi un vrai désaccord, du premier signe jusqu'à la fin ?", session.PurposeQuestions, "no question before the question mark"),
		Entry("a formal request with a mark", "Racontez un échec ?", session.PurposeQuestions, "no question before the question mark"),
		Entry("a request in English", "Name three films that have stayed with you?", session.PurposeAdaptive, "no question before the question mark"),
		Entry("a request that ends in a list", "Cite trois films : des anciens, des récents ?", session.PurposeAdaptive, "no question before the question mark"),

		Entry("a participle with être", "Tu es faite pour un secteur à toi.", session.PurposeProfile, "agrees with the candidate"),
		Entry("a participle before its object", "Les séries qui t'ont le plus marquée.", session.PurposeAdaptive, "agrees with the candidate"),
		Entry("a participle for a man", "Trois films qui vous ont marqué.", session.PurposeAdaptive, "agrees with the candidate"),
		Entry("a reflexive verb", "Une semaine où tu t'es sentie portée.", session.PurposeQuestions, "agrees with the candidate"),
		Entry("an inverted one", "Comment t'y es-tu prise ?", session.PurposeQuestions, "agrees with the candidate"),
		Entry("an adjective", "Quand tu te sens prête, dis « go ».", session.PurposePreamble, "agrees with the candidate"),
		Entry("alone", "Seule longtemps, tu tiens.", session.PurposeMirror, "agrees with the candidate"),
		Entry("alone, for a man", "Vous avancez seul et bien.", session.PurposeMirror, "agrees with the candidate"),
		Entry("closest", "De qui vous sentez-vous le plus proche ?", session.PurposeQuestions, "agrees with the candidate"),
		Entry("an option in the first person", "Que veux-tu ?\nA. Être reconnue", session.PurposeQuestions, "agrees with the candidate"),
		Entry("a pronoun in an option", "Que veux-tu ?\nA. Être celle que l'on attend", session.PurposeQuestions, "agrees with the candidate"),
		Entry("an adjective of the object", "L'échec te rend curieuse.", session.PurposeMirror, "agrees with the candidate"),
		Entry("a noun", "Tu restes une bâtisseuse.", session.PurposeProfile, "agrees with the candidate"),
		Entry("the first", "Tu les nommes la première.", session.PurposeProfile, "agrees with the candidate"),
		Entry("a dot", "Dès que le cœur est léger·e, on part.", session.PurposePreamble, "a form with a dot"),
		Entry("a parenthesis", "Dès que la personne inscrit(e) le veut.", session.PurposePreamble, "a form with a dot"),

		Entry("advice", "Je te conseille d'aborder ce point.", session.PurposeMatching, "advice or a score"),
		Entry("advice as an imperative", "Rien ne presse. Cherchez une place au calme.", session.PurposeMatching, "advice or a score"),
		Entry("advice in English", "You should ask for a review.", session.PurposeMatching, "advice or a score"),
		Entry("a percentage", "Score : 87 %", session.PurposeMatching, "advice or a score"),
		Entry("ten stages", "Nous avancerons en dix étapes.", session.PurposePreamble, "there are 9 blocks with questions"),
		Entry("ten stages in English", "We will go through ten stages.", session.PurposePreamble, "there are 9 blocks with questions"),
		Entry("a figure", "Il y a 10 blocs.", session.PurposePreamble, "there are 9 blocks with questions"),
	)

	DescribeTable("of a text that keeps the rules is accepted",
		func(text string, purpose session.Purpose) { Expect(slips(text, purpose)).To(BeEmpty()) },
		Entry("a request and one question", "Raconte-moi un échec : qu'as-tu changé ensuite ?", session.PurposeQuestions),
		Entry("a request without a mark", "Décris-moi un désaccord, du premier signe jusqu'à la fin.", session.PurposeQuestions),
		Entry("two objects of one verb", "Que protèges-tu quand le client et l'équipe demandent deux choses ?", session.PurposeQuestions),
		Entry("a choice of names", "De qui vous sentez-vous proche : Ted, Keeley ou Roy ?", session.PurposeQuestions),
		Entry("a mark in each of two questions", "Où ?\n---QUESTION_SEPARATOR---\nComment ?", session.PurposeQuestions),
		Entry("an invariable adjective", "Tu es capable de durer, et tu te sens libre.", session.PurposeProfile),
		Entry("an indirect object", "Un échec t'a appris une chose, et il t'a coûté un hiver.", session.PurposeProfile),
		Entry("alone, of something else", "Une seule question à la fois.", session.PurposePreamble),
		Entry("nine blocks", "Nous avancerons en neuf blocs de questions.", session.PurposePreamble),
		Entry("a condition", "Il reste à convenir d'un point par semaine.", session.PurposeMatching),
		Entry("an imperative outside a matching", "Garde le silence après le chiffre.", session.PurposeProfile),
	)

	for _, name := range Personas() {
		It("of the replies to "+name+" keeps them", func() {
			persona, err := LoadPersona(name)
			Expect(err).NotTo(HaveOccurred())
			_, replies, _, _ := rehearse(persona)
			found := map[string][]string{}
			for _, r := range replies {
				if wrong := slips(r.text, r.purpose); wrong != nil {
					found[r.file()] = wrong
				}
			}
			Expect(found).To(BeEmpty())
		})
	}

	for _, l := range session.Languages() {
		It("of the replies to visitors keeps them in "+string(l)+", and names no persona", func() {
			rules, err := scriptedReplies(visitorReplies, l)
			Expect(err).NotTo(HaveOccurred())
			for _, rule := range rules {
				text := string(rule.Text) + rule.Template
				if rule.When.Purpose != string(session.PurposeQuestions) { // which are checked as they are rendered
					Expect(slips(text, session.Purpose(rule.When.Purpose))).To(BeEmpty())
				}
				for _, name := range Personas() {
					Expect(strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(text, "é", "e")), notLetter)).NotTo(ContainElement(name))
				}
			}
		})
	}

	It("of the texts that the service says by itself keeps them", func() {
		seen := 0
		Expect(fs.WalkDir(fixtures.Prompts, "prompts", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.Contains(path, "/fallback/") && !strings.Contains(path, "/fixed/") {
				return err
			}
			data, err := fixtures.Prompts.ReadFile(path)
			if err != nil {
				return err
			}
			purpose := session.PurposeQuestions // as are the fixed ones
			for _, p := range []session.Purpose{session.PurposeAdaptive, session.PurposeMirror, session.PurposePreamble, session.PurposeProfile, session.PurposeMatching} {
				if strings.Contains(path, "/fallback/"+string(p)) {
					purpose = p
				}
			}
			for which := range 2 {
				Expect(slips(spoken(string(data), which), purpose)).To(BeEmpty(), path)
			}
			seen++
			return nil
		})).To(Succeed())
		Expect(seen).To(BeNumerically(">", 40))
	})
})

// register matches a text for each form of address.
var register = regexp.MustCompile(`\[\[([^|\]]*)\|([^\]]*)\]\]`)

// spoken returns a text in its informal (0) or formal (1) form.
func spoken(text string, which int) string {
	return register.ReplaceAllString(text, "$"+fmt.Sprint(which+1))
}
