package queue

import (
	"context"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// scratchQueue opens an empty queue on the server that REHEARSE_TEST_POSTGRES names.
func scratchQueue(ctx SpecContext) *Store {
	GinkgoHelper()
	server := os.Getenv("REHEARSE_TEST_POSTGRES")
	if server == "" {
		Skip("REHEARSE_TEST_POSTGRES names no server")
	}
	dsn, drop, err := database.Scratch(ctx, server)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(drop)
	s, err := Open(ctx, dsn, 8)
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(s.Close)
	return s
}

// liveRun is a run with live models, of which only the coordinator is there.
func liveRun(ctx SpecContext, limits Live) *Coordinator {
	GinkgoHelper()
	plan := Plan{Header: record.Run{ID: "0123", Trials: 2}, Scenarios: []Scenario{{Name: "a", Trials: 2}}, Live: true}
	c, err := scratchQueue(ctx).Coordinate(ctx, plan, Options{
		Program: "p", Lease: time.Hour, Live: &limits, Clock: clock.Real(), Log: func(string) {},
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(func(ctx SpecContext) { Expect(c.Close(ctx, false)).To(Succeed()) })
	return c
}

// meterFor returns the meter of a job of a worker.
func (c *Coordinator) meterFor(worker string) *meter {
	return &meter{
		pool: c.store.pool, clock: clock.Real(), run: c.id, worker: worker, until: context.Background(), maxOutput: 100,
		stop: func(error) {},
	}
}

// amounts returns what a run has spent and holds.
func (c *Coordinator) amounts(ctx context.Context) (calls int, spent, held float64) {
	GinkgoHelper()
	Expect(c.store.pool.QueryRow(ctx, "SELECT calls, spent::float8, held::float8 FROM meter WHERE run = $1", c.id).
		Scan(&calls, &spent, &held)).To(Succeed())
	return calls, spent, held
}

// cents is a live call that costs at most this, and of which the reply has the cost.
func cents(most float64) drive.Call {
	return drive.Call{Live: true, MostUSD: most / 100, CostUSD: func(r llm.Reply, _ error) float64 { return *r.ReportedUSD }}
}

func costing(cents float64) llm.Reply {
	usd := cents / 100
	return llm.Reply{Usage: &llm.Usage{Input: 1}, ReportedUSD: &usd}
}

// contract is what all meters do. make returns a meter with caps.
func contract(make func(ctx SpecContext, calls int, usd float64) drive.Meter) {
	It("allows exactly as many calls as the cap, whoever makes them", func(ctx SpecContext) {
		m := make(ctx, 7, 0)
		var granted atomic.Int32
		var all sync.WaitGroup
		for range 4 {
			all.Go(func() {
				for range 5 {
					if settle, err := m.Reserve(ctx, cents(1)); err == nil {
						granted.Add(1)
						settle(costing(1), nil)
					}
				}
			})
		}
		all.Wait()
		Expect(granted.Load()).To(BeEquivalentTo(7))
	})

	It("refuses a call when the cost is used up", func(ctx SpecContext) {
		m := make(ctx, 0, 0.05)
		for range 5 {
			settle, err := m.Reserve(ctx, cents(1))
			Expect(err).NotTo(HaveOccurred())
			settle(costing(1), nil)
		}
		_, err := m.Reserve(ctx, cents(1))
		Expect(err).To(MatchError(ContainSubstring("budget")))
	})

	It("allows everything without a cap", func(ctx SpecContext) {
		m := make(ctx, 0, 0)
		for range 20 {
			settle, err := m.Reserve(ctx, drive.Call{Live: true, Unpriced: "house-model", CostUSD: func(llm.Reply, error) float64 { return 0 }})
			Expect(err).NotTo(HaveOccurred())
			settle(llm.Reply{}, nil)
		}
	})
}

var _ = Describe("a meter in this process", Label("H-04"), func() {
	contract(func(_ SpecContext, calls int, usd float64) drive.Meter {
		return drive.BudgetMeter{Budget: llm.NewBudget(llm.Caps{Calls: calls, Cost: quantity.Money{Amount: usd, Currency: quantity.USD}}, nil, 0)}
	})
})

var _ = Describe("a meter in PostgreSQL", Label("H-04"), func() {
	contract(func(ctx SpecContext, calls int, usd float64) drive.Meter {
		return liveRun(ctx, Live{Calls: calls, CostUSD: usd}).meterFor("w1")
	})

	It("never lets the holds and the cost of all workers exceed the cap, and uses it to the last call", func(ctx SpecContext) {
		c := liveRun(ctx, Live{CostUSD: 0.20})
		var all sync.WaitGroup
		for _, worker := range []string{"w1", "w2", "w3", "w4"} {
			all.Go(func() {
				defer GinkgoRecover()
				for {
					settle, err := c.meterFor(worker).Reserve(ctx, cents(5))
					if err != nil {
						Expect(err).To(MatchError(errRefused))
						return
					}
					_, spent, held := c.amounts(ctx)
					Expect(spent + held).To(BeNumerically("<=", 0.20))
					settle(costing(1), nil)
				}
			})
		}
		all.Wait()
		calls, spent, held := c.amounts(ctx)
		Expect(calls).To(Equal(16), "after 16 calls of 1 cent, one of 5 does not fit")
		Expect([]float64{spent, held}).To(Equal([]float64{0.16, 0}))
		Expect(c.checkCaps(ctx)).To(MatchError(ContainSubstring("16 live calls cost 0.16 USD, and the next one can cost 0.05 USD")))
	})

	It("waits while only the holds of others are in the way", func(ctx SpecContext) {
		c := liveRun(ctx, Live{CostUSD: 0.10})
		first, err := c.meterFor("w1").Reserve(ctx, cents(8))
		Expect(err).NotTo(HaveOccurred())
		waiting := c.meterFor("w2")
		waits := 0
		waiting.clock = sleeper{func(time.Duration) {
			if waits++; waits == 3 {
				first(costing(1), nil)
			}
		}}
		second, err := waiting.Reserve(ctx, cents(8))
		Expect(err).NotTo(HaveOccurred())
		Expect(waits).To(Equal(3))

		waits = 0
		waiting.clock = sleeper{func(time.Duration) {
			if waits++; waits == 3 {
				second(costing(8), nil)
			}
		}}
		_, err = waiting.Reserve(ctx, cents(10))
		Expect(err).To(MatchError(errRefused))
		Expect(waits).To(Equal(3), "a run does not end while a call that is paid is answered")
	})

	It("refuses a call of unknown cost under a cap, and none of a scripted model", func(ctx SpecContext) {
		c := liveRun(ctx, Live{CostUSD: 1, Cost: quantity.Money{Amount: 1, Currency: quantity.USD}})
		m := c.meterFor("w1")
		var stopped error
		m.stop = func(err error) { stopped = err }
		_, err := m.Reserve(ctx, drive.Call{Live: true, Unpriced: "house-model"})
		Expect(err).To(MatchError(errRefused))
		Expect(stopped).To(MatchError(errRefused))
		Expect(c.checkCaps(ctx)).To(MatchError(`a budget of 1 USD is given, and the price of "house-model" is unknown`))
		_, err = m.Reserve(ctx, drive.Call{})
		Expect(err).NotTo(HaveOccurred())
		calls, _, _ := c.amounts(ctx)
		Expect(calls).To(BeZero())
	})

	It("counts the holds of a worker that is gone as spent, once", func(ctx SpecContext) {
		c := liveRun(ctx, Live{CostUSD: 1})
		settle, err := c.meterFor("dead").Reserve(ctx, cents(8))
		Expect(err).NotTo(HaveOccurred())
		_, err = c.meterFor("alive").Reserve(ctx, cents(4))
		Expect(err).NotTo(HaveOccurred())
		_, err = c.store.pool.Exec(ctx, `INSERT INTO worker (id, host, pid, program, slots, tags, beat)
			VALUES ('alive', 'h', 1, 'p', 1, '{}', now()), ('dead', 'h', 2, 'p', 1, '{}', now() - interval '1 hour')`)
		Expect(err).NotTo(HaveOccurred())
		minuteAgo := time.Now().Add(-time.Minute)
		reap := func(since *time.Time) {
			GinkgoHelper()
			Expect(pgx.BeginFunc(ctx, c.store.pool, func(tx pgx.Tx) error { return spendHolds(ctx, tx, c.id, since) })).To(Succeed())
		}
		reap(&minuteAgo)
		reap(&minuteAgo)
		settle(costing(1), nil) // the worker has only been slow
		_, spent, held := c.amounts(ctx)
		Expect([]float64{spent, held}).To(Equal([]float64{0.08, 0.04}))
		reap(nil)
		_, spent, held = c.amounts(ctx)
		Expect([]float64{spent, held}).To(Equal([]float64{0.12, 0}))
	})

	It("ends with the call that waits", func(ctx SpecContext) {
		c := liveRun(ctx, Live{CostUSD: 0.10})
		_, err := c.meterFor("w1").Reserve(ctx, cents(8))
		Expect(err).NotTo(HaveOccurred())
		call, end := context.WithCancelCause(ctx)
		m := c.meterFor("w2")
		m.clock = sleeper{func(time.Duration) { end(context.DeadlineExceeded) }}
		m.stop = func(error) { Fail("the job goes on") }
		_, err = m.Reserve(call, cents(8))
		Expect(err).To(MatchError(context.DeadlineExceeded))
		_, _, held := c.amounts(ctx)
		Expect(held).To(Equal(0.08))
	})
})

// sleeper is a clock that does not sleep.
type sleeper struct{ slept func(time.Duration) }

func (sleeper) Now() time.Time { return time.Time{} }

func (s sleeper) Sleep(ctx context.Context, d time.Duration) error {
	s.slept(d)
	return context.Cause(ctx)
}

func (sleeper) WithTimeout(ctx context.Context, _ time.Duration) (context.Context, context.CancelFunc) {
	return context.WithCancel(ctx)
}

func (sleeper) AfterFunc(time.Duration, func()) func() { return func() {} }

var _ = Describe("the pace of a provider", Label("H-04"), func() {
	var slept []time.Duration
	// waits makes a request at the pace of a worker, and returns for how long it slept.
	waits := func(ctx SpecContext, c *Coordinator, worker, provider string, meanwhile func()) []time.Duration {
		GinkgoHelper()
		m := c.meterFor(worker)
		slept = nil
		m.clock = sleeper{func(d time.Duration) {
			slept = append(slept, d)
			meanwhile()
		}}
		Expect(m.Pacer(provider).Wait(ctx)).To(Succeed())
		return slept
	}
	hours := func(n float64) OmegaMatcher {
		return BeNumerically("~", time.Duration(n*float64(time.Hour)), time.Minute)
	}
	nothing := func() {}

	It("spaces the requests of all workers to it, and not those to others", func(ctx SpecContext) {
		c := liveRun(ctx, Live{Gap: time.Hour})
		Expect(waits(ctx, c, "w1", "one", nothing)).To(BeEmpty())
		Expect(waits(ctx, c, "w2", "one", nothing)).To(HaveExactElements(hours(1)))
		Expect(waits(ctx, c, "w1", "one", nothing)).To(HaveExactElements(hours(2)))
		Expect(waits(ctx, c, "w1", "two", nothing)).To(BeEmpty())
	})

	It("is not limited without a rate, and has no request until the end of a pause", func(ctx SpecContext) {
		c := liveRun(ctx, Live{})
		for range 3 {
			Expect(waits(ctx, c, "w1", "one", nothing)).To(BeEmpty())
		}
		Expect(c.meterFor("w1").Pacer("one").Pause(ctx, 3*time.Hour)).To(Succeed())
		Expect(c.meterFor("w1").Pacer("one").Pause(ctx, time.Hour)).To(Succeed(), "a shorter one changes nothing")
		over := func() {
			_, err := c.store.pool.Exec(ctx, "UPDATE pace SET not_before = '-infinity'")
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(waits(ctx, c, "w2", "one", over)).To(HaveExactElements(hours(3)))
		Expect(waits(ctx, c, "w2", "two", nothing)).To(BeEmpty())
	})

	It("delays those that wait already", func(ctx SpecContext) {
		c := liveRun(ctx, Live{Gap: time.Hour})
		waits(ctx, c, "w1", "one", nothing)
		n := 0
		Expect(waits(ctx, c, "w1", "one", func() {
			if n++; n == 1 {
				Expect(c.meterFor("w2").Pacer("one").Pause(ctx, 5*time.Hour)).To(Succeed())
				return
			}
			_, err := c.store.pool.Exec(ctx, "UPDATE pace SET not_before = '-infinity'")
			Expect(err).NotTo(HaveOccurred())
		})).To(HaveExactElements(hours(1), hours(5)))
	})

	It("does not save up requests that were not made", func(ctx SpecContext) {
		c := liveRun(ctx, Live{Gap: time.Hour})
		waits(ctx, c, "w1", "one", nothing)
		_, err := c.store.pool.Exec(ctx, "UPDATE pace SET next = next - interval '10 hours'")
		Expect(err).NotTo(HaveOccurred())
		Expect(waits(ctx, c, "w1", "one", nothing)).To(BeEmpty())
		Expect(waits(ctx, c, "w1", "one", nothing)).To(HaveExactElements(hours(1)))
	})
})
