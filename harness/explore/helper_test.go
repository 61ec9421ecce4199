package explore_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// newEnv returns the environment of an exploration. It is closed after the spec, and must
// not leave a goroutine.
func newEnv() *drive.Env {
	GinkgoHelper()
	before := gleak.Goroutines()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New(nil)}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return env
}

// load reads shipped scenarios or files.
func load(pattern string) []scenarios.Scenario {
	GinkgoHelper()
	set, found := scenarios.Load([]string{pattern}, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant})
	Expect(found).To(BeEmpty())
	return set
}

// write writes a scenario file and reads it.
func write(text string) scenarios.Scenario {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "spec.yaml")
	Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	return load(file)[0]
}

// run explores a scenario.
func run(sc scenarios.Scenario, opts explore.Options) result.Exploration {
	GinkgoHelper()
	opts.Env = newEnv()
	r, err := explore.Run(context.Background(), sc, opts)
	Expect(err).NotTo(HaveOccurred())
	return r
}

// cell returns the cell with the perturbations.
func cell(r result.Exploration, perturb ...string) result.Cell {
	GinkgoHelper()
	for _, c := range r.Cells {
		if strings.Join(c.Perturb, " ") == strings.Join(perturb, " ") {
			return c
		}
	}
	Fail(fmt.Sprintf("no cell %v among %d", perturb, len(r.Cells)))
	return result.Cell{}
}

// memory is a sink that stores everything.
type memory struct {
	heads  []record.Scenario
	trials []harness.Judged
}

func (m *memory) Scenario(s record.Scenario) error { m.heads = append(m.heads, s); return nil }
func (m *memory) Trial(j harness.Judged) error     { m.trials = append(m.trials, j); return nil }

// twoCalls is a loop that retries each call once.
const twoCalls = `name: spec/two-calls
drive:
  loop: {prompt: Fix it and say DONE., error_limit: 2, call_timeout: 1m}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: "I look at it first.", latency: 1s}
    - {text: "Fixed.\nDONE", latency: 1s}
expect: {status: done, calls: 2}
`

// ownAgent is a program that calls its model once in each of two turns and does not repeat a call.
// flags and options begin with a comma.
func ownAgent(flags, options string) string {
	GinkgoHelper()
	self, err := os.Executable()
	Expect(err).NotTo(HaveOccurred())
	return fmt.Sprintf(`name: spec/own
drive:
  command:
    {run: [%q%s], env: {REHEARSE_DEMO: command}, turns: [What is the capital of France?, And of Spain?]%s}
backend:
  model: gpt-4.1-mini
  rules:
    - {when: {user: {contains: France}}, text: It is Paris.}
    - {when: {user: {contains: Spain}}, text: It is Madrid.}
expect: {status: done, calls: 2}
`, self, flags, options)
}

var only = func(f ...result.Family) explore.Options {
	return explore.Options{Language: kinds.Language(), Families: f}
}

// full is a sink on a full disk.
type full struct{}

func (full) Scenario(record.Scenario) error { return nil }
func (full) Trial(harness.Judged) error     { return errors.New("no space left on device") }
