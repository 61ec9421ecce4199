package llm_test

import (
	"errors"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

func usd(amount float64) quantity.Money {
	return quantity.Money{Amount: amount, Currency: quantity.USD}
}

func eur(amount float64) quantity.Money {
	return quantity.Money{Amount: amount, Currency: quantity.EUR}
}

// cents prices every token of the model "m" at one cent.
func cents(model string, u llm.Usage) (quantity.Money, bool) {
	return usd(float64(u.Total()) / 100), model == "m"
}

func tokens(n int) *llm.Usage { return &llm.Usage{Input: n} }

// exceeded is the *BudgetError behind err.
func exceeded(err error) llm.BudgetError {
	GinkgoHelper()
	e, ok := errors.AsType[*llm.BudgetError](err)
	Expect(ok).To(BeTrue(), "%v", err)
	return *e
}

var _ = Describe("Budget", Label("L-11"), func() {
	It("allows exactly as many calls as the cap", func() {
		b := llm.NewBudget(llm.Caps{Calls: 2}, nil, 0)
		Expect(b.Reserve()).To(Succeed())
		Expect(b.Reserve()).To(Succeed())
		Expect(b.Check()).To(Succeed(), "used up is not over")
		Expect(exceeded(b.Reserve())).To(Equal(llm.BudgetError{Cap: "calls", Used: "2", Limit: "2"}))
		Expect(b.Spent().Calls).To(Equal(2), "a refused call is not counted")
	})

	It("counts all kinds of tokens", func() {
		b := llm.NewBudget(llm.Caps{Tokens: 15}, nil, 0)
		b.Add("m", &llm.Usage{Input: 1, CachedInput: 2, CacheWrite: 4, Output: 8}, nil)
		Expect(b.Check()).To(Succeed())
		Expect(exceeded(b.Reserve())).To(Equal(llm.BudgetError{Cap: "tokens", Used: "15", Limit: "15"}))
		b.Add("m", tokens(1), nil)
		Expect(exceeded(b.Check())).To(Equal(llm.BudgetError{Cap: "tokens", Used: "16", Limit: "15"}))
	})

	It("adds up money", func() {
		b := llm.NewBudget(llm.Caps{Cost: usd(0.1)}, cents, 0)
		for range 10 {
			Expect(b.Reserve()).To(Succeed())
			b.Add("m", tokens(1), nil)
			Expect(b.Check()).To(Succeed(), "ten times 0.01 are 0.1, whatever floating point says")
		}
		Expect(exceeded(b.Reserve())).To(Equal(llm.BudgetError{Cap: "cost", Used: "0.1 USD", Limit: "0.1 USD"}))
		b.Add("m", tokens(1), nil)
		Expect(b.Check()).To(MatchError("the budget for cost is used up: 0.11 USD of 0.1 USD"))
	})

	DescribeTable("finds the cost of a call",
		func(limit quantity.Money, price llm.Pricer, rate float64, model string, usage *llm.Usage, reported *float64, want float64, unknown string) {
			b := llm.NewBudget(llm.Caps{Cost: limit}, price, rate)
			b.Add(model, usage, reported)
			Expect(b.Spent().Cost).To(BeNumerically("~", want, 1e-12))
			Expect(b.Spent().CostUnknown).To(Equal(unknown))
			if unknown == "" {
				Expect(b.Check()).To(Succeed())
				return
			}
			Expect(exceeded(b.Check()).Unknown).To(Equal(unknown))
			Expect(exceeded(b.Reserve()).Cap).To(Equal("cost"))
		},
		Entry("by price", usd(9), cents, 0.0, "m", tokens(5), nil, 0.05, ""),
		Entry("as reported, before the price", usd(9), cents, 0.0, "m", tokens(5), new(0.5), 0.5, ""),
		Entry("as reported, without usage", usd(9), cents, 0.0, "x", nil, new(0.5), 0.5, ""),
		Entry("in EUR", eur(9), cents, 0.8, "m", tokens(5), nil, 0.04, ""),
		Entry("in EUR without a rate", eur(9), cents, 0.0, "m", tokens(5), nil, 0.0, "0.05 USD is unknown in EUR"),
		Entry("of an unknown model", usd(9), cents, 0.0, "x", tokens(5), nil, 0.0, `the price of model "x" is unknown`),
		Entry("of a model that is not reported", usd(9), cents, 0.0, "", tokens(5), nil, 0.0, "the backend reports neither a cost nor its model; name the model"),
		Entry("without prices", usd(9), nil, 0.0, "m", tokens(5), nil, 0.0, "no prices are given"),
		Entry("without usage", usd(9), cents, 0.0, "m", nil, nil, 0.0, "the backend reported neither usage nor cost"),
		Entry("that is negative", usd(9), cents, 0.0, "m", tokens(5), new(-1.0), 0.0, "-1 USD is unknown in USD"),
		Entry("that is no number", usd(9), cents, 0.0, "m", tokens(5), new(math.NaN()), 0.0, "NaN USD is unknown in USD"),
	)

	It("stays unknown, however much is known later", func() {
		b := llm.NewBudget(llm.Caps{Tokens: 10, Cost: usd(9)}, cents, 0)
		b.Add("m", nil, new(0.5))
		b.Add("m", tokens(1), nil)
		e := exceeded(b.Check())
		Expect(e.Cap).To(Equal("tokens"))
		Expect(e.Error()).To(Equal("tokens spent: unknown (the backend reported no usage), so the cap of 10 cannot be kept"))
	})

	It("names a cap that is passed for sure before one that is unknown", func() {
		b := llm.NewBudget(llm.Caps{Tokens: 10, Cost: usd(1)}, cents, 0)
		b.Add("m", nil, new(2.0))
		Expect(exceeded(b.Check()).Cap).To(Equal("cost"))
	})

	It("asks for nothing that is not capped", func() {
		for _, b := range []*llm.Budget{nil, llm.NewBudget(llm.Caps{}, nil, 0)} {
			b.Add("x", nil, nil)
			Expect(b.Reserve()).To(Succeed())
			Expect(b.Check()).To(Succeed())
		}
		var none *llm.Budget
		Expect(none.Spent()).To(Equal(llm.Spent{}))
	})

	It("gives agents that ask at once no more than the cap", func() {
		b := llm.NewBudget(llm.Caps{Calls: 50}, cents, 0)
		var allowed atomic.Int64
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				for range 20 {
					if b.Reserve() == nil {
						allowed.Add(1)
						b.Add("m", tokens(1), nil)
					}
				}
			})
		}
		group.Wait()
		Expect(allowed.Load()).To(BeEquivalentTo(50))
		Expect(b.Spent()).To(Equal(llm.Spent{Calls: 50, Tokens: 50}))
	})

	It("never allows a call once a cap is reached", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			caps := llm.Caps{Calls: rapid.IntRange(0, 5).Draw(t, "calls"), Tokens: rapid.IntRange(0, 20).Draw(t, "tokens")}
			b := llm.NewBudget(caps, nil, 0)
			calls, used := 0, 0
			for _, n := range rapid.SliceOf(rapid.IntRange(0, 9)).Draw(t, "usages") {
				reached := caps.Calls > 0 && calls >= caps.Calls || caps.Tokens > 0 && used >= caps.Tokens
				if err := b.Reserve(); (err != nil) != reached {
					t.Fatalf("%d calls and %d tokens of %+v: %v", calls, used, caps, err)
				}
				if reached {
					return
				}
				calls, used = calls+1, used+n
				b.Add("m", tokens(n), nil)
				if over := caps.Tokens > 0 && used > caps.Tokens; (b.Check() != nil) != over {
					t.Fatalf("%d tokens of %+v: %v", used, caps, b.Check())
				}
			}
		})
	})
})

// BenchmarkCall accounts for one call; BenchmarkCallFloor locks twice, as it does.
func BenchmarkCall(b *testing.B) {
	shared := llm.NewBudget(llm.Caps{Calls: math.MaxInt, Tokens: math.MaxInt, Cost: usd(1e12)}, cents, 0)
	usage := tokens(1)
	for b.Loop() {
		if err := shared.Reserve(); err != nil {
			b.Fatal(err)
		}
		shared.Add("m", usage, nil)
	}
}

func BenchmarkCallFloor(b *testing.B) {
	var mu sync.Mutex
	calls, used := 0, 0
	for b.Loop() {
		mu.Lock()
		calls++
		mu.Unlock()
		mu.Lock()
		used++
		mu.Unlock()
	}
}
