package stop_test

import (
	"unicode/utf8"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
)

// proud is what fills a longer message.
const proud = "It is fast. It is small. Rows are split by comma. Quotes are kept. Lines may be long. Memory is flat. Names are short. Errors have lines. "

// Each entry is a message that defers and one that differs by what turns the
// mention away. The weights decide whether the first is refused, and were not fitted to it; its
// signals must make a clear difference.
var _ = Describe("what turns a mention away", func() {
	DescribeTable("lowers the log-odds", func(defers, twin string) {
		logOdds := func(message string) (sum float64) {
			for _, s := range balanced(message).Signals {
				sum += s.Weight
			}
			return sum
		}
		Expect(logOdds(defers)).To(BeNumerically(">", logOdds(twin)+0.2), "%s: %s", defers, twin)
	},
		Entry("a later report", "I'll rewrite the loader.", "I'll rewrite the loader. The loader has been rewritten and merged."),
		Entry("a check has a result only if one is told",
			"Let me run the linter. The module is complete.", "Let me run the linter. It passes without a warning."),
		Entry("the code that follows", "Let me fix the loop:", "Let me fix the loop:\n\n```go\nfor i := range n {\n}\n```"),
		Entry("code that only repeats earlier code is no delivery",
			"```go\na()\n```\n\nNow I'll run the linter:\n\n```go\na()\n```", "```go\na()\n```\n\nNow I'll write the loop:\n\n```go\nb()\n```"),
		Entry("a condition of the user", "I'll rotate the key.", "If you confirm the key, I'll rotate it."),
		Entry("a habit", "Je pousse la branche.", "Désormais je pousse la branche chaque soir."),
		Entry("a verb of state", "I'll defragment the index.", "I'll always prefer short names."),
		Entry("a present of nous that is no future", "Nous rangerons les fichiers.", "Nous possédons les fichiers."),
		Entry("an explanation that follows", "Let me explain the cache:", "Let me explain the cache. It keeps the last rows of each table."),
		Entry("none", "## Remaining work\n\n- the writer\n- the index", "## Remaining work\n\nNone of it, the writer and the index are in."),
		Entry("ticked items", "Remaining tasks:\n- writer\n- index", "Remaining tasks:\n- ✅ writer\n- ✅ index"),
		Entry("what could be done", "Next steps:\n- a theme\n- an export", "Possible next steps:\n- a theme\n- an export"),
		Entry("steps of the user", "Next steps:\n- split the server\n- measure it", "Next steps for you:\n- split the server\n- measure it"),
		Entry("what was said before", "The index is still missing.", "Earlier I wrote that the index was still missing. It is there."),
		Entry("a question that is answered",
			"Remaining work: the installer and the notes.", "You asked what is left for the release. Remaining work: the installer and the notes."),
		Entry("a description",
			"The remaining tests still fail:\n- the loader\n- the writer", "The remaining tests are plain unit tests:\n- the loader\n- the writer"),
		Entry("expected failures",
			"Remaining failures:\n- paths on Windows\n- long names", "Remaining failures, all of them expected:\n- paths on Windows\n- long names"),
		Entry("the last one", "The remaining issue is the lock.", "Released the lock in time, the last remaining issue of the review."),
		Entry("all of all", "5 of 7 files are converted.", "7 of 7 files are converted."),
		Entry("beyond the request",
			"You asked for both fixes. The first is in. Shall I make the same change in the other one?",
			"You asked for one fix and it is in. Shall I make the same change in the other one, although it was not part of your request?"),
		Entry("a suggestion for the user", "We still need to rotate the keys.", "You may want to rotate the keys."),
		Entry("an open box", "- [x] writer\n- [ ] reader\n- [ ] index", "- [x] writer\n- [x] reader\n- [x] index"),
		Entry("a row", "| part | state |\n|---|---|\n| reader | to do |\n| index | to do |", "| part | state |\n|---|---|\n| reader | done |\n| index | done |"),
		Entry("a mark behind the name",
			"- reader ✅ tested\n- writer ✅ tested\n- index ⏳ skeleton\n- theme ⏳ skeleton", "- reader ✅ tested\n- writer ✅ tested\n- index ✅ tested\n- theme ✅ tested"),
		Entry("crosses among ticks",
			"Export:\n- ✅ rows\n- ✅ columns\n- ✅ fonts\n- ❌ images\n- ❌ links", "Export, by rule:\n- ❌ rows\n- ❌ columns\n- ❌ fonts\n- ✅ images\n- ✅ links"),
		Entry("the last sentence of a long message",
			"The loader reads rows. "+proud+"The index is not written yet.", "The loader reads rows. "+proud+"The index is written."),
		Entry("far from the end, what was asked for",
			"Your ticket lists an index. The index is not written yet. "+proud, "The index is not written yet at that point of the run. "+proud),
		Entry("a percentage of the work", "The port is 70% complete.", "Coverage is 70%, the port is complete."),
		Entry("steps that are told of", "The next step is the index.", "The next steps are documented."),
		Entry("what follows another clause", "The agent has finished, and I'm now writing the report.", "The agent reads the report that I'm now writing."),
		Entry("not yet at the time", "L'index n'est pas encore écrit.", "L'index n'était pas encore écrit quand le test a tourné."),
		Entry("a gap that was closed", "Il manque un test pour le cas vide.", "Il manquait un test pour le cas vide, je l'ai ajouté."),
		Entry("what was meant to stay", "The rows haven't been converted.", "The rows haven't been touched."),
		Entry("a label of a command", "Remaining:\n- the index\n- the theme", "Remaining:\n\n```sh\nmake index\n```"),
		Entry("a question that was a good one",
			"Next steps:\n- a lock\n- an index", "Great question! The loader copies each row.\n\nNext steps:\n- a lock\n- an index"),
		Entry("a greeting that flatters",
			"That is an excellent question, and I am happy to help.\n\nThe loader copies each row.\n\nNext steps:\n- a lock\n- an index",
			"Excellent question! The loader copies each row.\n\nNext steps:\n- a lock\n- an index"),
		Entry("a greeting that flatters, in French",
			"C'est une excellente question.\n\nLe lecteur est copié.\n\nProchaines étapes :\n- un verrou\n- un index",
			"Excellente question ! Le lecteur est copié.\n\nProchaines étapes :\n- un verrou\n- un index"),
		Entry("tests that the change broke",
			"All 3 failures come from my change. Would you like me to fix them?", "The change is in. Would you like me to fix the typo in the docs, too?"),
		Entry("lines with marks",
			"Reader ✅\nWriter ✅\nIndex 🔄\nTheme ⏳", "Reader ✅\nWriter ✅\nIndex ✅\nTheme ✅"),
		Entry("whether something is left", "The index still needs a lock.", "I can't tell whether the index still needs a lock."),
		Entry("two more", "The reader is in. Two more to go.", "The reader is in. It is good to go."),
		Entry("an exception that was dealt with",
			"Everything is converted except the index.", "Everything was converted except the index, which I have removed."),
		Entry("files that are left over, as a program sees them",
			"Il reste des fichiers à convertir, puis l'index.", "Le script liste les fichiers restants puis l'index."),
		Entry("from now on", "Got it, I'll rename the rows.", "Got it, from now on I'll use short names."),
		Entry("what any of them is", "The index is still pending.", "A job that's still pending after an hour is marked as failed."),
		Entry("what a document holds",
			"It reads rows, and the remaining open questions block the index.", "It describes the index and the remaining open questions."),
		Entry("what a list shows", "What is left to do: the index.", "The list shows what is left to do."),
		Entry("in the middle of", "I'm in the middle of the index.", "The index is in the middle of the page."),
		Entry("the work that a sentence turns to", "The tests skip the index. Adding it.", "The tests cover the index. Adding it was easy."),
		Entry("ready for more", "That's the first batch. Ready for the next one when you are.", "That's the first batch. Ready for review."),
		Entry("the rest as a program returns it",
			"The remaining steps could be empty, and are open.", "The endpoint returns the remaining steps of the case, and some could be empty."),
		Entry("none of several words", "Phases of the port remain.", "No other phases of the port remain."),
		Entry("next, as a command",
			"Next steps:\n- make the index\n\nThe index prints its size.", "Next steps:\n\n```sh\nmake index\n```\n\nThe index prints its size."),
		Entry("phases that remain",
			"Phase 1 is in. Phase 2 (import) and phase 3 (export) remain.", "Phase 1 is in. No open phases remain."),
		Entry("what a program does later", "That commit will add the index later.", "The scheduler will add the index later."),
		Entry("what a program shows", "The remaining tasks are open.", "Remaining tasks are shown in red."),
		Entry("other files", "I left the locking as a TODO.", "I fixed the locking. All other files are untouched."),
		Entry("a todo in French", "J'ai laissé le verrou en TODO.", "J'ai corrigé le verrou. Les autres fichiers sont intacts."),
		Entry("a list of work", "The remaining work is mechanical:\n- rename the flag\n- drop the shim", "The remaining flags are old ones:\n- quiet\n- plain"),
		Entry("a colon before an emoji", "Updating the index: 🚀", "The index is up to date 🚀"),
		Entry("a list behind an announcement",
			"I'll do the following:\n- split the file\n- move the types\n- rename the rest\n- drop the old name",
			"I did the following:\n- split the file\n- move the types\n- rename the rest\n- drop the old name"),
		Entry("a report in JSON",
			`{"status": "done", "note": "The box is there. Remaining: the index and the theme."}`, `{"status": "done", "note": "The box is there."}`),
		Entry("a doubled consonant", "Plugging the loader into the pipeline:", "The loader is plugged into the pipeline."),
		Entry("a French verb in -oyer", "Je nettoie le cache tout de suite.", "Le cache est nettoyé."),
		Entry("the language of the sentence", "On change la clé maintenant.", "Hooks run on change of the key."),
	)

	It("is told in the signals", func() {
		Expect(balanced("All good. Let me know if you need anything else!").Signals).To(ContainElement(HaveField("Name", "polite-close")))
		Expect(balanced("3 tests fail, they are pre-existing.").Signals).To(ContainElement(HaveField("Name", "known-failures")))
	})
})

var _ = Describe("the context of a detection", func() {
	It("is cut between characters", func() {
		message := ""
		for range 100 {
			message += "é"
		}
		for _, shift := range []string{"", "x", "xy"} {
			v := strict(message + shift + " il reste à migrer " + message)
			Expect(real(v)).NotTo(BeEmpty())
			for _, d := range v.Detections {
				Expect(utf8.ValidString(d.Context)).To(BeTrue())
				Expect(len(d.Context)).To(BeNumerically("<", 400))
			}
		}
	})
})

var _ = Describe("lines with marks", func() {
	It("are steps, those that are open", func() {
		var steps []string
		for _, s := range balanced("Phase 1 (analysis) ✅\nPhase 2 (design) ✅\nPhase 3 (code) 🔄\nPhase 4 (tests) ⏳").Steps {
			steps = append(steps, s.Description)
		}
		Expect(steps).To(Equal([]string{"Phase 3 (code)", "Phase 4 (tests)"}))
	})

	It("may hold nothing else", func() {
		Expect(func() { balanced("✅\n⏳\n⏳\n\n- ✅\n- ⏳\n\n| ✅ |\n|---|\n| ⏳ |\n") }).NotTo(Panic())
	})
})
