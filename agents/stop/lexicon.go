package stop

import (
	_ "embed"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
)

var (
	//go:embed lexicon/en.txt
	englishText string
	//go:embed lexicon/fr.txt
	frenchText string
	//go:embed lexicon/verbs.en.txt
	englishVerbList string
	//go:embed lexicon/verbs.fr.txt
	frenchVerbList string
)

// The languages, as the grammar numbers them.
const (
	english grammar.Lang = iota
	french
)

// The classes of phrases. The lexicons explain each class.
const (
	announce   grammar.Class = iota // the agent says that it is about to do something
	present                         // it says in the present tense that it does something
	intends                         // it says that it will do something, whatever that is
	talks                           // it says that it is about to explain or to show
	doing                           // a sentence that begins with a verb in -ing
	selfimp                         // a sentence such as "Now fix the tests"
	promise                         // it will come back with a result
	waiting                         // something of its own is still running
	next                            // names next steps
	left                            // names work that is left
	need                            // something must be done
	later                           // at a later time
	could                           // something could be done
	offers                          // it offers to do something, or asks whether it shall
	goOn                            // it asks whether to go on with the work, or waits for a go
	proceed                         // it asks whether to go on
	result                          // it reports the result of a check
	asks                            // it needs an answer of the user
	questions                       // it asks a question that only the user can answer
	imperative                      // it tells somebody to do something that an agent could do as well
	user                            // what the user must say or do first
	you                             // it tells the user what to do
	optional                        // what it speaks of is optional
	generic                         // a polite phrase at the end
	done                            // it says that something is done
	fails                           // something does not work
	known                           // a failure is old or expected
	stub                            // a placeholder for work to come
	negation                        // no, not, nothing
	condition                       // what must be so first
	history                         // narrates what was, or what a program does
	document                        // names a document, a section or a widget
	task                            // what the user asked for
	rest                            // the other part of the work
	partial                         // a part of the work is done
	undone                          // something is not done
	coming                          // something will be done, by whomever
	weak                            // speaks of a lack, or of what will be, in general
	beyond                          // what it speaks of was not asked for
	answers                         // the message answers a question or reports what was asked
	purpose                         // what it speaks of is needed to finish the work
	except                          // all but something
	cell                            // a cell or an item that says that it is not done
	deictic                         // the very change that the message speaks of
	label                           // a label of what is left, with a colon behind it
	past                            // what was said or left before
	closed                          // a ticket, an issue, a milestone is closed
	approval                        // a person must approve, confirm, permit or review first
	classes
)

var classNames = [classes]string{
	announce: "announce", present: "present", intends: "intend", talks: "talk", doing: "doing",
	selfimp: "selfimp", promise: "promise", waiting: "waiting", next: "next", left: "left", need: "need",
	later: "later", could: "could", offers: "offer", goOn: "go", proceed: "continue", result: "result",
	asks: "ask", questions: "question", imperative: "imperative", user: "user", you: "you", optional: "optional",
	generic: "generic", done: "done", fails: "fail", known: "known", stub: "stub", negation: "neg",
	condition: "cond", history: "hist", document: "doc", task: "task", rest: "rest", partial: "partial",
	undone: "undone", coming: "coming", weak: "weak", beyond: "beyond", answers: "answer", purpose: "purpose",
	except: "except", cell: "cell", deictic: "deictic", label: "label", past: "past", closed: "closed",
	approval: "approval",
}

// lexicon compiles the lexicons at the first use.
var lexicon = sync.OnceValue(func() *grammar.Grammar {
	g, err := grammar.Compile(classNames[:],
		grammar.Source{Name: "en", Text: englishText, Sets: englishVerbs(englishVerbList)},
		grammar.Source{Name: "fr", Text: frenchText, Sets: frenchVerbs(frenchVerbList)},
	)
	if err != nil {
		panic("the lexicons of agents/stop do not compile: " + err.Error())
	}
	return g
})

// patternIDs are the names of all patterns in verdicts: the class and the line of
// the lexicon.
var patternIDs = sync.OnceValue(func() []string {
	patterns := lexicon().Patterns
	ids := make([]string, len(patterns))
	for i, p := range patterns {
		ids[i] = classNames[p.Class] + ": " + p.Source
	}
	return ids
})
