package experiment_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/judge"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// judged is a scenario in which a judge, whose model is more expensive than the agent's,
// decides whether an answer is polite.
const judged = `name: sim/judged
drive:
  loop: {prompt: Answer., max_iterations: 1, no_progress_limit: 0}
backend:
  model: gpt-4.1-mini
  rules:
    - one_of:
        - {chance: 0.5, text: "please do\n\nDONE"}
        - {chance: 0.5, text: "now\n\nDONE"}
scores:
  - name: polite
    judge:
      rubric: It is polite.
      agreement: polite.json
      backend:
        model: gpt-4.1
        rules:
          - {when: {user: please}, optional: true, usage: {input: 1000, output: 10}, template: '{"item": "{{match "\"item\":\"([0-9a-f]+)\"" .User}}", "verdict": "pass", "reason": "it says please"}'}
          - {optional: true, template: '{"item": "{{match "\"item\":\"([0-9a-f]+)\"" .User}}", "verdict": "fail", "reason": "it does not"}'}
expect: {status: done}
`

const judging = `schema: rehearse.experiment/1
name: sim/judging
scenarios: [judged.yaml]
variants:
  - name: plain
  - name: kind
    set:
      backend.rules:
        - one_of:
            - {chance: 0.9, text: "please do\n\nDONE"}
            - {chance: 0.1, text: "now\n\nDONE"}
trials: 25
primary: {name: polite, expr: 'scores["polite"]', better: higher}
`

// writeJudged writes an experiment with a judge whose agreement was measured, and returns
// its path.
func writeJudged() string {
	GinkgoHelper()
	path := write(judging)
	file := filepath.Join(filepath.Dir(path), "judged.yaml")
	Expect(os.WriteFile(file, []byte(judged), 0o600)).To(Succeed())
	set, found := scenarios.Load([]string{file}, options())
	Expect(found).To(BeEmpty())
	model, err := env().Judge(context.Background(), set[0].Scores[0].Judge)
	Expect(err).NotTo(HaveOccurred())
	var items []judge.Labelled
	for i := range 30 {
		items = append(items,
			judge.Labelled{Item: judge.Item{Text: fmt.Sprint("please ", i)}, Pass: true},
			judge.Labelled{Item: judge.Item{Text: fmt.Sprint("now ", i)}})
	}
	agreement, err := judge.Measure(context.Background(), model, items)
	Expect(err).NotTo(HaveOccurred())
	data, err := json.Marshal(agreement)
	Expect(err).NotTo(HaveOccurred())
	Expect(os.WriteFile(filepath.Join(filepath.Dir(path), "polite.json"), data, 0o600)).To(Succeed())
	return path
}

func loadFile(path string) *experiment.Experiment {
	GinkgoHelper()
	e, found := experiment.Load(path, kinds.Language(), options())
	Expect(found.Err()).NotTo(HaveOccurred())
	return e
}

var _ = Describe("An experiment with a judge", Label("H-07"), func() {
	capped := func(o *experiment.Options) {
		o.Workers = 1
		o.Caps.Cost = quantity.Money{Amount: 0.01, Currency: quantity.USD}
	}

	It("counts the judge's calls at the judge's price, against the cap as in the result", func() {
		res := carry(loadFile(writeJudged()), capped)
		Expect(res.Stopped.As).To(Equal(result.Capped))
		// Every call costs less than 0.003 USD, and no call follows once the cap is reached.
		Expect(res.Used.USD).To(And(BeNumerically(">=", 0.01), BeNumerically("<", 0.013)))
	})

	It("ends by its cap at the same trial when it is resumed", func() {
		path := writeJudged()
		file := filepath.Join(filepath.Dir(path), "journal.jsonl")
		want := encoded(carry(loadFile(path), capped))
		ctx, cancel := context.WithCancel(context.Background())
		_, err := loadFile(path).Run(ctx, with(capped, journal(file), func(o *experiment.Options) {
			o.Progress = func(p experiment.Progress) {
				if p.Trials == 4 {
					cancel()
				}
			}
		}))
		Expect(err).NotTo(HaveOccurred())
		Expect(encoded(carry(loadFile(path), capped, journal(file)))).To(Equal(want))
	})
})
