package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("An experiment's file", Label("H-07"), func() {
	DescribeTable("is rejected with the position if it is invalid:",
		func(old, now, want string) {
			Expect(strings.Join(refused(replace(first, old, now)), "\n")).To(ContainSubstring(want))
		},
		Entry("an unknown key", "trials: 40", "trails: 40", `experiment.yaml:21:1: unknown key "trails" (did you mean "trials"?)`),
		Entry("another schema", "rehearse.experiment/1", "rehearse.experiment/2", "experiment.yaml:1:9: "),
		Entry("no trials", "trials: 40", "trials: 0", "experiment.yaml:21:9: "),
		Entry("an unknown measure", "{name: calls,", "{name: cals,", `experiment.yaml:24:12: unknown measure "cals"; choose from pass, calls`),
		Entry("an unknown measure, and the nearest", "{name: calls,", "{name: cals,", `(did you mean "calls"?)`),
		Entry("a measure twice", "{name: calls,", "{name: pass,", `experiment.yaml:24:12: the measure "pass" is given twice`),
		Entry("an expression that is wrong", "run.iterations > 1", "run.iteration > 1", `the expression cannot be used`),
		Entry("an expression that does not yield a number", "run.iterations > 1", "run.status", `yields string; expected a number, or true or false`),
		Entry("an expression that reads nothing", "run.iterations > 1", "1 + 1", `reads no fact`),
		Entry("an expression without direction", `1", better: lower`, `1"`, "experiment.yaml:25:5: the measure slow needs a direction"),
		Entry("an expression with the name of a measure", "name: slow", "name: tokens", `"tokens" is a measure already`),
		Entry("an effect that no share can have", "{name: pass, smallest_effect: 0.1}", "{name: pass, smallest_effect: 5}", "must be less than 1"),
		Entry("identical variants", "{chance: 0.5, text: \"I look at it.\"}\n            - {chance: 0.5, text: \"It passes.\\n\\nDONE\"}",
			"{chance: 0.5, text: \"It passes.\\n\\nDONE\"}\n            - {chance: 0.5, text: \"I look at it.\"}", "turned is the same as old: every scenario is equal with either"),
		Entry("a name twice", "name: turned", "name: good", `the name "good" is used by an earlier variant`),
		Entry("a variant that is not there", "trials: 40", "trials: 40\nagainst: god", `there is no variant "god" (did you mean "good"?)`),
		Entry("a setting that no scenario knows", "drive.loop.prompt:", "drive.loop.promt:", `drive.loop.promt: unknown key "promt"; expected one of prompt, `),
		Entry("a setting of an agent that is not driven", "drive.loop.prompt: {file: prompts/good.md}", "drive.interview.persona: lea", "drives several agents: loop, interview"),
		Entry("a setting of what is expected", "drive.loop.prompt: {file: prompts/good.md}", "expect.status: failed", `a variant can only set drive and backend and the keys below them, not "expect.status"`),
		Entry("a value of the wrong type", "drive.loop.prompt: {file: prompts/good.md}", "drive.loop.max_iterations: many", "this makes the scenario"),
		Entry("a file that is not there", "prompts/good.md", "prompts/best.md", "read the file prompts/best.md: "),
		Entry("a file that is elsewhere", "prompts/good.md", "../../etc/passwd", "name one in the experiment's folder or below"),
		Entry("a scenario that is not there", "two.yaml", "three.yaml", `experiment.yaml:4:23: no file matches "three.yaml"`),
		Entry("a shipped scenario that is not there", "two.yaml", "loop/nothing", "no shipped scenario has that name"),
		Entry("more looks than trials", "trials: 40", "trials: 4\nstop: {looks: 5}", "5 looks at 4 trials"),
		Entry("a split that leaves nothing", "trials: 40", "trials: 40\nsplit: {held_out: [sim/*]}", "2 of 2 scenarios are held out"),
		Entry("a split that names no scenario", "trials: 40", "trials: 40\nsplit: {held_out: [sim/x]}", `no scenario of the experiment is named "sim/x"`),
		Entry("an empty split", "trials: 40", "trials: 40\nsplit: {}", "write either share"),
		Entry("a scope that one scenario cannot have", "[one.yaml, two.yaml]", "[one.yaml]\nscope: alike", "one scenario is not a sample"),
		Entry("a cap of 0", "trials: 40", "trials: 40\ncaps: {calls: 0}", "experiment.yaml:22:15: "),
	)

	It("gets the documented defaults", func() {
		e := load(replace(first, "trials: 40", "trials: 4"))
		res := carry(e)
		Expect(res.Design.Alpha).To(Equal(0.05))
		Expect(res.Design.Power).To(Equal(0.8))
		Expect(res.Design.Scope).To(Equal(result.These))
		Expect(res.Design.Primary.Better).To(Equal(result.Higher))
		Expect(res.Design.Secondary[0].Better).To(Equal(result.Lower))
		Expect(res.Design.Secondary[1].Share).To(BeTrue())
		Expect(res.Design.Spending).To(Equal("none"))
	})

	It("is rejected if it is something else, missing, a folder or not YAML", func() {
		folder := GinkgoT().TempDir()
		for name, want := range map[string]string{"": "not a regular file", "none.yaml": "no such file"} {
			_, found := experiment.Load(filepath.Join(folder, name), kinds.Language(), options())
			Expect(found.Error()).To(ContainSubstring(want))
		}
		for _, text := range []string{"", "[]", "a: [", "\xff"} {
			file := filepath.Join(folder, "x.yaml")
			Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
			_, found := experiment.Load(file, kinds.Language(), options())
			Expect(found).NotTo(BeEmpty())
		}
	})

	It("with a split is run on the held-out scenarios", func() {
		res := run(replace(first, "trials: 40", "trials: 4\nsplit: {held_out: [sim/two]}"))
		Expect(res.Scenarios).To(HaveLen(1))
		Expect(res.Scenarios[0].Name).To(Equal("sim/two"))
		res = run(replace(first, "trials: 40", "trials: 4\nsplit: {share: 0.5}"))
		Expect(res.Scenarios).To(HaveLen(1))
	})

	It("that calls a live model is not run unless allowed", func() {
		e := load(replace(first, `      drive.loop.prompt: {file: prompts/good.md}
      backend.rules:
        - one_of:
            - {chance: 0.95, text: "It passes.\n\nDONE"}
            - {chance: 0.05, text: "I look at it."}
`, "      backend: {as: live, model: gpt-4.1-mini, url: 'http://127.0.0.1:1/v1', key_env: NO_KEY}\n"))
		Expect(e.Live()).To(BeTrue())
		_, err := e.Run(context.Background(), with())
		Expect(err).To(MatchError(ContainSubstring("allow it with --live")))
		Expect(load(first).Live()).To(BeFalse())
	})
})

// FuzzLoad checks that no file makes the loader panic.
func FuzzLoad(f *testing.F) {
	f.Add([]byte(first))
	f.Add([]byte(first + "against: old\nstop: {looks: 3, spending: pocock}\ncaps: {calls: 3, cost: 1 EUR}\nsplit: {share: 0.5}\n"))
	f.Add([]byte("scenarios: [loop/golden-marker]\nvariants: [{name: a}, {name: b, set: {backend.retry: 2}}]\ntrials: 2\nprimary: {name: pass}\n"))
	folder := f.TempDir()
	file := filepath.Join(folder, "experiment.yaml")
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
		if e, found := experiment.Load(file, kinds.Language(), scenarios.Options{Kinds: kinds.All().Formats()}); (e == nil) != (len(found) > 0) {
			t.Fatal("neither an experiment nor what is wrong with it")
		}
	})
}
