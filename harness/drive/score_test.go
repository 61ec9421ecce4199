package drive_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing/fstest"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/judge"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// scripted judges send well-formed replies, and pass answers with "please".
const inForm = `      rubric: It is polite.
      agreement: agreement.json
      backend:
        model: gpt-4.1
        rules:
          - {when: {user: please}, optional: true, usage: {input: 1000, output: 10}, template: '{"item": "{{match "\"item\":\"([0-9a-f]+)\"" .User}}", "verdict": "pass", "reason": "it says please"}'}
          - {optional: true, template: '{"item": "{{match "\"item\":\"([0-9a-f]+)\"" .User}}", "verdict": "fail", "reason": "it does not"}'}
`

func scoredScenario(answer, judged string) string {
	return "name: spec/scored\ndrive: {loop: {prompt: Work.}}\n" +
		"backend: {model: gpt-4.1-mini, rules: [{text: " + fmt.Sprintf("%q", answer) + ", usage: {input: 100, output: 10}}]}\nexpect: {status: done}\nscores:\n" +
		"  - {name: short, rule: {max_words: 3}}\n  - name: polite\n    judge:\n" + judged
}

func scoredTrial(env *drive.Env, text string, agreement *judge.Agreement) (drive.Driver, record.Trial) {
	GinkgoHelper()
	files := fstest.MapFS{}
	if agreement != nil {
		data, err := json.Marshal(agreement)
		Expect(err).NotTo(HaveOccurred())
		files["agreement.json"] = &fstest.MapFile{Data: data}
	}
	sc, found := scenarios.Parse("spec.yaml", []byte(text), files, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, env)
	Expect(err).NotTo(HaveOccurred())
	tr, _ := d.Trial(context.Background(), 1)
	return d, tr
}

// measured returns the agreement of the judge in a scenario.
func measured(env *drive.Env, judged string) *judge.Agreement {
	GinkgoHelper()
	sc, found := scenarios.Parse("spec.yaml", []byte(scoredScenario("DONE", judged)), fstest.MapFS{}, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	m, err := env.Judge(context.Background(), sc.Scores[1].Judge)
	Expect(err).NotTo(HaveOccurred())
	var items []judge.Labelled
	for i := range 30 {
		items = append(items, judge.Labelled{Item: judge.Item{Text: fmt.Sprint("please ", i)}, Pass: true}, judge.Labelled{Item: judge.Item{Text: fmt.Sprint("now ", i)}})
	}
	a, err := judge.Measure(context.Background(), m, items)
	Expect(err).NotTo(HaveOccurred())
	return &a
}

var _ = Describe("scores of a trial", func() {
	It("are facts if they come from rules, or from a judge whose agreement was measured", func() {
		env := newEnv()
		d, tr := scoredTrial(env, scoredScenario("Here you are, please.\nDONE", inForm), measured(env, inForm))
		Expect(tr.End.HarnessError).To(BeEmpty())
		facts := measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())
		Expect(facts.Scores).To(Equal(map[string]bool{"short": false, "polite": true}))

		_, tr = scoredTrial(env, scoredScenario("DONE", inForm), measured(env, inForm))
		Expect(measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions()).Scores).To(Equal(map[string]bool{"short": true, "polite": false}))
	})

	It("records the judge's calls at the judge's price", func() {
		env := newEnv()
		d, tr := scoredTrial(env, scoredScenario("please\nDONE", inForm), measured(env, inForm))
		facts := measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions())
		Expect(facts.Calls.By).To(HaveKeyWithValue("judge", 1))
		agent, _ := env.Prices.Quote("gpt-4.1-mini")
		judging, _ := env.Prices.Quote("gpt-4.1")
		want := agent.Cost(*tr.Calls[0].Usage)
		more := judging.Cost(*tr.Calls[1].Usage)
		Expect(facts.Cost.Known).To(BeTrue())
		Expect(facts.Cost.USD).To(BeNumerically("~", want.Amount+more.Amount, 1e-12))
	})

	It("are the same in each trial", func() {
		env := newEnv()
		a := measured(env, inForm)
		_, one := scoredTrial(env, scoredScenario("please\nDONE", inForm), a)
		_, two := scoredTrial(env, scoredScenario("please\nDONE", inForm), a)
		Expect(encoded(one)).To(Equal(encoded(two)))
	})

	DescribeTable("are an error, never a pass, if the judge", func(judged func(string) string, agreement func(*judge.Agreement) *judge.Agreement, want string) {
		env := newEnv()
		d, tr := scoredTrial(env, scoredScenario("please\nDONE", judged(inForm)), agreement(measured(env, inForm)))
		Expect(tr.End.HarnessError).To(HavePrefix("score polite: "))
		Expect(tr.End.HarnessError).To(ContainSubstring(want))
		Expect(measure.Trial(d.Head(), tr, nil, kinds.Language().Extensions()).Scores).NotTo(HaveKey("polite"))
	},
		Entry("was not measured", as, func(*judge.Agreement) *judge.Agreement { return nil }, "its agreement with labels was never measured"),
		Entry("agrees less than required", as, func(a *judge.Agreement) *judge.Agreement { a.Interval.Lo = 0.5; return a }, "below the required 0.60"),
		Entry("was measured with another rubric", func(s string) string { return strings.Replace(s, "polite.", "kind.", 1) }, same, "measured for another rubric, model or prompt"),
		Entry("answers in another form", func(s string) string { return strings.ReplaceAll(s, `"verdict"`, `"grade"`) }, same, "malformed after 3 attempts"),
		Entry("has a backend that fails", func(s string) string {
			return strings.Replace(s, "- {when: {user: please}", "- {fault: {kind: status, times: 9}}\n          - {when: {user: please}", 1)
		}, same, "ask the judge: "),
	)

	It("are not computed for perturbed trials", func() {
		env := newEnv()
		d, _ := scoredTrial(env, scoredScenario("please\nDONE", inForm), measured(env, inForm))
		late, err := perturb.Parse("call=1:latency,first=2s")
		Expect(err).NotTo(HaveOccurred())
		off, err := d.Perturbed([]perturb.Perturbation{late})
		Expect(err).NotTo(HaveOccurred())
		tr, _ := off.Trial(context.Background(), 1)
		Expect(tr.Calls).To(HaveLen(1))
	})

	It("do not call a live judge unless it is allowed", func() {
		live := "      rubric: It is polite.\n      agreement: agreement.json\n      backend: {as: live, url: 'https://api.example.com/v1', model: gpt-4.1}\n"
		_, tr := scoredTrial(newEnv(), scoredScenario("DONE", live), nil)
		Expect(tr.End.HarnessError).To(ContainSubstring("score polite: the judge: its backend is live"))
	})
})

func as(s string) string { return s }

func same(a *judge.Agreement) *judge.Agreement { return a }
