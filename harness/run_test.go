package harness_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

// stalled is the time limit of specs that must not block.
const stalled = SpecTimeout(30 * time.Second)

// three returns drivers of 12 trials in all.
func three(trial func(ctx context.Context, n int) record.Trial) []drive.Driver {
	return []drive.Driver{
		stub{name: "b", trials: 4, trial: trial}, stub{name: "a", trials: 5, trial: trial}, stub{name: "c", trials: 3, trial: trial},
	}
}

var _ = Describe("Results", Label("H-04"), func() {
	DescribeTable("are delivered in the order of the plan",
		func(workers int) {
			// Later trials finish first: each yields once for every trial after it.
			drivers := three(func(_ context.Context, n int) record.Trial {
				for range 100 * (6 - n) {
					runtime.Gosched()
				}
				return record.Trial{}
			})
			sink := &memory{}
			outcome, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink})
			Expect(err).NotTo(HaveOccurred())
			Expect(sink.order()).To(Equal(planned(drivers)))
			Expect(sink.heads).To(HaveExactElements(HaveField("Name", "b"), HaveField("Name", "a"), HaveField("Name", "c")))
			Expect(outcome).To(Equal(harness.Outcome{Trials: 12}))
		},
		Entry("with the default number of workers", 0), Entry("with one worker", 1), Entry("with two", 2),
		Entry("with more workers than trials", 1_000_000_000),
	)

	It("wait for a slow trial that finishes after later ones", stalled, func(SpecContext) {
		others := make(chan struct{})
		drivers := three(func(context.Context, int) record.Trial { return record.Trial{} })
		drivers[0] = stub{name: "b", trials: 4, trial: func(_ context.Context, n int) record.Trial {
			switch n {
			case 1:
				<-others
			case 4:
				close(others)
			}
			return record.Trial{}
		}}
		sink := &memory{}
		_, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(sink.order()).To(Equal(planned(drivers)))
	})

	It("are empty for an empty plan", func() {
		sink, outcome := run(nil, 2)
		Expect(sink.trials).To(BeEmpty())
		Expect(outcome).To(BeZero())
	})
})

// TestWorkersRunAheadBoundedly blocks the sink until all other goroutines are blocked: the trials
// that were run by then are all that a run can buffer.
func TestWorkersRunAheadBoundedly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := NewWithT(t)
		var driven atomic.Int64
		drivers := []drive.Driver{stub{name: "a", trials: 5000, trial: func(context.Context, int) record.Trial {
			driven.Add(1)
			return record.Trial{}
		}}}
		read, ended := make(chan struct{}), make(chan error)
		sink := &memory{onTrial: func(int) error { <-read; return nil }}
		go func() {
			_, err := harness.RunAll(t.Context(), drivers, harness.Options{Language: kinds.Language(), Workers: 2, Env: &drive.Env{}, Sink: sink})
			ended <- err
		}()
		synctest.Wait()
		const batch = 4
		g.Expect(driven.Load()).To(BeNumerically(">=", 2*16*batch), "workers wait for the sink too early")
		g.Expect(driven.Load()).To(BeNumerically("<=", (2*16+4)*batch), "workers run ahead of the sink")
		close(read)
		g.Expect(<-ended).To(Succeed())
		g.Expect(sink.trials).To(HaveLen(5000))
	})
}

var _ = Describe("A driver that panics", Label("H-04"), func() {
	It("makes the verdict error and reports the stack, and the run continues", func() {
		drivers := three(func(_ context.Context, n int) record.Trial {
			if n == 2 {
				panic(fmt.Sprintf("no luck with key %s", secret))
			}
			return record.Trial{}
		})
		sink := &memory{}
		outcome, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome).To(Equal(harness.Outcome{Trials: 12}))
		Expect(sink.order()).To(Equal(planned(drivers)))
		for _, j := range sink.trials {
			if j.Trial.Head.N != 2 {
				Expect(j.Verdict).To(Equal(gate.Pass))
				Expect(j.Stack).To(BeNil())
				continue
			}
			Expect(j.Verdict).To(Equal(gate.Error))
			Expect(j.Findings).To(HaveExactElements(And(
				HaveField("Rule", "harness"),
				HaveField("Evidence", "the driven agent or its driver panicked: no luck with key [REDACTED:secret]"),
			)))
			Expect(string(j.Stack)).To(ContainSubstring("run_test.go"))
			Expect(j.Trial.Head.Seed).To(Equal(drive.Seed(7, 2)), "the trial cannot be repeated without its seed")
			Expect(string(j.Lines)).NotTo(Or(ContainSubstring(secret), ContainSubstring("run_test.go")))
		}
	})
})

var _ = Describe("A sink that fails", func() {
	full := errors.New("the disk is full")

	DescribeTable("ends the run, which returns its error",
		func(_ SpecContext, workers, at int) {
			sink := &memory{onTrial: func(place int) error {
				if place == at {
					return full
				}
				return nil
			}}
			drivers := three(nil)
			outcome, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink})
			Expect(err).To(MatchError(full))
			Expect(sink.order()).To(Equal(planned(drivers)[:at]), "it receives no more trials")
			Expect(outcome.Trials).To(Equal(at - 1))
			Expect(outcome.Interrupted).To(BeFalse())
		},
		Entry("at the first trial", stalled, 1, 1), Entry("at the first trial, two workers", stalled, 2, 1),
		Entry("within a scenario", stalled, 2, 6), Entry("at the last trial", stalled, 8, 12),
	)

	It("leaves no trial running when the run returns, and starts no more", stalled, func(SpecContext) {
		var begun, active atomic.Int64
		// Few trials are sent one by one.
		drivers := []drive.Driver{stub{name: "a", trials: 100, trial: func(ctx context.Context, n int) record.Trial {
			begun.Add(1)
			active.Add(1)
			if n > 1 {
				<-ctx.Done() // and then it is slow to return
				for range 10_000 {
					runtime.Gosched()
				}
			}
			active.Add(-1)
			return record.Trial{}
		}}}
		sink := &memory{onTrial: func(int) error { return full }}
		_, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: 4, Env: newEnv(), Sink: sink})
		Expect(err).To(MatchError(full))
		Expect(active.Load()).To(BeZero())
		Expect(begun.Load()).To(BeNumerically("<=", 1+4))
	})

	It("ends the run at a scenario", stalled, func(SpecContext) {
		sink := &memory{begun: func(s record.Scenario) error {
			if s.Name == "a" {
				return full
			}
			return nil
		}}
		outcome, err := harness.RunAll(context.Background(), three(nil), harness.Options{Language: kinds.Language(), Workers: 2, Env: newEnv(), Sink: sink})
		Expect(err).To(MatchError(full))
		Expect(outcome).To(Equal(harness.Outcome{Trials: 4, NotRun: []string{"a", "c"}}))
	})
})

var _ = Describe("A run that is interrupted", Label("L-09"), func() {
	// without lists the scenarios without a delivered trial.
	without := func(drivers []drive.Driver, delivered []string) []string {
		var names []string
		for _, d := range drivers {
			if name := d.Head().Name; !strings.Contains(strings.Join(delivered, " "), name+"#1") {
				names = append(names, name)
			}
		}
		return names
	}

	for _, workers := range []int{1, 2, 8} {
		for at := range 13 {
			It(fmt.Sprintf("after %d of 12 trials keeps them and names the scenarios that were not run (%d workers)", at, workers), stalled, func(SpecContext) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				drivers := three(nil)
				sink := &memory{onTrial: func(place int) error {
					if place == at {
						cancel()
					}
					return nil
				}}
				if at == 0 {
					cancel()
				}
				outcome, err := harness.RunAll(ctx, drivers, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink})
				Expect(err).NotTo(HaveOccurred())
				delivered := sink.order()
				Expect(len(delivered)).To(BeNumerically(">=", at))
				Expect(delivered).To(Equal(planned(drivers)[:len(delivered)]))
				Expect(outcome).To(Equal(harness.Outcome{
					Trials: len(delivered), Interrupted: len(delivered) < 12, NotRun: without(drivers, delivered),
				}))
			})

			It(fmt.Sprintf("during trial %d abandons that trial (%d workers)", at+1, workers), stalled, func(SpecContext) {
				ctx, cancel := context.WithCancel(context.Background())
				defer cancel()
				var begun atomic.Int64
				drivers := three(func(ctx context.Context, _ int) record.Trial {
					if begun.Add(1) > int64(at) {
						cancel()
						<-ctx.Done()
					}
					return record.Trial{}
				})
				sink := &memory{}
				outcome, err := harness.RunAll(ctx, drivers, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink})
				Expect(err).NotTo(HaveOccurred())
				delivered := sink.order()
				if workers == 1 {
					Expect(len(delivered)).To(BeNumerically("<=", min(at, 12)))
				}
				Expect(delivered).To(Equal(planned(drivers)[:len(delivered)]))
				Expect(outcome).To(Equal(harness.Outcome{
					Trials: len(delivered), Interrupted: at < 12, NotRun: without(drivers, delivered),
				}))
			})
		}
	}

	It("keeps the trials that were finished at the interruption, even if an earlier one was delivered late", stalled, func(SpecContext) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		finished := make(chan struct{})
		drivers := []drive.Driver{stub{name: "a", trials: 3, trial: func(ctx context.Context, n int) record.Trial {
			if n == 3 { // the one worker has finished the two before
				close(finished)
				<-ctx.Done()
			}
			return record.Trial{}
		}}}
		sink := &memory{onTrial: func(place int) error {
			if place == 1 {
				<-finished
				cancel()
			}
			return nil
		}}
		outcome, err := harness.RunAll(ctx, drivers, harness.Options{Language: kinds.Language(), Workers: 1, Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome).To(Equal(harness.Outcome{Trials: 2, Interrupted: true}))
	})

	It("ends running agents", Label("L-04"), stalled, func(SpecContext) {
		ctx, cancel := context.WithCancel(context.Background())
		defer cancel()
		sc := parse(`
drive: {loop: {prompt: Go on., timeout: 1h, max_iterations: 3}}
backend:
  as: exec
  model: gpt-4.1-mini
  replies: [{text: Working.}, {fault: hang}]
expect: {status: done}
`)
		second := parse("name: spec/two\n" + `
drive: {loop: {prompt: Go on.}}
backend: {model: gpt-4.1-mini, replies: [{text: DONE}]}
expect: {status: done}
`)
		env := newEnv()
		driver, err := drive.New(sc, env)
		Expect(err).NotTo(HaveOccurred())
		after, err := drive.New(second, env)
		Expect(err).NotTo(HaveOccurred())
		timer := time.AfterFunc(300*time.Millisecond, cancel) // the child process runs in real time
		defer timer.Stop()
		sink := &memory{}
		outcome, err := harness.RunAll(ctx, []drive.Driver{driver, after}, harness.Options{Language: kinds.Language(), Workers: 1, Env: env, Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome).To(Equal(harness.Outcome{Interrupted: true, NotRun: []string{"spec/one", "spec/two"}}))
	})
})

var _ = Describe("A scenario that cannot be prepared", func() {
	It("is named before any trial runs", func() {
		good := parse("drive: {loop: {prompt: Go.}}\nbackend: {model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: done}")
		bad := scenarios.Scenario{Name: "spec/nothing"}
		sink := &memory{}
		_, err := harness.Run(context.Background(), []scenarios.Scenario{good, bad}, harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: sink})
		Expect(err).To(MatchError("prepare scenario spec/nothing: the scenario drives no agent"))
		Expect(sink.heads).To(BeEmpty())
	})

	It("is named if its expectations do not compile", func() {
		drivers := []drive.Driver{stub{name: "spec/x", trials: 1, expect: expect.Expect{That: []string{"run.x"}}}}
		_, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: &memory{}})
		Expect(err).To(MatchError(ContainSubstring("prepare scenario spec/x: expect.that[0]: column 4")))
	})
})
