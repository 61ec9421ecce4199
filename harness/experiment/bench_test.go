package experiment_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// wholeExperiment writes and loads an experiment, and creates the environment of its runs.
func wholeExperiment(b *testing.B, text string) (*experiment.Experiment, *drive.Env) {
	b.Helper()
	folder := b.TempDir()
	path := filepath.Join(folder, "experiment.yaml")
	once := strings.ReplaceAll(task, "max_iterations: 2", "max_iterations: 1")
	for name, content := range map[string]string{
		"experiment.yaml": text,
		"one.yaml":        strings.NewReplacer("NAME", "one", "SEED", "1").Replace(once),
		"two.yaml":        strings.NewReplacer("NAME", "two", "SEED", "2").Replace(once),
		"train.yaml":      strings.NewReplacer("NAME", "train", "SEED", "3").Replace(deaf),
		"held.yaml":       strings.NewReplacer("NAME", "held", "SEED", "4").Replace(deaf),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	e, found := experiment.Load(path, kinds.Language(), options())
	if len(found) > 0 {
		b.Fatal(found)
	}
	prices, err := price.Default()
	if err != nil {
		b.Fatal(err)
	}
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{})}
	b.Cleanup(func() { _ = env.Close() })
	return e, env
}

// deaf is a scenario in which no word of the prompt helps, although the model draws
// separately for each of them.
const deaf = `name: sim/NAME
drive:
  loop: {prompt: Fix the test., max_iterations: 1, no_progress_limit: 0}
backend:
  model: gpt-4.1-mini
  rules:
    - {when: {user: slowly}, one_of: [{chance: 0.5, text: DONE}, {text: I look at it.}]}
    - {when: {user: carefully}, one_of: [{chance: 0.5, text: DONE}, {text: I look at it.}]}
    - {when: {user: quickly}, one_of: [{chance: 0.5, text: DONE}, {text: I look at it.}]}
    - {one_of: [{chance: 0.5, text: DONE}, {text: I look at it.}]}
expect: {status: done, allow: [unused-line]}
seed: SEED
`

// thousand is an experiment of 1,000 trials.
var thousand = strings.NewReplacer("VARIANT", "good", "BELOW", "0.14", "CHANCE", "0.85", "TRIALS", "250").Replace(simulatedModels)

// BenchmarkThousandTrials runs an experiment of 1,000 trials on simulated models, with a
// journal on disk. BenchmarkThousandTrialsFloor runs the same trials without an
// experiment.
func BenchmarkThousandTrials(b *testing.B) {
	e, env := wholeExperiment(b, thousand)
	folder := b.TempDir()
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		n++
		res, err := e.Run(context.Background(), experiment.Options{
			Env: env, Workers: 2, Journal: filepath.Join(folder, strings.Repeat("x", n%50+1)+".jsonl"),
		})
		if err != nil || res.Stopped.Trials != 1000 {
			b.Fatal(res.Stopped, err)
		}
		b.StopTimer()
		_ = os.Remove(filepath.Join(folder, strings.Repeat("x", n%50+1)+".jsonl"))
		b.StartTimer()
	}
}

func BenchmarkThousandTrialsFloor(b *testing.B) {
	_, env := wholeExperiment(b, thousand)
	sc, found := scenarios.Parse("one.yaml", []byte(strings.NewReplacer("NAME", "one", "SEED", "1", "max_iterations: 2", "max_iterations: 1").Replace(task)), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	if len(found) > 0 {
		b.Fatal(found)
	}
	sc.Trials = 1000
	b.ReportAllocs()
	for b.Loop() {
		out, err := harness.Run(context.Background(), []scenarios.Scenario{sc}, harness.Options{Language: kinds.Language(), Workers: 2, Env: env, Sink: nowhere{}, Bare: true})
		if err != nil || out.Trials != 1000 {
			b.Fatal(out, err)
		}
	}
}

// nowhere is a sink that discards everything.
type nowhere struct{}

func (nowhere) Scenario(record.Scenario) error { return nil }
func (nowhere) Trial(harness.Judged) error     { return nil }
