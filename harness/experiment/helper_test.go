package experiment_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// task is a scenario in which a simulated model completes the task half of the time.
const task = `name: sim/NAME
drive:
  loop: {prompt: Fix the test., max_iterations: 2, no_progress_limit: 0}
backend:
  model: gpt-4.1-mini
  rules:
    - one_of:
        - {chance: 0.5, text: "It passes.\n\nDONE"}
        - {chance: 0.5, text: "I look at it."}
expect: {status: done}
seed: SEED
`

// first is an experiment on two such scenarios. One variant is far better, and another one
// is the same with other draws.
const first = `schema: rehearse.experiment/1
name: sim/first
about: Is a good prompt better?
scenarios: [one.yaml, two.yaml]
variants:
  - name: old
  - name: good
    about: It says what is wanted.
    set:
      drive.loop.prompt: {file: prompts/good.md}
      backend.rules:
        - one_of:
            - {chance: 0.95, text: "It passes.\n\nDONE"}
            - {chance: 0.05, text: "I look at it."}
  - name: turned
    set:
      backend.rules:
        - one_of:
            - {chance: 0.5, text: "I look at it."}
            - {chance: 0.5, text: "It passes.\n\nDONE"}
trials: 40
primary: {name: pass, smallest_effect: 0.1}
secondary:
  - {name: calls, smallest_effect: 0.5}
  - {name: slow, expr: "run.iterations > 1", better: lower}
`

// write writes the files of an experiment and returns the path of the experiment file.
func write(text string) string {
	GinkgoHelper()
	folder := GinkgoT().TempDir()
	Expect(os.Mkdir(filepath.Join(folder, "prompts"), 0o755)).To(Succeed())
	for name, content := range map[string]string{
		"experiment.yaml": text,
		"one.yaml":        strings.NewReplacer("NAME", "one", "SEED", "1").Replace(task),
		"two.yaml":        strings.NewReplacer("NAME", "two", "SEED", "2").Replace(task),
		"prompts/good.md": "Fix the test. Say DONE on a line of its own.\n",
	} {
		Expect(os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600)).To(Succeed())
	}
	return filepath.Join(folder, "experiment.yaml")
}

func options() scenarios.Options {
	return scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant}
}

func load(text string) *experiment.Experiment {
	GinkgoHelper()
	e, found := experiment.Load(write(text), kinds.Language(), options())
	Expect(found.Err()).NotTo(HaveOccurred())
	return e
}

// refused returns the diagnostics of an invalid experiment without the folder.
func refused(text string) []string {
	GinkgoHelper()
	path := write(text)
	e, found := experiment.Load(path, kinds.Language(), options())
	Expect(e).To(BeNil())
	Expect(found).NotTo(BeEmpty())
	return lines(path, found)
}

func lines(path string, found yamlsrc.Diagnostics) []string {
	var all []string
	for _, d := range found {
		all = append(all, strings.TrimPrefix(d.Error(), filepath.Dir(path)+"/"))
	}
	return all
}

func env() *drive.Env {
	GinkgoHelper()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	e := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	DeferCleanup(e.Close)
	return e
}

// run runs an experiment.
func run(text string, change ...func(*experiment.Options)) result.Experiment {
	GinkgoHelper()
	return carry(load(text), change...)
}

// carry runs a loaded experiment.
func carry(e *experiment.Experiment, change ...func(*experiment.Options)) result.Experiment {
	GinkgoHelper()
	res, err := e.Run(context.Background(), with(change...))
	Expect(err).NotTo(HaveOccurred())
	return res
}

func with(change ...func(*experiment.Options)) experiment.Options {
	GinkgoHelper()
	opts := experiment.Options{Env: env(), Workers: 2, Tool: "rehearse spec"}
	for _, f := range change {
		f(&opts)
	}
	return opts
}

func workers(n int) func(*experiment.Options) {
	return func(o *experiment.Options) { o.Workers = n }
}

func journal(path string) func(*experiment.Options) {
	return func(o *experiment.Options) { o.Journal = path }
}

// replace replaces old, which must occur, in the text of an experiment.
func replace(text, old, now string) string {
	GinkgoHelper()
	Expect(text).To(ContainSubstring(old))
	return strings.Replace(text, old, now, 1)
}

// comparison returns the comparison of a pair by a measure.
func comparison(res result.Experiment, variant, against, by string) result.Comparison {
	GinkgoHelper()
	for _, c := range res.Comparisons {
		if c.Variant == variant && c.Against == against && c.Measure == by {
			return c
		}
	}
	Fail("no comparison of " + variant + " and " + against + " by " + by)
	return result.Comparison{}
}

func encoded(res result.Experiment) string {
	GinkgoHelper()
	data, err := json.MarshalIndent(res, "", " ")
	Expect(err).NotTo(HaveOccurred())
	return string(data)
}
