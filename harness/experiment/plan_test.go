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
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = Describe("a plan", Label("H-07"), func() {
	const text = `schema: rehearse.experiment/1
name: own/planned
scenarios: [a.yaml, b.yaml]
variants:
  - name: plain
  - {name: other, set: {drive.loop.prompt: Do it.}}
  - {name: third, set: {drive.loop.prompt: Do it well.}}
trials: 50
primary: {name: pass, smallest_effect: 0.2}
`
	plan := func(change ...string) experiment.Plan {
		GinkgoHelper()
		dir := GinkgoT().TempDir()
		write := func(name, text string) {
			Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
		}
		for _, name := range []string{"a", "b"} {
			write(name+".yaml", "name: own/"+name+"\ndrive: {loop: {prompt: Work.}}\nbackend: {model: gpt-4.1-mini, rules: [{text: DONE}]}\nexpect: {status: done}\n")
		}
		write("e.yaml", strings.NewReplacer(change...).Replace(text))
		e, found := experiment.Load(filepath.Join(dir, "e.yaml"), kinds.Language(), scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		return e.Plan()
	}

	It("describes the planned work", func() {
		p := plan()
		Expect(p.Name).To(Equal("own/planned"))
		Expect(p.Comparisons).To(Equal(3))
		Expect(p.Trials).To(Equal(50 * 3 * 2))
		Expect(p.Scenarios).To(HaveLen(2))
		Expect(p.Variants[1].Settings).To(Equal([]result.Setting{{Path: "drive.loop.prompt", Value: "Do it."}}))
		Expect(p.Live).To(BeEmpty())
	})

	It("computes the trials for the power: more for more comparisons and looks", func() {
		// With σ² = 1/2 and z = 2.394 + 0.842 at alpha 0.05/3 and power 0.8:
		// z² σ²/0.2² = 131 pairs, and some for the test of shares; over two scenarios.
		Expect(plan().Needed).To(BeNumerically("~", 71, 1))
		Expect(plan("trials: 50", "against: plain\ntrials: 50").Needed).To(BeNumerically("<", plan().Needed))
		Expect(plan("trials: 50", "trials: 50\nstop: {looks: 5, spending: pocock}").Needed).To(BeNumerically(">", plan().Needed))
	})

	DescribeTable("explains why that is unknown", func(from, to, why string) {
		p := plan(from, to)
		Expect(p.Needed).To(BeZero())
		Expect(p.Why).To(ContainSubstring(why))
	},
		Entry("without an effect", ", smallest_effect: 0.2", "", "no smallest effect of interest"),
		Entry("of a measure other than a share", "{name: pass,", "{name: calls,", "the variation of calls is unknown"),
		Entry("where scenarios are a sample", "trials: 50", "scope: alike\ntrials: 50", "the variation between scenarios is unknown"),
	)

	It("names the variants that call real models", func() {
		p := plan("{drive.loop.prompt: Do it.}", "{backend.as: live, backend.url: 'https://x.example/v1', backend.rules: null}")
		Expect(p.Live).To(Equal([]string{"other"}))
	})

	It("names the variants whose judges are real models, which need permission as well", func() {
		text, _, _ := strings.Cut(judged, "      backend:\n        model: gpt-4.1\n")
		text += "      backend: {as: live, url: 'https://x.example/v1', model: gpt-4.1}\nexpect: {status: done}\n"
		path := write(judging)
		Expect(os.WriteFile(filepath.Join(filepath.Dir(path), "judged.yaml"), []byte(text), 0o600)).To(Succeed())
		e := loadFile(path)
		Expect(e.Plan().Live).To(Equal([]string{"plain", "kind"}))
		Expect(e.Live()).To(BeTrue())
		_, err := e.Run(context.Background(), with())
		Expect(err).To(MatchError(ContainSubstring("live")))
	})
})
