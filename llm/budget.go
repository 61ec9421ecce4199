package llm

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"sync"

	"github.com/rehearse-dev/rehearse/internal/quantity"
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

// Pricer returns the cost of a call's usage, or false if the price of the model is unknown.
type Pricer func(model string, u Usage) (quantity.Money, bool)

// Budget adds up calls, tokens and money, and reports the first cap that is reached. Agents that work on
// one task share a Budget. An amount that a backend does not report is unknown, not zero, and trips its
// cap. A Budget is safe for concurrent use; a nil Budget has no caps.
type Budget struct {
	caps  Caps
	price Pricer
	rate  float64

	mu    sync.Mutex
	spent Spent
}

// Spent is the amount that a Budget has counted.
type Spent struct {
	Calls  int
	Tokens int
	// Cost is in the currency of the cap.
	Cost float64
	// TokensUnknown and CostUnknown give the reason if Tokens and Cost are only lower
	// bounds; empty if they are exact.
	TokensUnknown string
	CostUnknown   string
}

// NewBudget returns a budget. Without a pricer only costs that backends report are
// known. The rate in EUR for one USD converts amounts into the currency of the cap;
// with 0, amounts in the other currency are unknown.
func NewBudget(caps Caps, price Pricer, eurPerUSD float64) *Budget {
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

// LeftUSD returns the cost in USD that is left under the cap, or 0 if there is no cap, the rate is
// unknown, or nothing is left.
func (b *Budget) LeftUSD() float64 {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	left := max(0, b.caps.Cost.Amount-b.spent.Cost)
	switch {
	case b.caps.Cost.Currency == quantity.USD:
		return left
	case b.rate > 0:
		return left / b.rate
	}
	return 0
}

// Restore adds the amount that an earlier process with the same caps spent.
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

// Reserve counts one call, unless a cap is already reached: then it returns a
// *BudgetError and counts nothing. Concurrent callers never get more calls than the cap.
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

// Check returns a *BudgetError if more was used than a cap allows, or if the amount used
// is unknown. It permits an amount equal to the cap; the next Reserve does not.
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

// Add adds the usage of one call, nil if it is unknown. A cost that the backend reported
// takes precedence over the pricer's.
func (b *Budget) Add(model string, usage *Usage, reportedUSD *float64) {
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

// cost returns one call's cost in the currency of the cap, or why it is unknown.
func (b *Budget) cost(model string, usage *Usage, reportedUSD *float64) (amount float64, unknown string) {
	var money quantity.Money
	switch {
	case b.caps.Cost.Amount == 0:
		return 0, ""
	case reportedUSD != nil:
		money = quantity.Money{Amount: *reportedUSD, Currency: quantity.USD}
	case usage == nil:
		return 0, "the backend reported neither usage nor cost"
	case b.price == nil:
		return 0, "no prices are given"
	default:
		var ok bool
		if money, ok = b.price(model, *usage); !ok {
			if model == "" {
				return 0, "the backend reports neither a cost nor its model; name the model"
			}
			return 0, fmt.Sprintf("the price of model %q is unknown", model)
		}
	}
	amount, ok := money.In(b.caps.Cost.Currency, b.rate)
	if !ok || math.IsNaN(amount) || amount < 0 {
		return 0, fmt.Sprintf("%s is unknown in %s", money, b.caps.Cost.Currency)
	}
	return amount, ""
}

// slack is the tolerated rounding error of sums: ten times 0.01 reaches a cap of 0.10.
const slack = 1e-9

// tripped returns the first cap that is exceeded or, before another call, reached.
func (b *Budget) tripped(another bool) *BudgetError {
	over := func(used, limit float64) bool {
		if another {
			return limit > 0 && used >= limit*(1-slack)
		}
		return limit > 0 && used > limit*(1+slack)
	}
	caps, spent := b.caps, b.spent
	switch {
	case over(float64(spent.Calls), float64(caps.Calls)):
		return &BudgetError{Cap: "calls", Used: strconv.Itoa(spent.Calls), Limit: strconv.Itoa(caps.Calls)}
	case over(float64(spent.Tokens), float64(caps.Tokens)):
		return &BudgetError{Cap: "tokens", Used: strconv.Itoa(spent.Tokens), Limit: strconv.Itoa(caps.Tokens)}
	case over(spent.Cost, caps.Cost.Amount):
		used := quantity.Money{Amount: round(spent.Cost), Currency: caps.Cost.Currency}
		return &BudgetError{Cap: "cost", Used: used.String(), Limit: caps.Cost.String()}
	case caps.Tokens > 0 && spent.TokensUnknown != "":
		return &BudgetError{Cap: "tokens", Limit: strconv.Itoa(caps.Tokens), Unknown: spent.TokensUnknown}
	case caps.Cost.Amount > 0 && spent.CostUnknown != "":
		return &BudgetError{Cap: "cost", Limit: caps.Cost.String(), Unknown: spent.CostUnknown}
	}
	return nil
}

// round removes the digits that come from floating-point addition.
func round(amount float64) float64 {
	text := strconv.FormatFloat(amount, 'g', 9, 64)
	rounded, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return amount
	}
	return rounded
}

// BudgetError reports the cap that tripped.
type BudgetError struct {
	// Cap is "calls", "tokens" or "cost".
	Cap string
	// Used and Limit are amounts with their unit; Used is empty if unknown.
	Used, Limit string
	// Unknown is the reason if the amount used is not known.
	Unknown string
}

// Error names the cap, the amount used and the reason.
func (e *BudgetError) Error() string {
	if e.Unknown != "" {
		return fmt.Sprintf("%s spent: unknown (%s), so the cap of %s cannot be kept", e.Cap, e.Unknown, e.Limit)
	}
	return fmt.Sprintf("the budget for %s is used up: %s of %s", e.Cap, e.Used, e.Limit)
}
