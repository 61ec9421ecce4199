package harness_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("a run that ends at its failures", Label("H-01"), func() {
	done := expect.Expect{Status: "done"}
	// verdicts returns a scenario whose trials end as the letters say: p(ass), f(ail), e(rror).
	verdicts := func(name, letters string) drive.Driver {
		return stub{name: name, trials: len(letters), expect: done, trial: func(_ context.Context, n int) record.Trial {
			switch letters[n-1] {
			case 'f':
				return record.Trial{End: record.End{Status: "failed"}}
			case 'e':
				return record.Trial{End: record.End{Status: "error", HarnessError: "no answer"}}
			}
			return record.Trial{End: record.End{Status: "done"}}
		}}
	}
	plan := func() []drive.Driver {
		return []drive.Driver{verdicts("a", "pp"), verdicts("b", "pfffp"), verdicts("c", "e"), verdicts("d", "ppf")}
	}
	run := func(ctx context.Context, drivers []drive.Driver, failFast, workers int) (*memory, harness.Outcome) {
		GinkgoHelper()
		sink := &memory{}
		outcome, err := harness.RunAll(ctx, drivers, harness.Options{
			Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink, FailFast: failFast,
		})
		Expect(err).NotTo(HaveOccurred())
		return sink, outcome
	}

	DescribeTable("ends after the same trial with any number of workers", func(failFast int, want harness.Outcome) {
		for _, workers := range []int{1, 2, 7} {
			sink, outcome := run(context.Background(), plan(), failFast, workers)
			Expect(outcome).To(Equal(want), "%d workers", workers)
			Expect(sink.order()).To(Equal(planned(plan())[:want.Trials]))
		}
	},
		Entry("at the first failed trial", 1, harness.Outcome{
			Trials: 4, FailFast: true, Stopped: "1 scenario failed, which ends the run (fail-fast)", NotRun: []string{"c", "d"},
		}),
		Entry("at the second failed scenario, which is an error", 2, harness.Outcome{
			Trials: 8, FailFast: true, Stopped: "2 scenarios failed, which ends the run (fail-fast)", NotRun: []string{"d"},
		}),
		Entry("at the last trial of the plan, with which it is done", 3, harness.Outcome{Trials: 11}),
		Entry("not at all", 4, harness.Outcome{Trials: 11}),
		Entry("without a limit", 0, harness.Outcome{Trials: 11}),
	)

	It("abandons the trials that are running", stalled, func(ctx SpecContext) {
		begun := make(chan struct{})
		slow := stub{name: "z", trials: 1, trial: func(ctx context.Context, _ int) record.Trial {
			close(begun)
			<-ctx.Done() // an agent that works for hours
			return record.Trial{End: record.End{Status: "done"}}
		}}
		failing := stub{name: "a", trials: 1, expect: done, trial: func(context.Context, int) record.Trial {
			<-begun
			return record.Trial{End: record.End{Status: "failed"}}
		}}
		_, outcome := run(ctx, []drive.Driver{failing, slow}, 1, 2)
		Expect(outcome.Trials).To(Equal(1))
		Expect(outcome.NotRun).To(Equal([]string{"z"}))
		Expect(outcome.FailFast).To(BeTrue())
		Expect(outcome.Interrupted).To(BeFalse())
	})
})
