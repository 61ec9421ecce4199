package explore_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// shortInterview ends after the first questions.
const shortInterview = `name: spec/short-interview
drive:
  interview:
    persona: lea
    pause: 3s
    moves:
      - {at: BLOC_01/0, do: reload}
      - {at: BLOC_01/1, do: restart}
      - {at: BLOC_01/2, do: leave}
backend: {model: gpt-6.1-terra, cast: lea}
expect: {status: left, exit_code: 0, calls: 2}
`

var _ = Describe("Runs that start in the middle of the golden path", func() {
	It("equal the runs from the beginning, byte for byte", func() {
		r := run(write(shortInterview), explore.Options{Language: kinds.Language(), Workers: 2, CompareOneIn: 1, Pairs: 30})
		points := map[string]int{}
		for _, c := range r.Cells {
			Expect(c.Outcome).NotTo(Equal(result.Errored), "%v", c)
			for _, text := range c.Perturb {
				point, _, _ := strings.Cut(text, "=")
				points[point]++
			}
		}
		Expect(points).To(And(HaveKeyWithValue("call", BeNumerically(">", 50)), HaveKeyWithValue("write", BeNumerically(">", 5)),
			HaveKeyWithValue("turn", BeNumerically(">", 20))))
	})

	var sc scenarios.Scenario
	BeforeEach(func() { sc = write(twoCalls) })

	// explored explores the scenario with an agent that makes two calls and forks at a state that skips calls.
	explored := func(skips int, opts explore.Options) result.Exploration {
		GinkgoHelper()
		opts.Env, opts.Language = newEnv(), kinds.Language()
		opts.Env.Makers = map[string]drive.Maker{"loop": func(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
			return drive.NewAgent(sc, env, drive.Agent{Forks: true, Run: func(ctx context.Context, t *drive.Trial) record.End {
				return twoTurns(ctx, t, skips)
			}})
		}}
		r, err := explore.Run(context.Background(), sc, opts)
		Expect(err).NotTo(HaveOccurred())
		return r
	}
	errored := func(r result.Exploration) (cells []result.Cell) {
		for _, c := range r.Cells {
			if c.Outcome == result.Errored {
				cells = append(cells, c)
			}
		}
		return cells
	}

	It("have the result of the runs from the beginning", func() {
		Expect(errored(explored(0, explore.Options{CompareOneIn: 1}))).To(BeEmpty())
		Expect(explored(0, explore.Options{}).Cells).To(BeComparableTo(explored(0, explore.Options{Thorough: true}).Cells))
	})

	It("have no verdict if they differ", func() {
		r := explored(1, explore.Options{CompareOneIn: 1, Families: []result.Family{result.Faults}})
		Expect(errored(r)).To(HaveLen(len(r.Cells)))
		for _, c := range r.Cells {
			Expect(fmt.Sprint(c.Findings)).To(ContainSubstring(
				"a run that shares the beginning of the golden path differs from the full run in line"))
			Expect(fmt.Sprint(c.Findings)).To(ContainSubstring("of the recording of spec/two-calls [" + c.Perturb[0] + "]"))
		}
	})

	It("are compared for a sample that the seed chooses", func() {
		opts := explore.Options{CompareOneIn: 5, Families: []result.Family{result.Faults, result.Texts, result.Latency}}
		r := explored(1, opts)
		some := errored(r)
		Expect(len(some)).To(And(BeNumerically(">", 0), BeNumerically("<", len(r.Cells)/2)))
		opts.Workers = 2
		Expect(errored(explored(1, opts))).To(Equal(some))
		opts.Seed = 2
		Expect(errored(explored(1, opts))).NotTo(Equal(some))
	})

	It("are not driven by a thorough exploration", func() {
		Expect(errored(explored(1, explore.Options{Thorough: true, CompareOneIn: 1}))).To(BeEmpty())
	})
})

// twoTurns makes a call in each of two turns, and repeats a call that fails once.
func twoTurns(ctx context.Context, t *drive.Trial, skips int) record.End {
	turn := 0
	if from, ok := t.ForkedAt().(*int); ok {
		turn = *from + skips
	}
	for ; turn < 2; turn++ {
		t.Checkpoint(0, turn, func() any { now := turn; return &now })
		var err error
		for range 2 {
			req := llm.Request{Model: "gpt-4.1-mini", Purpose: "loop", Messages: []llm.Message{{Role: llm.User, Content: fmt.Sprint("turn ", turn)}}}
			if _, err = t.Backend.Complete(ctx, req); err == nil {
				break
			}
		}
		if err != nil {
			return record.End{Status: "error", ExitCode: 1, Details: err.Error()}
		}
		t.Sink.Emit(event.Event{Kind: event.Iteration, N: turn + 1})
	}
	return record.End{Status: "done", Iterations: turn, Text: "Fixed.\nDONE"}
}
