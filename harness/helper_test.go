package harness_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/redact"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// parse parses a scenario; a missing name is added.
func parse(text string) scenarios.Scenario {
	GinkgoHelper()
	if !strings.Contains(text, "name:") {
		text = "name: spec/one\n" + text
	}
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
	Expect(found).To(BeEmpty())
	return sc
}

// newEnv returns the environment of a run. It is closed after the spec, when no goroutine of the run
// may be left.
func newEnv() *drive.Env {
	GinkgoHelper()
	before := gleak.Goroutines()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New([]string{secret})}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return env
}

// secret must not appear in the recordings of the specs.
const secret = "correct-horse-battery-staple"

// memory is a sink that keeps everything.
type memory struct {
	heads  []record.Scenario
	trials []harness.Judged
	// onTrial is called after each trial, with its place from 1.
	onTrial func(place int) error
	// begun is called with each scenario.
	begun func(record.Scenario) error
}

func (m *memory) Scenario(s record.Scenario) error {
	m.heads = append(m.heads, s)
	if m.begun != nil {
		return m.begun(s)
	}
	return nil
}

func (m *memory) Trial(j harness.Judged) error {
	m.trials = append(m.trials, j)
	if m.onTrial != nil {
		return m.onTrial(len(m.trials))
	}
	return nil
}

// order names the trials in the order of delivery.
func (m *memory) order() []string {
	names := []string{}
	for _, j := range m.trials {
		names = append(names, fmt.Sprintf("%s#%d", j.Trial.Head.Scenario, j.Trial.Head.N))
	}
	return names
}

// run executes a set and returns the sink with its trials.
func run(set []scenarios.Scenario, workers int) (*memory, harness.Outcome) {
	GinkgoHelper()
	sink := &memory{}
	outcome, err := harness.Run(context.Background(), set, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink})
	Expect(err).NotTo(HaveOccurred())
	return sink, outcome
}

// one executes a scenario of one trial.
func one(text string) harness.Judged {
	GinkgoHelper()
	sink, _ := run([]scenarios.Scenario{parse(text)}, 1)
	Expect(sink.trials).To(HaveLen(1))
	return sink.trials[0]
}

// stub is a driver whose trials are functions.
type stub struct {
	name   string
	trials int
	expect expect.Expect
	trial  func(ctx context.Context, n int) record.Trial
}

func (s stub) Head() record.Scenario {
	return record.Scenario{Name: s.name, Trials: s.trials, Seed: 7, Expect: s.expect}
}

func (s stub) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	trial := record.Trial{}
	if s.trial != nil {
		trial = s.trial(ctx, n)
	}
	trial.Head.Scenario, trial.Head.N = s.name, n
	return trial, nil
}

// planned names the trials of stubs in plan order.
func planned(stubs []drive.Driver) []string {
	var names []string
	for _, d := range stubs {
		head := d.Head()
		for n := range head.Trials {
			names = append(names, fmt.Sprintf("%s#%d", head.Name, n+1))
		}
	}
	return names
}

func (s stub) Perturbed([]perturb.Perturbation) (drive.Driver, error) { return s, nil }

func (s stub) Points() drive.Points { return drive.Points{} }
