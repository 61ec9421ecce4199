// Package budget caps what agents spend: calls, tokens and money. Agents that
// work for one purpose share one Budget, so that the first cap to trip is the
// one that is named. What a backend does not report is unknown and never counted
// as nothing: under a cap on it, an unknown amount trips the cap.
package budget

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Caps limit a Budget; a zero cap does not limit.
type Caps struct {
	// Calls counts calls to a backend, retries within a call not included.
	Calls int `yaml:"calls,omitempty" json:"calls,omitempty" jsonschema:"minimum=0"`
	// Tokens counts all tokens, cached ones included.
	Tokens int `yaml:"tokens,omitempty" json:"tokens,omitempty" jsonschema:"minimum=0"`
	// Cost is money in its own currency.
	Cost quantity.Money `yaml:"cost,omitempty" json:"cost,omitzero"`
}

// Pricer returns what usage of a model costs, or false if it is not known.
type Pricer func(model string, u llm.Usage) (quantity.Money, bool)

// Budget adds up what was spent and reports when a cap is reached. It is safe for
// concurrent use. A nil Budget has no caps.
type Budget struct {
	caps  Caps
	price Pricer
	rate  float64

	mu    sync.Mutex
	spent Spent
}

// Spent is the amount used so far.
type Spent struct {
	Calls  int
	Tokens int
	// Cost is in the currency of the cap.
	Cost float64
	// TokensUnknown and CostUnknown are why the sums are only lower bounds;
	// empty if they are exact.
	TokensUnknown string
	CostUnknown   string
}

// New returns a budget. The pricer may be nil, so that only costs that backends
// report themselves are known. The rate in EUR for one USD converts amounts into
// the currency of the cap; with 0 an amount in the other currency is unknown.
func New(caps Caps, price Pricer, eurPerUSD float64) *Budget {
	return &Budget{caps: caps, price: price, rate: eurPerUSD}
}

// Spent returns the amount used so far.
func (b *Budget) Spent() Spent {
	if b == nil {
		return Spent{}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.spent
}

// Restore adds what was spent before, by another Budget whose Spent it is: that of
// an earlier process with the same caps.
func (b *Budget) Restore(before Spent) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.spent.Calls += before.Calls
	b.spent.Tokens += before.Tokens
	b.spent.Cost += before.Cost
	b.spent.TokensUnknown = cmp.Or(b.spent.TokensUnknown, before.TokensUnknown)
	b.spent.CostUnknown = cmp.Or(b.spent.CostUnknown, before.CostUnknown)
}

// Reserve counts one call and returns nil, or, if a cap is reached already,
// counts nothing and returns an *Exceeded. Any number of agents that reserve at
// once never get more calls than the cap.
func (b *Budget) Reserve() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.tripped(true); e != nil {
		return e
	}
	b.spent.Calls++
	return nil
}

// Check returns an *Exceeded if more was used than a cap allows, or an unknown
// amount of something that is capped. What is used up exactly is allowed here
// and refused by the next Reserve.
func (b *Budget) Check() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if e := b.tripped(false); e != nil {
		return e
	}
	return nil
}

// Add adds what one call of a model used: usage is nil if it is unknown, and
// reportedUSD is the cost that the backend itself reported, which precedes the
// pricer's, or nil.
func (b *Budget) Add(model string, usage *llm.Usage, reportedUSD *float64) {
	if b == nil {
		return
	}
	cost, why := b.cost(model, usage, reportedUSD)
	b.mu.Lock()
	defer b.mu.Unlock()
	if usage == nil {
		b.spent.TokensUnknown = "the backend reported no usage"
	} else {
		b.spent.Tokens += usage.Total()
	}
	b.spent.Cost += cost
	if why != "" {
		b.spent.CostUnknown = why
	}
}

// cost is one call's cost in the currency of the cap, or why it is unknown.
func (b *Budget) cost(model string, usage *llm.Usage, reportedUSD *float64) (amount float64, unknown string) {
	var money quantity.Money
	switch {
	case b.caps.Cost.Amount == 0:
		return 0, "" // nobody asks
	case reportedUSD != nil:
		money = quantity.Money{Amount: *reportedUSD, Currency: quantity.USD}
	case usage == nil:
		return 0, "the backend reported neither usage nor cost"
	case b.price == nil:
		return 0, "no prices are given"
	default:
		var ok bool
		if money, ok = b.price(model, *usage); !ok {
			return 0, fmt.Sprintf("the price of model %q is unknown", model)
		}
	}
	amount, ok := money.In(b.caps.Cost.Currency, b.rate)
	if !ok || math.IsNaN(amount) || amount < 0 {
		return 0, fmt.Sprintf("%s is unknown in %s", money, b.caps.Cost.Currency)
	}
	return amount, ""
}

// slack forgives the rounding of sums of floating-point amounts, so that ten
// times 0.01 reach a cap of 0.10 exactly.
const slack = 1e-9

// tripped returns the first cap that is passed, or, when another call is asked
// for, reached.
func (b *Budget) tripped(another bool) *Exceeded {
	over := func(used, limit float64) bool {
		if another {
			return limit > 0 && used >= limit*(1-slack)
		}
		return limit > 0 && used > limit*(1+slack)
	}
	caps, spent := b.caps, b.spent
	switch {
	case over(float64(spent.Calls), float64(caps.Calls)):
		return &Exceeded{Cap: "calls", Used: strconv.Itoa(spent.Calls), Limit: strconv.Itoa(caps.Calls)}
	case over(float64(spent.Tokens), float64(caps.Tokens)):
		return &Exceeded{Cap: "tokens", Used: strconv.Itoa(spent.Tokens), Limit: strconv.Itoa(caps.Tokens)}
	case over(spent.Cost, caps.Cost.Amount):
		used := quantity.Money{Amount: round(spent.Cost), Currency: caps.Cost.Currency}
		return &Exceeded{Cap: "cost", Used: used.String(), Limit: caps.Cost.String()}
	case caps.Tokens > 0 && spent.TokensUnknown != "":
		return &Exceeded{Cap: "tokens", Limit: strconv.Itoa(caps.Tokens), Unknown: spent.TokensUnknown}
	case caps.Cost.Amount > 0 && spent.CostUnknown != "":
		return &Exceeded{Cap: "cost", Limit: caps.Cost.String(), Unknown: spent.CostUnknown}
	}
	return nil
}

// round cuts the digits that only floating-point addition made.
func round(amount float64) float64 {
	text := strconv.FormatFloat(amount, 'g', 9, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return amount
	}
	return rounded
}

// Exceeded reports the cap that tripped.
type Exceeded struct {
	// Cap is "calls", "tokens" or "cost".
	Cap string
	// Used and Limit are amounts with their unit; Used is empty if unknown.
	Used, Limit string
	// Unknown is why the amount used is not known, which trips a cap too.
	Unknown string
}

// Error names the cap, the amount used and the reason.
func (e *Exceeded) Error() string {
	if e.Unknown != "" {
		return fmt.Sprintf("%s spent: unknown (%s), so the cap of %s cannot be kept", e.Cap, e.Unknown, e.Limit)
	}
	return fmt.Sprintf("the budget for %s is used up: %s of %s", e.Cap, e.Used, e.Limit)
}
