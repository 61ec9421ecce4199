package session

import (
	"cmp"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// Total is a sum of calls of one day and model. The stores keep the totals of deleted sessions, which
// identify nobody, so that the costs of a service remain known.
type Total struct {
	// Day is a date in UTC, such as "2026-03-01".
	Day      string            `json:"day"`
	Model    string            `json:"model,omitempty"`
	Currency quantity.Currency `json:"currency,omitempty"`
	// Calls counts all calls, and Unpriced those of unknown cost, such as lost ones.
	Calls    int `json:"calls"`
	Unpriced int `json:"unpriced,omitempty"`
	// Input includes cached input.
	Input  int     `json:"input"`
	Output int     `json:"output"`
	Cost   float64 `json:"cost"`
}

// Day returns the day of a time in UTC.
func Day(t time.Time) string { return t.UTC().Format(time.DateOnly) }

// Totals returns the sums of calls, ordered by day, model and currency.
func Totals(calls []Call) []Total {
	var sums []Total
	for _, c := range calls {
		one := Total{Day: Day(c.At), Model: c.Model, Calls: 1}
		if c.Outcome != Begun && c.Outcome != Lost {
			used := c.Billed()
			one.Input, one.Output = used.Total()-used.Output, used.Output
		}
		if c.Cost != nil {
			one.Currency, one.Cost = c.Cost.Currency, c.Cost.Amount
		} else {
			one.Unpriced = 1
		}
		sums = append(sums, one)
	}
	return AddTotals(sums)
}

// AddTotals adds the totals of the same day, model and currency, and orders them.
func AddTotals(all []Total) []Total {
	sums := slices.SortedStableFunc(slices.Values(all), compareTotals)
	out := sums[:0]
	for _, t := range sums {
		last := len(out) - 1
		if last < 0 || compareTotals(out[last], t) != 0 {
			out = append(out, t)
			continue
		}
		sum := &out[last]
		sum.Calls += t.Calls
		sum.Unpriced += t.Unpriced
		sum.Input += t.Input
		sum.Output += t.Output
		sum.Cost += t.Cost
	}
	return out
}

func compareTotals(a, b Total) int {
	return cmp.Or(cmp.Compare(a.Day, b.Day), cmp.Compare(a.Model, b.Model), cmp.Compare(a.Currency, b.Currency))
}
