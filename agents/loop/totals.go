package loop

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Totals are the sums of a run. Amounts that a backend did not report are missing in them.
type Totals struct {
	Tokens int `json:"tokens"`
	// TokensUnknown and CostUnknown count the calls that are missing in Tokens and Cost: their usage is unknown,
	// or the process was killed in them.
	TokensUnknown int            `json:"tokens_unknown,omitempty"`
	Cost          quantity.Money `json:"cost,omitzero"`
	CostUnknown   int            `json:"cost_unknown,omitempty"`
}

// Describe returns the sums for a person. Sums that lack a call are lower bounds.
func (t Totals) Describe() (tokens, cost string) {
	tokens, cost = format.Number(float64(t.Tokens))+" tokens", "no cost"
	if !t.Cost.IsZero() {
		cost = format.Amount(t.Cost.Amount, string(t.Cost.Currency))
	}
	return bound(tokens, t.Tokens == 0, t.TokensUnknown, "unknown tokens"), bound(cost, t.Cost.IsZero(), t.CostUnknown, "unknown cost")
}

// bound describes a sum of which some parts may be missing.
func bound(sum string, zero bool, missing int, unknown string) string {
	switch {
	case missing > 0 && zero:
		return unknown
	case missing > 0:
		return "at least " + sum
	}
	return sum
}

// Sum adds up the iterations of a run, and counts cutOff calls in which its process was killed as unknown. If
// eurPerUSD is 0, so are amounts in another currency.
func Sum(entries []Entry, cutOff int, currency quantity.Currency, eurPerUSD float64) Totals {
	t := Totals{TokensUnknown: cutOff, CostUnknown: cutOff}
	for _, e := range entries {
		if e.Error != "" && e.Answer == "" && (e.Usage == nil && e.Session == nil || e.Usage != nil && e.Usage.Total() == 0) {
			// Providers bill only calls that they began to answer. An agent that began a session may have
			// made such calls, unless it reports that it used nothing.
			continue
		}
		if e.Usage == nil {
			t.TokensUnknown++
		} else {
			t.Tokens += e.Usage.Total()
		}
		if cost, ok := e.costIn(currency, eurPerUSD); ok {
			t.Cost.Amount, t.Cost.Currency = t.Cost.Amount+cost, currency
		} else {
			t.CostUnknown++
		}
	}
	return t
}

// totals returns the sums of the run, in the currency of its cap, or else in USD.
func (r *runner) totals() Totals {
	return Sum(r.result.Transcript, r.cutOff, cmp.Or(r.set.Budget.Cost.Currency, quantity.USD), r.dep.EURPerUSD)
}

// cost returns the cost of a call: the reported one, or else that of the price table. It is nil if unknown.
func (r *runner) cost(model string, usage *llm.Usage, reportedUSD *float64) *quantity.Money {
	if reportedUSD != nil {
		return &quantity.Money{Amount: *reportedUSD, Currency: quantity.USD}
	}
	if usage == nil || r.dep.Price == nil {
		return nil
	}
	cost, ok := r.dep.Price(cmp.Or(model, r.set.Model), *usage)
	if !ok {
		return nil
	}
	return &cost
}

func (e *Entry) costIn(currency quantity.Currency, eurPerUSD float64) (amount float64, ok bool) {
	if e.Cost == nil {
		return 0, false
	}
	return e.Cost.In(currency, eurPerUSD)
}
