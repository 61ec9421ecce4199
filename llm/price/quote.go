// Package price turns token usage into money with a dated price table.
package price

import (
	"cmp"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Quote has the prices of a model, per million tokens in Currency, and all that is needed to
// compute a cost without the table.
type Quote struct {
	Model      string  `json:"model"`
	Provider   string  `json:"provider"`
	Currency   string  `json:"currency"` // of the prices: "USD" or "EUR"
	Input      float64 `json:"input"`
	CachedIn   float64 `json:"cached_input"`
	CacheWrite float64 `json:"cache_write"`
	Output     float64 `json:"output"`
	// Date of the price (YYYY-MM-DD), from Source.
	Date   string `json:"date"`
	Source string `json:"source"`
	// EURPerUSD is the exchange rate of RateDate.
	EURPerUSD float64 `json:"eur_per_usd"`
	RateDate  string  `json:"rate_date"`
}

// Cost returns the cost of a usage in the quote's currency:
//
//	(input·Input + cached·CachedIn + written·CacheWrite + output·Output) / 1,000,000
//
// Reasoning tokens are part of the output. Negative counts are treated as 0. For another currency see
// quantity.Money.In and EURPerUSD.
func (q Quote) Cost(u llm.Usage) quantity.Money {
	sum := float64(max(u.Input, 0))*q.Input + float64(max(u.CachedInput, 0))*q.CachedIn +
		float64(max(u.CacheWrite, 0))*q.CacheWrite + float64(max(u.Output, 0))*q.Output
	return quantity.Money{Amount: sum / 1e6, Currency: quantity.Currency(q.Currency)}
}

// Pricer returns a function that prices usage by the table, for use as an llm.Pricer. Replies
// that do not name a model are priced as the given one.
func (t *Table) Pricer(model string) llm.Pricer {
	return func(answered string, u llm.Usage) (quantity.Money, bool) {
		quote, ok := t.Quote(cmp.Or(answered, model))
		if !ok {
			return quantity.Money{}, false
		}
		return quote.Cost(u), true
	}
}

// CostIn returns a function that prices usage in one currency. It reports false for a model
// without a price.
func (t *Table) CostIn(currency quantity.Currency) func(model string, u llm.Usage) (amount float64, ok bool) {
	price := t.Pricer("")
	return func(model string, u llm.Usage) (float64, bool) {
		cost, ok := price(model, u)
		if !ok {
			return 0, false
		}
		return cost.In(currency, t.EURPerUSD)
	}
}
