package stop_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/stop"
)

// at returns a mention of work that is left.
func at(form, phrase string) stop.Mention {
	return stop.Mention{Form: form, Phrase: phrase, Category: stop.RemainingTasks}
}

// soon returns a mention of work that comes now.
func soon(form, phrase string) stop.Mention {
	return stop.Mention{Form: form, Phrase: phrase, Category: stop.FutureActions}
}

var _ = Describe("The steps of a refused message", Label("G-05"), func() {
	DescribeTable("are those of the examples of document 000",
		func(message string, want ...string) {
			v := stop.Judge(message, stop.Options{})
			Expect(v.MayStop).To(BeFalse())
			Expect(stop.Texts(v.Steps)).To(Equal(want))
		},
		Entry("numbers on a line", "Tâche complétée. Prochaines étapes: 1. Test 2. Deploy", "Test", "Deploy"),
		Entry("two verbs", "Code créé. Il reste à tester et documenter.", "tester", "documenter"),
		Entry("a list", "Terminé. Actions restantes:\n- Test\n- Deploy\n- Doc", "Test", "Deploy", "Doc"),
		Entry("one verb", "Fait. Prochaines étapes: tester.", "tester"),
	)
})

var _ = Describe("Steps", func() {
	DescribeTable("are found in lists",
		func(message string, m stop.Mention, want ...string) {
			Expect(stop.Texts(stop.StepsOf(message, m))).To(Equal(want))
		},
		Entry("below a heading", "Done.\n\n## Remaining\n\n- Fix the **login** page.\n- Add tests\n\nBye.", at("heading", "Remaining"), "Fix the login page", "Add tests"),
		Entry("below a heading, in sections of it", "## Next\n\n### A\n\n1. Write it\n\n### B\n\n2. Read it\n\n## Notes\n\n- Nothing", at("heading", "Next"), "Write it", "Read it"),
		Entry("below numbered lines with details", "## Next\n\n1. **Speed up the scan**:\n   - cache it\n   - measure it\n2. **Clean the code**:\n   - drop imports\n", at("heading", "Next"), "Speed up the scan", "Clean the code"),
		Entry("below a sentence", "I still need to:\n1. Write it\n2. Read it", at("lead", "still need to"), "Write it", "Read it"),
		Entry("below a line without a colon", "Next actions\n• Write it\n• Read it", at("prose", "Next actions"), "Write it", "Read it"),
		Entry("below numbered lines under a line like them", "**Remaining**\n\n1. **Speed up the scan**:\n   - cache it\n2. **Clean the code**:\n   - drop imports\n", at("heading", "Remaining"), "Speed up the scan", "Clean the code"),
		Entry("of which one is strong as a whole", "## Next\n\n1. **Speed up** the scan\n2. **Clean the code**\n3. **Write a guide** for it\n", at("heading", "Next"), "Speed up the scan", "Clean the code", "Write a guide for it"),
		Entry("below an item", "- Written.\n- Still to do:\n  - Write it\n  - Read it\n- Bye", at("lead", "Still to do"), "Write it", "Read it"),
		Entry("with marks that belong to names", "Left:\n- Rename my_var to x*y", at("lead", "Left"), "Rename my_var to x*y"),
		Entry("of code", "Left:\n- `a.go`\n- `b.go`", at("lead", "Left"), "`a.go`", "`b.go`"),
		Entry("with bytes that are no text", "Left:\n- Fix \xffit", at("lead", "Left"), "Fix it"),
		Entry("on the next line", "Next step:  \nWrite the guide.", at("lead", "Next step"), "Write the guide"),
		Entry("in a line that only looks like a list", "Next: try variant a. Then variant b. Bye", at("lead", "Next"), "try variant a"),
		Entry("of paragraphs that count themselves", "Coming next:\n\n1  Write it.\n\n2  Read it.", at("lead", "Coming next"), "Write it", "Read it"),
		Entry("without boxes that are ticked", "## Todo\n- [x] Write it\n- [ ] Read it\n- [-] Print it", at("heading", "Todo"), "Read it", "Print it"),
		Entry("with boxes, without the items around them", "## Todo\n- [x] Write it\n- [ ] Read it\n\nNews:\n- All is well\n\n---\n\n- [ ] Another list", at("heading", "Todo"), "Read it"),
		Entry("as one open box", "- [x] Write it\n- [ ] Read it", at("box", "Read it"), "Read it"),
		Entry("as rows of a table, in the column that its head names", "| # | Step | Status |\n|---|---|---|\n| 1 | Build | done |\n| 2 | Deploy | to do |", at("box", "to do"), "Deploy"),
		Entry("as rows of a French table", "| N° | Étape | Remarque de la relecture |\n|---|---|---|\n| 2 | Migrer | à faire avant lundi |", at("box", "à faire"), "Migrer"),
		Entry("as rows of a table whose named column has numbers only", "| Task | What | State |\n|---|---|---|\n| 14 | write the guide | to do |", at("box", "to do"), "write the guide"),
		Entry("nested below labels", "Left:\n- Backend\n  - add pages\n  - add tokens\n- Frontend\n  - login page", at("lead", "Left"), "add pages", "add tokens", "login page"),
		Entry("nested below numbered labels", "## Left\n\n1. **Storage**\n   - write the pager\n2. **Network**\n   - add timeouts", at("heading", "Left"), "write the pager", "add timeouts"),
		Entry("nested below a task, as one", "Left:\n- Fix the page\n  - read the log\n- Ship it", at("lead", "Left"), "Fix the page", "Ship it"),
		Entry("in a line, with semicolons", "Still to do: tests; docs; release.", at("lead", "Still to do"), "tests", "docs", "release"),
		Entry("without items that are struck out or marked as done", "Left:\n- ~~Write it~~\n- Read it ✅\n- Print the ✅ mark", at("lead", "Left"), "Print the ✅ mark"),
		Entry("as a row of a table", "| id | task | state |\n|---|---|---|\n| 7 | Write the long guide | to do |", at("box", "to do"), "Write the long guide"),
		Entry("whole, with labels and remarks", "Left:\n- Tests - add cases for dates\n- Fix the login — it times out\n- If it fails, restart the server", at("lead", "Left"),
			"Tests - add cases for dates", "Fix the login — it times out", "If it fails, restart the server"),
		Entry("of what is wrong, where nothing better is said", "Remaining issues:\n- Login page (2 tests)\n- Export", at("heading", "Remaining"), "Login page (2 tests)", "Export"),
		Entry("in a line, with letters", "Next: a) write it, b) read it and c) print it.", at("lead", "Next"), "write it", "read it", "print it"),
		Entry("in the rest of a heading", "## Next step: write the guide\n\nBye.", at("heading", "Next step"), "write the guide"),
		Entry("in the first sentence below a heading", "## Next step\n\nWrite the guide, then print it. It is long.", at("heading", "Next step"), "Write the guide", "print it"),
	)

	DescribeTable("are found in sentences",
		func(message string, m stop.Mention, want ...string) {
			Expect(stop.Texts(stop.StepsOf(message, m))).To(Equal(want))
		},
		Entry("announced", "Good. Now let me run the tests:", soon("prose", "let me run"), "run the tests"),
		Entry("announced in French", "Je vais maintenant déployer l'API.", soon("prose", "Je vais"), "déployer l'API"),
		Entry("announced in the present", "Parfait, je pousse le correctif.", soon("prose", "je pousse"), "je pousse le correctif"),
		Entry("one of two verbs", "Let me fix the test and run it.", soon("prose", "Let me"), "fix the test and run it"),
		Entry("one after a comma", "Let me fix the test, run it on the server, and push the branch.", soon("prose", "Let me"), "fix the test", "run it on the server", "push the branch"),
		Entry("one with a subject of its own", "Je regarde le log et je pousse le correctif.", soon("prose", "Je regarde"), "Je regarde le log", "je pousse le correctif"),
		Entry("one after the other", "I'll build the image, then push it and finally tag the release.", soon("prose", "I'll"), "build the image", "push it", "tag the release"),
		Entry("left, with verbs of their own", "Il reste à tester la page, documenter l'API et déployer le site.", at("prose", "Il reste à"), "tester la page", "documenter l'API", "déployer le site"),
		Entry("left, with one object for two verbs", "We still need to review and merge the branch.", at("prose", "need to"), "review and merge the branch"),
		Entry("left, with two objects", "I still have to test the login and logout pages.", at("prose", "have to"), "test the login and logout pages"),
		Entry("as a complement", "The next step is to write the guide.", stop.Mention{Form: "prose", Phrase: "next step", Category: stop.NextSteps}, "write the guide"),
		Entry("before the mention", "Written. However, the export page still needs to be styled.", at("prose", "needs to be"), "However, the export page still needs to be styled"),
		Entry("offered", "Would you like me to add the route and its tests?", at("offer", "Would you like me to"), "add the route and its tests"),
		Entry("offered, with another way", "Should I fix the tests, or do you want to look first?", at("offer", "Should I"), "fix the tests"),
		Entry("offered, with another verb", "Should I fix the tests, or focus on the guide?", at("offer", "Should I"), "fix the tests"),
		Entry("offered with a noun", "Shall I proceed with the next batch of pages?", at("offer", "Shall I"), "proceed with the next batch of pages"),
		Entry("left, with another way", "We still need to fix the page or delete it.", at("prose", "need to"), "fix the page or delete it"),
		Entry("with how it is done behind a dash", "I'll rewrite the parser — convert it to a table.", soon("prose", "I'll"), "rewrite the parser — convert it to a table"),
		Entry("with code", "Let me call `run(x)`.", soon("prose", "Let me"), "call `run(x)`"),
		Entry("with a remark behind a dash", "I'll fix the login — it is a small thing.", soon("prose", "I'll"), "fix the login — it is a small thing"),
	)

	DescribeTable("of several mentions",
		func(message string, mentions []stop.Mention, want ...string) {
			Expect(stop.Texts(stop.StepsOf(message, mentions...))).To(HaveExactElements(want))
		},
		Entry("are none of a mere reference", "Left:\n- Write it", []stop.Mention{{Form: "lead", Phrase: "Left", Category: stop.NextSteps, Reference: true}}),
		Entry("are none of a polite phrase", "Let me know if you need more.", []stop.Mention{soon("offer", "Let me know")}),
		Entry("are none of nothing", "", []stop.Mention{soon("prose", "")}),
		Entry("leave out what says nothing beside something", "Next:\n- Write the guide\n\nShall I proceed with this?",
			[]stop.Mention{at("lead", "Next"), at("offer", "Shall I")}, "Write the guide"),
		Entry("leave out a bare verb in an offer", "Next:\n- Write the guide\n\nShall I continue fixing?",
			[]stop.Mention{at("lead", "Next"), at("offer", "Shall I")}, "Write the guide"),
		Entry("say nothing where nothing else is said", "Shall I do it?", []stop.Mention{at("offer", "Shall I")}, "Shall I do it"),
		Entry("leave out an offer that repeats a step", "Next:\n- Write the long guide for beginners\n\nShall I write the long guide for beginners today?",
			[]stop.Mention{at("lead", "Next"), at("offer", "Shall I")}, "Write the long guide for beginners"),
		Entry("leave out an offer beside what is left", "Next:\n- Write the long guide for beginners\n\nShall I translate the guide into French?",
			[]stop.Mention{at("lead", "Next"), at("offer", "Shall I")}, "Write the long guide for beginners"),
		Entry("leave out what is announced twice", "Let me check the login page. So, let me now check that login page.",
			[]stop.Mention{soon("prose", "Let me"), soon("prose", "let me now")}, "check that login page"),
		Entry("leave out a short form of a step", "Todo:\n- [ ] Export provider\n\nNext:\n- Implement the export provider",
			[]stop.Mention{at("box", "Export provider"), at("lead", "Next")}, "Implement the export provider"),
		Entry("leave out a state beside work that is named", "Issues:\n- Login page (2 tests)\n\nI'll fix the login page now.",
			[]stop.Mention{at("lead", "Issues"), soon("prose", "I'll")}, "fix the login page now"),
		Entry("leave out a sentence on a state, too", "However, the export page still needs to be styled.\n\nNext:\n- Write the guide",
			[]stop.Mention{at("prose", "needs to be"), at("lead", "Next")}, "Write the guide"),
		Entry("keep a state beside an offer", "Issues:\n- Login page (2 tests)\n\nShall I fix the export?",
			[]stop.Mention{at("lead", "Issues"), at("offer", "Shall I")}, "Login page (2 tests)", "fix the export"),
		Entry("leave out what could be done beside an offer", "We could add a cache. Shall I fix the export?",
			[]stop.Mention{{Form: "prose", Phrase: "We could", Category: stop.ConditionalIntentions}, at("offer", "Shall I")}, "fix the export"),
		Entry("leave out what is said within an item", "Left:\n- Fix the page, which I'll test too",
			[]stop.Mention{soon("prose", "I'll"), at("lead", "Left")}, "Fix the page, which I'll test too"),
		Entry("keep what is announced within an item that an announcement introduces", "Je corrige ça:\n- Compteurs: je vais recalculer le total",
			[]stop.Mention{soon("prose", "Je corrige"), soon("prose", "je vais")}, "recalculer le total"),
		Entry("are only the last announcement", "Let me look at the page. I need to see its menu. Now let me write the guide:",
			[]stop.Mention{soon("prose", "Let me"), {Form: "prose", Phrase: "I need to", Category: stop.FutureActions}, soon("prose", "let me write")}, "write the guide"),
		Entry("are also what comes before a first action", "I'll add the page. First let me read the menu:",
			[]stop.Mention{soon("prose", "I'll"), soon("prose", "let me")}, "add the page", "read the menu"),
		Entry("are the last announcement of a line, too", "Let me look at the page: Now let me write the guide:", []stop.Mention{soon("prose", "Let me")}, "write the guide"),
		Entry("are not what was announced before a list", "I'll write a plan.\n\nNext:\n- Write the guide", []stop.Mention{soon("prose", "I'll"), at("lead", "Next")}, "Write the guide"),
		Entry("are not an earlier list that code answers", "Left:\n- Write it\n\n```\nok\n```\n\nStill to do:\n- Read it", []stop.Mention{at("lead", "Left"), at("lead", "Still")}, "Read it"),
		Entry("are both lists without code between", "Left:\n- Write it\n\nStill to do:\n- Read it", []stop.Mention{at("lead", "Left"), at("lead", "Still")}, "Write it", "Read it"),
		Entry("keep the parts of a sentence apart", "I'll clean up, then I'll write the guide.",
			[]stop.Mention{soon("prose", "I'll clean"), soon("prose", "I'll write")}, "clean up", "write the guide"),
	)

	It("are told once, whoever introduces them", func() {
		message := "## Remaining\n\nStill to do:\n- Write it\n- Read it\n- write it."
		Expect(stop.Texts(stop.StepsOf(message, at("heading", "Remaining"), at("lead", "Still"), at("item", "Write it")))).To(Equal([]string{"Write it", "Read it"}))
	})

	It("are bounded in number and length", func() {
		message := "Next:\n" + strings.Repeat("- é"+strings.Repeat("x", 400)+"\n", 10)
		for i := range 200 {
			message += fmt.Sprintf("- Step %d\n", i)
		}
		got := stop.StepsOf(message, at("lead", "Next"))
		Expect(len(got)).To(BeNumerically("<=", 50))
		Expect(len(got)).To(BeNumerically(">", 20))
		Expect(len(got[0].Description)).To(BeNumerically("<=", 300))
		Expect(got[0].Description).To(HaveSuffix("…"))
	})

	It("are bounded over all lists", func() {
		message, mentions := "", []stop.Mention(nil)
		for _, name := range []string{"One", "Two", "Three"} {
			message += "## " + name + "\n"
			for i := range 30 {
				message += fmt.Sprintf("- %s %d\n", name, i)
			}
			mentions = append(mentions, stop.Mention{Form: "heading", Phrase: name, Category: stop.NextSteps})
		}
		Expect(stop.StepsOf(message, mentions...)).To(HaveLen(50))
	})

	It("are read from the first words of a very long sentence", func() {
		long := "write " + strings.Repeat("very ", 10_000) + "much"
		for message, m := range map[string]stop.Mention{"Let me " + long: soon("prose", "Let me"), "Left:\n- " + long: at("lead", "Left")} {
			got := stop.StepsOf(message, m)
			Expect(got).To(HaveLen(1))
			Expect(got[0].End - got[0].Start).To(BeNumerically("<", 2000))
		}
	})
})

var _ = Describe("A step", Label("G-06"), func() {
	message := "Migrated.\n\n## Next steps\n\n1. Run the tests\n2. Refactor every module of the API\n3. Then deploy the site\n"
	steps := func() []stop.Step {
		return stop.StepsOf(message, stop.Mention{Form: "heading", Phrase: "Next steps", Category: stop.NextSteps})
	}

	It("has an id, a description, a category and the span of the message", func() {
		for _, s := range steps() {
			Expect(s.ID).To(MatchRegexp("^[0-9a-f]{16}$"))
			Expect(message[s.Start:s.End]).To(ContainSubstring(s.Description))
			Expect(s.Category).To(Equal(stop.NextSteps))
		}
		Expect(steps()).To(Equal(steps()), "stable")
	})

	It("has the same id in every message, however it is spelled", func() {
		id := func(message string) string {
			return stop.StepsOf(message, at("lead", "Left"))[0].ID
		}
		Expect(id("Left:\n- Déployer l’API")).To(Equal(id("Done.\n\nLeft:\n* **deployer l'api**!")))
		Expect(id("Left:\n- Test")).NotTo(Equal(id("Left:\n- Deploy")))
	})

	DescribeTable("is weighed by its verb and its reach",
		func(step string, want stop.Complexity, minutes int) {
			got := stop.StepsOf("Left:\n- "+step, at("lead", "Left"))
			Expect(got).To(HaveLen(1))
			Expect(got[0].Complexity).To(Equal(want))
			Expect(got[0].Estimate).To(Equal(time.Duration(minutes) * time.Minute))
		},
		Entry("check", "Run the tests", stop.Simple, 2),
		Entry("check everything", "Vérifier toutes les pages", stop.Moderate, 5),
		Entry("edit", "Fix the login page", stop.Simple, 5),
		Entry("create", "Implement the parser", stop.Moderate, 30),
		Entry("rebuild", "Migrer le module", stop.Moderate, 45),
		Entry("rebuild everything", "Refactor all modules", stop.Complex, 120),
		Entry("many objects", "Update the parser, the reader and the writer", stop.Moderate, 15),
		Entry("deliver", "Déployer le site", stop.Simple, 3),
		Entry("document", "Document the API", stop.Simple, 5),
		Entry("report", "Notify the team", stop.Simple, 1),
		Entry("no verb that is known", "Zorp the gleeb", stop.Simple, 5),
		Entry("long", "Fix the "+strings.Repeat("very ", 25)+"old page", stop.Moderate, 15),
	)

	depends := func(list []stop.Step) map[string][]string {
		names := map[string]string{}
		for _, s := range list {
			names[s.ID] = s.Description
		}
		out := map[string][]string{}
		for _, s := range list {
			for _, id := range s.DependsOn {
				out[s.Description] = append(out[s.Description], names[id])
			}
		}
		return out
	}

	DescribeTable("depends on what words say, not on numbers",
		func(message string, m stop.Mention, want map[string][]string) {
			Expect(depends(stop.StepsOf(message, m))).To(Equal(want))
		},
		Entry("numbers", "Left:\n1. Build it\n2. Test it", at("lead", "Left"), map[string][]string{}),
		Entry("in this order", "Do in this order what is left:\n1. Build it\n2. Test it\n3. Ship it", at("lead", "left"), map[string][]string{"Test it": {"Build it"}, "Ship it": {"Test it"}}),
		Entry("then", "I'll build the image, then push it.", soon("prose", "I'll"), map[string][]string{"push it": {"build the image"}}),
		Entry("puis", "Je vais tester la page puis déployer le site.", soon("prose", "Je vais"), map[string][]string{"déployer le site": {"tester la page"}}),
		Entry("after", "Left:\n- Deploy after the tests are green\n- Write tests", at("lead", "Left"), map[string][]string{"Deploy after the tests are green": {"Write tests"}}),
		Entry("before", "Left:\n- Review it before the deployment\n- Deploy the site", at("lead", "Left"), map[string][]string{"Deploy the site": {"Review it before the deployment"}}),
		Entry("a circle", "Left:\n- Deploy after the tests\n- Testing, once deployed", at("lead", "Left"), map[string][]string{"Deploy after the tests": {"Testing, once deployed"}}),
		Entry("by number", "Left:\n1. Build it\n2. Test it (depends on 1)\n3. Ship it, requires steps 1 and 2", at("lead", "Left"),
			map[string][]string{"Test it (depends on 1)": {"Build it"}, "Ship it, requires steps 1 and 2": {"Build it", "Test it (depends on 1)"}}),
		Entry("by number in French", "Left:\n1. Construire\n2. Tester (dépend de 1)\n3. Livrer après l'étape 2", at("lead", "Left"),
			map[string][]string{"Tester (dépend de 1)": {"Construire"}, "Livrer après l'étape 2": {"Tester (dépend de 1)"}}),
		Entry("in a second sentence", "Left:\n1. Build it\n2. Test it. Depends on step 1.", at("lead", "Left"), map[string][]string{"Test it": {"Build it"}}),
		Entry("by words", "Left:\n- Test it once the parser is written\n- Write the parser", at("lead", "Left"),
			map[string][]string{"Test it once the parser is written": {"Write the parser"}}),
		Entry("by the number of what is done", "Left:\n1. ~~Build it~~\n2. Test it (depends on 1)\n3. Ship it", at("lead", "Left"), map[string][]string{}),
		Entry("by the words of what is done", "Left:\n- [x] Write the parser\n- [ ] Test it once the parser is written\n- [ ] Document the parser", at("lead", "Left"),
			map[string][]string{}),
		Entry("a count that is no number of a step", "Left:\n1. Build it\n2. Ship it after 1 week", at("lead", "Left"), map[string][]string{}),
		Entry("something else", "Left:\n- Deploy once the manager agrees\n- Write a guide", at("lead", "Left"), map[string][]string{}),
	)
})

// junk is any message, made of what the extraction looks for.
var junk = rapid.Custom(func(t *rapid.T) string {
	bits := []string{
		"Let me ", "then ", "puis ", "and ", "et ", "or ", "I'll ", "je ", "run the tests", "Test", "déployer", "proceed with ", "this",
		"after ", "before ", "once ", ", ", "; ", " — ", ": ", ":\n", "\n", "\n\n", "- ", "- [ ] ", "1. ", "2. ", "a) ", "## Next steps\n", "| x | to do |\n",
		"**", "`code`", "(", ")", ".", "?", "Remaining:", "Il reste à ", "é", "\xff", "\x00", "🚀", "Would you like me to ", "tasks",
	}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(bits), 0, 60).Draw(t, "bits"), "")
})

// checkSteps returns what is wrong with the steps of a message.
func checkSteps(message string, list []stop.Step) error {
	if len(list) > 50 {
		return fmt.Errorf("%d steps", len(list))
	}
	seen := map[string]bool{}
	last := -1
	for _, s := range list {
		switch {
		case s.ID == "" || seen[s.ID]:
			return fmt.Errorf("id %q is empty or not unique", s.ID)
		case s.Description == "" || len(s.Description) > 300:
			return fmt.Errorf("description %q", s.Description)
		case s.Start < 0 || s.Start >= s.End || s.End > len(message):
			return fmt.Errorf("span %v of %d bytes", s.Span, len(message))
		case s.Start < last:
			return fmt.Errorf("%q overlaps the step before it", s.Description)
		case s.Estimate <= 0 || s.Complexity == "" || s.Category == "":
			return fmt.Errorf("%+v lacks a field", s)
		}
		seen[s.ID], last = true, s.Start
	}
	return acyclic(list)
}

// acyclic removes steps whose dependencies are gone until none is left.
func acyclic(list []stop.Step) error {
	open := slices.Clone(list)
	for len(open) > 0 {
		n := len(open)
		open = slices.DeleteFunc(open, func(s stop.Step) bool {
			return !slices.ContainsFunc(open, func(o stop.Step) bool { return slices.Contains(s.DependsOn, o.ID) })
		})
		if len(open) == n {
			return fmt.Errorf("%d steps depend on each other in a circle", n)
		}
	}
	return nil
}

var _ = Describe("The steps of any message", Label("G-06"), func() {
	It("are whole, bounded, in order and without circles", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			message := junk.Draw(t, "message")
			form := rapid.SampledFrom([]string{"prose", "heading", "lead", "item", "box", "offer"})
			phrase := rapid.SampledFrom([]string{"Let me", "Remaining", "Next steps", "Il reste", "I'll", "Would you", "to do", "Test", "tasks", "then"})
			var mentions []stop.Mention
			for range rapid.IntRange(0, 6).Draw(t, "mentions") {
				mentions = append(mentions, stop.Mention{
					Form: form.Draw(t, "form"), Phrase: phrase.Draw(t, "phrase"),
					Category: rapid.SampledFrom([]stop.Category{stop.NextSteps, stop.RemainingTasks, stop.FutureActions, stop.ConditionalIntentions}).Draw(t, "category"),
				})
			}
			if err := checkSteps(message, stop.StepsOf(message, mentions...)); err != nil {
				t.Fatal(err)
			}
		})
	})

	It("are those of the verdict", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			message := junk.Draw(t, "message")
			v := stop.Judge(message, stop.Options{Policy: stop.Strict})
			if err := checkSteps(message, v.Steps); err != nil {
				t.Fatal(err)
			}
			if v.MayStop && len(v.Steps) > 0 {
				t.Fatalf("%d steps although it may stop", len(v.Steps))
			}
		})
	})
})
