package stop

import (
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// The words that the extraction of steps depends on, folded, of both languages.
//
//nolint:misspell // half of the words are French
var (
	// introWords precede the verb and name no work: "now let me", "il reste à".
	introWords = wordSet(`
		now next then first also finally still just quickly so ok okay great good perfect please i we you me us it let
		lets s ll d m re am are is will shall would could can should must may might have has had need needs needed going
		gonna to about like want wants wish ready proceed go ahead and be able do does if in order that a further final
		last thing remaining left what which je j nous on il tu vous vais va allons vas maintenant ensuite puis abord
		enfin alors donc reste restent encore faut faudra faudrait doit dois devons doivent peux peut pouvons pourrais
		pourrait pourrions veux veut voulez souhaites souhaitez souhaiterais voudrais aimerais que qu de faire suis
		suivante prochaine etape est step steps task tasks`)
	// subjectWords begin a clause of its own: "and I'll …", "et je …". What follows
	// personWords is a verb.
	subjectWords = wordSet("i we je j nous on")
	personWords  = wordSet("i je j")
	// connectives are words of order behind a comma or a joining word; thenWords order alone.
	connectives  = wordSet("then next finally afterwards puis ensuite enfin apres")
	thenWords    = wordSet("then puis ensuite")
	joiningWords = wordSet("and et or ou")
	orWords      = wordSet("or ou")
	// askingWords behind "or" begin a question or another way.
	askingWords = wordSet(`
		do does are is would should shall if que preferez preferes voulez veux dois souhaitez souhaites est bien plutot`)
	// afterWords, beforeWords and needingWords precede the name or number of another step.
	afterWords   = wordSet("after once when apres quand lorsque fois")
	beforeWords  = wordSet("before avant")
	needingWords = wordSet("depends depend dependent requires require requiring blocked requiert necessite exige")
	// startingWords leave the announcement before open: "First let me see the menu."
	startingWords = wordSet("first abord")
	copulas       = wordSet("is are was be est sera serait sont consiste consistera")
	// fillers name no work: "proceed with this". Of them, pronouns stand for it.
	fillers = wordSet(`
		proceed continue start begin go do doing done this that it them these those so with ahead now on to next step
		steps by remaining work rest the a all of and i we you me for more further as well too again right away if want
		like would help need continuer proceder faire fasse ca cela ceci cette ce ces etape etapes suite suivante
		suivant suivantes prochaine la le les de avec et en je tu vous moi l y pour plus encore tout toi aussi
		maintenant souhaites voulez veux oui ainsi passer dessus si`)
	pronouns = wordSet("it this that them these those so ca cela ceci moi")
	// wideWords make a step reach far.
	wideWords = wordSet(`
		all every each entire whole throughout everywhere across complete full fully comprehensive tous toutes tout
		entier entiere ensemble partout complet`)
	// titleWords in the head of a table name the column of the steps.
	titleWords = wordSet(`
		step steps task tasks todo todos item items action actions work description etape etapes tache taches travail
		travaux quoi`)
)

// in reports whether a word of the document is in one of some sets.
func (x *extractor) in(word int, sets ...map[string]bool) bool {
	fold := x.doc.Words[word].Fold
	return slices.ContainsFunc(sets, func(set map[string]bool) bool { return set[fold] })
}

// taskVerbs are the verbs of the lexicon that may begin a task, infinitives and imperatives,
// and clauseVerbs those that may begin a clause, as bits of a word's number.
var taskVerbs, clauseVerbs = verbSets("en.do en.goon en.talk fr.inf fr.goinf fr.talk"), verbSets(`
		en.do en.goon en.talk fr.inf fr.goinf fr.talk en.doing en.conting fr.goje fr.gonous fr.je fr.nous fr.vous fr.tu fr.il`)

func verbSets(names string) func() uint64 {
	return sync.OnceValue(func() (sets uint64) {
		for name := range strings.FieldsSeq(names) {
			sets |= lexicon().Set(name)
		}
		return sets
	})
}

// begins reports whether a word is a verb that a task may begin with.
func begins(w text.Word) bool { return w.ID > 0 && lexicon().Sets(w.ID)&taskVerbs() != 0 }

// isVerb reports whether a word is a verb that a clause may begin with.
func isVerb(w text.Word) bool { return w.ID > 0 && lexicon().Sets(w.ID)&clauseVerbs() != 0 }
