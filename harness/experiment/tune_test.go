package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
)

// obeys returns a scenario in which a simulated model completes the task more often if the
// prompt contains "carefully", unless the scenario ignores it.
const obeys = `name: sim/NAME
drive:
  loop: {prompt: Fix the test., max_iterations: 2, no_progress_limit: 0}
backend:
  model: gpt-4.1-mini
  rules:
    - when: {user: WORD}
      one_of:
        - {chance: 0.95, text: "It passes.\n\nDONE"}
        - {chance: 0.05, text: "I look at it."}
    - one_of:
        - {chance: 0.3, text: "It passes.\n\nDONE"}
        - {chance: 0.7, text: "I look at it."}
expect: {status: done, allow: [unused-line]}
seed: SEED
`

const searching = `schema: rehearse.experiment/1
name: sim/tune
scenarios: [train*.yaml, held*.yaml]
variants:
  - name: plain
trials: 30
primary: {name: pass, smallest_effect: 0.1}
split: {held_out: [sim/held*]}
tune:
  base: plain
  path: drive.loop.prompt
  text: "Fix the test{{how}}.{{then}}"
  fragments:
    - name: how
      options: ["", " quickly", " carefully"]
    - name: then
      options: ["", " Be brief.", {file: then.md}]
  trials: 15
`

// tuneFiles writes the files of a search; heldOutWord is the word that helps on the held-out
// scenarios.
func tuneFiles(text, heldOutWord string) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	files := map[string]string{"tune.yaml": text, "then.md": " Say DONE when it passes.\n"}
	for i, name := range []string{"train-1", "train-2", "train-3", "held-1", "held-2", "held-3"} {
		word := "carefully"
		if strings.HasPrefix(name, "held") {
			word = heldOutWord
		}
		files[name+".yaml"] = strings.NewReplacer("NAME", name, "WORD", word, "SEED", string(rune('1'+i))).Replace(obeys)
	}
	for name, content := range files {
		Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)).To(Succeed())
	}
	return filepath.Join(folder, "tune.yaml")
}

func tune(path string, change ...func(*experiment.Options)) result.Experiment {
	GinkgoHelper()
	e, found := experiment.Load(path, kinds.Language(), options())
	Expect(found.Err()).NotTo(HaveOccurred())
	res, err := e.Tune(context.Background(), with(change...))
	Expect(err).NotTo(HaveOccurred())
	return res
}

var _ = Describe("Tuning", Label("H-07"), func() {
	for _, search := range []string{"greedy", "halving"} {
		It("finds the text that helps, and promotes it if it helps on held-out scenarios: "+search, func() {
			res := tune(tuneFiles(replace(searching, "trials: 15", "trials: 15\n  search: "+search), "carefully"))
			Expect(res.Tune.Promoted).To(BeTrue(), res.Tune.Why)
			Expect(res.Tune.Text).To(HavePrefix("Fix the test carefully."))
			Expect(res.Tune.Search).To(Equal(search))
			Expect(comparison(res, "tuned", "plain", "pass").Verdict).To(Equal(result.Better))
			Expect(res.Scenarios).To(HaveLen(3))
			Expect(res.Tune.HeldOut).To(Equal([]string{"sim/held-1", "sim/held-2", "sim/held-3"}))
			Expect(res.Tune.Used.Calls).To(BeNumerically(">", 100))
		})

		It("never promotes a text that helps on the training scenarios only: "+search, func() {
			res := tune(tuneFiles(replace(searching, "trials: 15", "trials: 15\n  search: "+search), "never"))
			Expect(res.Tune.Chosen).To(HavePrefix("how-3."))
			Expect(res.Tune.Promoted).To(BeFalse())
			Expect(res.Tune.Text).To(BeEmpty())
			Expect(res.Tune.Why).To(MatchRegexp("^(undecided|equivalent|worse) on the held-out scenarios"))
		})
	}

	It("does not promote a text that was lucky in the search", func() {
		lucky := 0
		for seed := range 9 {
			path := tuneFiles(searching+"seed: "+string(rune('1'+seed))+"\n", "carefully")
			for _, heldOut := range []string{"held-1", "held-2", "held-3"} { // the word is drawn for by itself, and does not help
				file := filepath.Join(filepath.Dir(path), heldOut+".yaml")
				edit(file, "chance: 0.95", "chance: 0.3")
				edit(file, "chance: 0.05", "chance: 0.7")
			}
			res := tune(path)
			c := comparison(res, "tuned", "plain", "pass")
			Expect(res.Tune.Promoted).To(Equal(c.Verdict == result.Better))
			if *c.Effect.Value > 0 && c.Verdict != result.Better {
				lucky++
			}
		}
		Expect(lucky).To(BeNumerically(">", 0))
	})

	It("does not use held-out scenarios in the search", func() {
		// The search is exactly the same if other words help on them.
		one, other := tune(tuneFiles(searching, "carefully")), tune(tuneFiles(searching, "never"))
		Expect(one.Tune.Rounds).To(Equal(other.Tune.Rounds))
		Expect(one.Tune.Chosen).To(Equal(other.Tune.Chosen))
	})

	It("promotes nothing if the search ends with the base's text", func() {
		text := replace(searching, "options: [\"\", \" quickly\", \" carefully\"]", "options: [\"\", \" quickly\"]")
		text = replace(text, `["", " Be brief.", {file: then.md}]`, `["", "\nBe brief."]`)
		path := tuneFiles(replace(text, "primary: {name: pass, smallest_effect: 0.1}", `primary: {name: words, expr: "events.size() * 0 + calls.total * 0", better: lower}`), "never")
		res := tune(path)
		Expect(res.Tune.Promoted).To(BeFalse())
		Expect(res.Tune.Why).To(HavePrefix("the best text is the base's own"))
		Expect(res.Comparisons).To(BeEmpty())
	})

	It("is resumed with the same result", func() {
		path, file := tuneFiles(searching, "carefully"), filepath.Join(GinkgoT().TempDir(), "tune.jsonl")
		want := encoded(tune(path))
		e, _ := experiment.Load(path, kinds.Language(), options())
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		res, err := e.Tune(ctx, with(journal(file), func(o *experiment.Options) {
			o.Progress = func(p experiment.Progress) {
				Expect(p.Doing).To(HavePrefix("round 1 of the search"))
				if reports++; reports == 100 {
					cancel()
				}
			}
		}))
		Expect(err).NotTo(HaveOccurred())
		Expect(res.Stopped.As).To(Equal(result.Interrupted))
		Expect(res.Tune.Promoted).To(BeFalse())
		Expect(res.Tune.Why).To(HavePrefix("the search did not finish"))
		doing := map[string]bool{}
		again := tune(path, journal(file), func(o *experiment.Options) {
			o.Progress = func(p experiment.Progress) { doing[p.Doing] = true }
		})
		Expect(encoded(again)).To(Equal(want))
		Expect(doing).To(And(HaveKey("round 2 of the search"), HaveKey("held-out scenarios")))
	})

	It("applies the caps to all of its parts", func() {
		res := tune(tuneFiles(searching+"caps: {calls: 300}\n", "carefully"))
		Expect(res.Stopped.As).To(Equal(result.Capped))
		Expect(res.Tune.Used.Calls + res.Used.Calls).To(Equal(300))
		Expect(res.Tune.Promoted).To(BeFalse())
	})

	It("stays ended by a cap when it is resumed, in its rounds and on held-out scenarios", func() {
		path := tuneFiles(searching, "carefully")
		whole := tune(path)
		search := whole.Tune.Used.Calls // a cap of just that many is used up when the search ends
		for _, calls := range []int{50, search, search + 40} {
			folder := GinkgoT().TempDir()
			var first string
			var files map[string]string
			for n := range 3 {
				res := tune(path, journal(filepath.Join(folder, "tune.jsonl")), workers(1+n), func(o *experiment.Options) {
					o.Caps.Calls = calls
					if n > 0 {
						o.Progress = func(experiment.Progress) { Fail("a trial was made") }
					}
				})
				Expect(res.Stopped.As).To(Equal(result.Capped))
				Expect(res.Tune.Rounds).NotTo(BeEmpty())
				Expect(res.Tune.Used.Calls + res.Used.Calls).To(Equal(calls))
				if n == 0 {
					first, files = encoded(res), contents(folder)
				}
				Expect(encoded(res)).To(Equal(first), "%d calls, run %d", calls, n+1)
				Expect(contents(folder)).To(Equal(files))
			}
		}
	})

	It("is not an experiment, nor is an experiment a search", func() {
		e, found := experiment.Load(tuneFiles(searching, "x"), kinds.Language(), options())
		Expect(found).To(BeEmpty())
		_, err := e.Run(context.Background(), with())
		Expect(err).To(MatchError(ContainSubstring("use tune to search for another one")))
		_, err = load(first).Tune(context.Background(), with())
		Expect(err).To(MatchError(ContainSubstring("has no tune")))
	})

	DescribeTable("is rejected if it is invalid:",
		func(old, now, want string) {
			path := tuneFiles(replace(searching, old, now), "x")
			_, found := experiment.Load(path, kinds.Language(), options())
			Expect(strings.Join(lines(path, found), "\n")).To(ContainSubstring(want))
		},
		Entry("nothing held out", "split: {held_out: [sim/held*]}\n", "", "no scenarios are held out"),
		Entry("no base", "base: plain", "base: plian", `there is no variant "plian" (did you mean "plain"?)`),
		Entry("a fragment without a place", "{{then}}", "", "the text does not use the fragment then; write {{then}} there"),
		Entry("a place without a fragment", "{{then}}", "{{than}}", `the text contains {{than}}, but there is no fragment "than" (did you mean "then"?)`),
		Entry("one option", `["", " quickly", " carefully"]`, `[""]`, "one option leaves no choice"),
		Entry("an option twice", `["", " quickly", " carefully"]`, `["", ""]`, "the option is the same as an earlier one"),
		Entry("an option that is not text", `["", " quickly", " carefully"]`, `["", 1]`, "expected text, or {file: name}"),
		Entry("a fragment twice", "name: then", "name: how", `the name "how" is used by an earlier fragment`),
		Entry("an unknown path", "path: drive.loop.prompt", "path: drive.loop.promt", `unknown key "promt"`),
		Entry("a path of an expectation", "path: drive.loop.prompt", "path: expect.status", `not "expect.status"`),
		Entry("a file that is not there", "then.md", "none.md", "read the file none.md"),
	)
})

// contents returns the files of a folder.
func contents(folder string) map[string]string {
	GinkgoHelper()
	all := map[string]string{}
	entries, err := os.ReadDir(folder)
	Expect(err).NotTo(HaveOccurred())
	for _, entry := range entries {
		data, err := os.ReadFile(filepath.Join(folder, entry.Name()))
		Expect(err).NotTo(HaveOccurred())
		all[entry.Name()] = string(data)
	}
	return all
}
