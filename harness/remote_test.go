package harness_test

import (
	"context"
	"errors"
	"sync/atomic"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// remote runs trials by way of their encoded lines, as another machine does.
type remote struct {
	trials *harness.Trials
	ran    atomic.Int32
	// fails returns the error of a trial, if it has one.
	fails func(i, n int) error
	// other is the number of the trial that is returned instead; 0 for the right one.
	other int
}

func (r *remote) Trial(ctx context.Context, i, n int) (record.Trial, []record.Timing, error) {
	if r.fails != nil {
		if err := r.fails(i, n); err != nil {
			return record.Trial{}, nil, err
		}
	}
	r.ran.Add(1)
	if r.other > 0 {
		n = r.other
	}
	judged, err := r.trials.Run(ctx, i, n)
	if err != nil {
		return record.Trial{}, nil, err
	}
	trials, err := record.Decode(judged.Lines)
	if err != nil {
		return record.Trial{}, nil, err
	}
	return trials[0], judged.Timings, nil
}

var _ = Describe("trials that run elsewhere", Label("H-04"), func() {
	plan := func() []scenarios.Scenario {
		GinkgoHelper()
		set, diagnostics := scenarios.Load([]string{"shipped:loop/golden-marker", "shipped:loop/no-progress", "shipped:loop/blocked-marker"},
			scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
		Expect(diagnostics.Err()).NotTo(HaveOccurred())
		for i := range set {
			set[i].Trials = 5
		}
		return set
	}
	perform := func(r *remote, fails func(i, n int) error) (*memory, harness.Outcome, error) {
		GinkgoHelper()
		opts := harness.Options{Language: kinds.Language(), Workers: 3, Env: newEnv(), Sink: &memory{}}
		if r != nil {
			var err error
			r.trials, err = harness.Prepare(plan(), opts)
			Expect(err).NotTo(HaveOccurred())
			r.fails, opts.Remote = fails, r
		}
		sink := &memory{}
		opts.Sink = sink
		outcome, err := harness.Run(context.Background(), plan(), opts)
		return sink, outcome, err
	}

	It("give the same recording as trials that run here", func() {
		r := &remote{}
		here, _, err := perform(nil, nil)
		Expect(err).NotTo(HaveOccurred())
		there, outcome, err := perform(r, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome).To(Equal(harness.Outcome{Trials: 15}))
		Expect(r.ran.Load()).To(BeEquivalentTo(15))
		Expect(there.heads).To(Equal(here.heads))
		for i := range here.trials {
			Expect(string(there.trials[i].Lines)).To(Equal(string(here.trials[i].Lines)))
			Expect(there.trials[i].Verdict).To(Equal(here.trials[i].Verdict))
			Expect(there.trials[i].Facts.Cost).To(Equal(here.trials[i].Facts.Cost))
			Expect(there.trials[i].Findings).To(Equal(here.trials[i].Findings))
		}
	})

	It("are errors if they are lost, and the others go on", func() {
		sink, outcome, err := perform(&remote{}, func(i, n int) error {
			if i == 1 && n == 2 {
				return &harness.LostTrialError{Reason: "it killed its worker; " + secret}
			}
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome).To(Equal(harness.Outcome{Trials: 15}))
		for i, j := range sink.trials {
			if i != 6 {
				Expect(j.Verdict).To(Equal(gate.Pass))
				continue
			}
			Expect(j.Verdict).To(Equal(gate.Error))
			Expect(j.Trial.End.HarnessError).To(HavePrefix("it killed its worker; "))
			Expect(string(j.Lines)).NotTo(ContainSubstring(secret))
			Expect(j.Trial.Head.Seed).NotTo(BeZero())
		}
	})

	It("end the run without a verdict if the other machines cannot be reached", func() {
		sink, outcome, err := perform(&remote{}, func(i, _ int) error {
			if i == 1 {
				return errors.New("the queue failed")
			}
			return nil
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome.Stopped).To(Equal("the queue failed"))
		Expect(outcome.Interrupted).To(BeFalse())
		Expect(outcome.NotRun).To(HaveLen(2))
		Expect(sink.trials).To(HaveLen(5))
	})

	It("end the run if another trial is returned", func() {
		_, outcome, err := perform(&remote{other: 2}, nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome.Stopped).To(MatchRegexp("received trial 2 of loop/.* instead of trial 1 of loop/"))
	})

	It("are refused if the plan does not have them", func() {
		r := &remote{}
		_, _, err := perform(r, nil)
		Expect(err).NotTo(HaveOccurred())
		for _, at := range [][2]int{{-1, 1}, {3, 1}, {0, 0}, {0, 6}} {
			_, err := r.trials.Run(context.Background(), at[0], at[1])
			Expect(err).To(MatchError(ContainSubstring("is not in the plan")))
		}
	})

	It("report why they ended early", func() {
		r := &remote{}
		_, _, err := perform(r, nil)
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := context.WithCancelCause(context.Background())
		why := errors.New("the run has ended")
		cancel(why)
		_, err = r.trials.Run(ctx, 0, 1)
		Expect(err).To(MatchError(why))
	})
})
