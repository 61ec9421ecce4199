package harness_test

import (
	"context"
	"fmt"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
)

// priced is a stub whose costs are known.
type priced struct{ stub }

func (p priced) Head() record.Scenario {
	head := p.stub.Head()
	head.Price = &price.Quote{Currency: "USD", Input: 500_000, EURPerUSD: 0.8}
	return head
}

// worded is a stub with a simulated user whose model costs half a dollar a token.
type worded struct{ priced }

func (w worded) Head() record.Scenario {
	head := w.priced.Head()
	head.User = &record.UserModel{Backend: "live", Price: head.Price}
	return head
}

var _ = Describe("a budget for the whole run", Label("H-06"), func() {
	// calling returns a trial of n calls at half a dollar each, or of unknown cost.
	calling := func(n int, known bool) func(context.Context, int) record.Trial {
		return func(context.Context, int) record.Trial {
			trial := record.Trial{End: record.End{Status: "done"}}
			for i := range n {
				call := record.Call{N: i + 1}
				if known {
					call.Usage = &llm.Usage{Input: 1}
				}
				trial.Calls = append(trial.Calls, call)
			}
			return trial
		}
	}
	plan := func(trial func(context.Context, int) record.Trial) []drive.Driver {
		return []drive.Driver{
			priced{stub{name: "a", trials: 3, trial: trial}}, priced{stub{name: "b", trials: 3, trial: trial}}, priced{stub{name: "c", trials: 2, trial: trial}},
		}
	}
	within := func(drivers []drive.Driver, budget harness.Budget, workers int) (*memory, harness.Outcome) {
		GinkgoHelper()
		sink := &memory{}
		outcome, err := harness.RunAll(context.Background(), drivers, harness.Options{Language: kinds.Language(), Workers: workers, Env: newEnv(), Sink: sink, Budget: budget})
		Expect(err).NotTo(HaveOccurred())
		return sink, outcome
	}

	DescribeTable("ends the run after the trial that used it up, with any number of workers",
		func(budget harness.Budget, trial func(context.Context, int) record.Trial, trials int, stopped string, notRun ...string) {
			for _, workers := range []int{1, 2, 7} {
				sink, outcome := within(plan(trial), budget, workers)
				Expect(outcome).To(Equal(harness.Outcome{Trials: trials, Stopped: stopped, NotRun: notRun}), "%d workers", workers)
				Expect(sink.order()).To(Equal(planned(plan(trial))[:trials]))
				Expect(sink.heads).To(HaveLen(3 - len(notRun)))
			}
		},
		Entry("calls, exactly", harness.Budget{Calls: 8}, calling(2, true), 4, "the budget of 8 calls is used up: the run made 8", "c"),
		Entry("calls, by the last one", harness.Budget{Calls: 7}, calling(2, true), 4, "the budget of 7 calls is used up: the run made 8", "c"),
		Entry("calls, at the end of a scenario", harness.Budget{Calls: 5}, calling(2, true), 3, "the budget of 5 calls is used up: the run made 6", "b", "c"),
		Entry("calls, at once", harness.Budget{Calls: 1}, calling(2, true), 1, "the budget of 1 call is used up: the run made 2", "b", "c"),
		Entry("money", harness.Budget{Cost: quantity.Money{Amount: 4, Currency: quantity.USD}}, calling(2, true), 4, "the budget of 4 USD is used up: the run spent 4 USD", "c"),
		Entry("money in another currency", harness.Budget{Cost: quantity.Money{Amount: 3.2, Currency: quantity.EUR}}, calling(2, true), 4, "the budget of 3.2 EUR is used up: the run spent 3.2 EUR", "c"),
		Entry("the first of two", harness.Budget{Calls: 4, Cost: quantity.Money{Amount: 100, Currency: quantity.USD}}, calling(2, true), 2, "the budget of 4 calls is used up: the run made 4", "b", "c"),
		Entry("unknown cost", harness.Budget{Cost: quantity.Money{Amount: 100, Currency: quantity.EUR}}, calling(2, false), 1, "a budget of 100 EUR is given, and what a costs is unknown", "b", "c"),
	)

	It("counts the model of a simulated user, whose calls are not the agent's", func() {
		trial := func(context.Context, int) record.Trial {
			spent := event.New(2, "", record.UserCall{Usage: &llm.Usage{Input: 1}})
			return record.Trial{End: record.End{Status: "done"}, Events: []record.Event{{Event: spent}}}
		}
		drivers := []drive.Driver{worded{priced{stub{name: "a", trials: 8, trial: trial}}}}
		sink, outcome := within(drivers, harness.Budget{Calls: 3}, 2)
		Expect(outcome.Stopped).To(Equal("the budget of 3 calls is used up: the run made 3"))
		Expect(sink.order()).To(HaveLen(3))
		_, outcome = within(drivers, harness.Budget{Cost: quantity.Money{Amount: 1.6, Currency: quantity.EUR}}, 2)
		Expect(outcome.Stopped).To(Equal("the budget of 1.6 EUR is used up: the run spent 1.6 EUR"))
	})

	DescribeTable("does not end a run within it", func(budget harness.Budget, trial func(context.Context, int) record.Trial) {
		_, outcome := within(plan(trial), budget, 3)
		Expect(outcome).To(Equal(harness.Outcome{Trials: 8}))
	},
		Entry("none", harness.Budget{}, calling(2, false)),
		Entry("used up by the last trial", harness.Budget{Calls: 16, Cost: quantity.Money{Amount: 8, Currency: quantity.USD}}, calling(2, true)),
		Entry("no calls, no cost", harness.Budget{Calls: 1, Cost: quantity.Money{Amount: 1, Currency: quantity.EUR}}, calling(0, false)),
	)

	It("ends the run when the time is up, with the trials completed so far", func() {
		virtual := clock.NewVirtual()
		slow := func(ctx context.Context, n int) record.Trial {
			_ = virtual.Sleep(context.Background(), time.Minute)
			return record.Trial{End: record.End{Status: fmt.Sprint(clock.Err(ctx))}}
		}
		sink, outcome := within(plan(slow), harness.Budget{Time: 150 * time.Second, Clock: virtual}, 1)
		Expect(outcome).To(Equal(harness.Outcome{Trials: 2, Stopped: "the budget of 2m30s is used up", NotRun: []string{"b", "c"}}))
		Expect(sink.order()).To(Equal([]string{"a#1", "a#2"}), "the running trial is abandoned")
	})

	It("is not reported as an interruption, nor an interruption as a used-up budget", func() {
		ctx, interrupt := context.WithCancel(context.Background())
		drivers := plan(func(context.Context, int) record.Trial { interrupt(); return record.Trial{} })
		outcome, err := harness.RunAll(ctx, drivers, harness.Options{
			Language: kinds.Language(),
			Workers:  1, Env: newEnv(), Sink: &memory{}, Budget: harness.Budget{Calls: 100, Time: time.Hour, Clock: clock.NewVirtual()},
		})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome.Interrupted).To(BeTrue())
		Expect(outcome.Stopped).To(BeEmpty())
	})
})
