package interview

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// The limits of a day, as Owed.Limit names them.
const (
	limitCallsPerDay     = "calls-per-day"
	limitCostPerDay      = "cost-per-day"
	limitCallsPerAddress = "calls-per-address"
	limitCostPerAddress  = "cost-per-address"
)

// checkPrice refuses a budget in money for a model whose price is not known: it would never be used up.
func checkPrice(o Options, d Deps) error {
	if d.Price != nil {
		if _, ok := d.Price(o.Model, llm.Usage{Input: 1, Output: 1}); ok {
			return nil
		}
	}
	if o.PerDay.Cost > 0 || o.PerAddress.Cost > 0 {
		return fmt.Errorf("limits of a day: the price of the model %q is not known, so its cost cannot be limited; "+
			"give its price (--prices), or limit the calls instead (--max-calls-per-day, --max-calls-per-address)", o.Model)
	}
	if o.MaxCost > 0 {
		d.Log.Warn("the price of the model is not known: the limit of the cost of a session does not apply to it, that of its calls does",
			"model", o.Model, "max_calls", o.MaxCalls)
	}
	return nil
}

// estimate returns what a call of unknown cost is counted as: our own count of its tokens, at the price of
// the model that replied, or else of the one that was called.
func (t *step) estimate(c session.Call) *quantity.Money {
	if t.dep.Price == nil {
		return nil
	}
	for _, model := range []string{c.Model, t.set.Model} {
		if cost, ok := t.dep.Price(model, c.Counted); ok {
			return &cost
		}
	}
	return nil
}

// budgetSpent returns the limit of the day that was reached and its error; limit is empty if none was.
func (t *step) budgetSpent() (limit string, failed *Error, err error) {
	now := t.dep.Clock.Now()
	day := session.Day(now)
	for _, b := range []struct {
		Budget
		address, calls, cost string
		skip                 bool
	}{
		{t.set.PerDay, "", limitCallsPerDay, limitCostPerDay, false},
		{t.set.PerAddress, t.address(day), limitCallsPerAddress, limitCostPerAddress, t.request.Address == ""},
	} {
		if b.skip || b.Budget == (Budget{}) {
			continue
		}
		spent, err := t.dep.Store.SpentOn(t.ctx, day, b.address)
		if err != nil {
			return "", nil, storeFailed("read the budget", err)
		}
		switch {
		case b.Calls > 0 && spent.Calls >= b.Calls:
			limit = b.calls
		case b.Cost > 0 && spent.MicroEUR >= microEUR(b.Cost):
			limit = b.cost
		default:
			continue
		}
		failed = refuse(CodeBudget, "the budget of the day is used up (%s): all answers are kept, and interviews go on after 00:00 UTC, "+
			"or earlier if the operator raises it", limit)
		failed.RetryAfter = session.NextDay(now).Sub(now)
		return limit, failed, nil
	}
	return "", nil, nil
}

// countSpent adds to what was spent on the day of a call.
func (t *step) countSpent(at time.Time, calls int, micro int64) {
	if calls == 0 && micro == 0 {
		return
	}
	one := session.Spending{Day: session.Day(at), Calls: calls, MicroEUR: micro}
	one.Address = t.address(one.Day)
	last := len(t.change.Spent) - 1
	if last >= 0 && t.change.Spent[last].Day == one.Day {
		t.change.Spent[last].Calls += one.Calls
		t.change.Spent[last].MicroEUR += one.MicroEUR
		return
	}
	t.change.Spent = append(t.change.Spent, one)
}

// reserve returns the cost of the input of a call. It is counted when the call begins, so that other
// sessions see it, and so that a crash does not lose it.
func (t *step) reserve(c session.Call) int64 {
	if t.dep.Price == nil {
		return 0
	}
	input := c.Counted
	input.Output = 0
	cost, ok := t.dep.Price(t.set.Model, input)
	if !ok {
		return 0
	}
	amount, _ := cost.In(quantity.EUR, t.set.rate())
	return microEUR(amount)
}

// address returns the hash of the client's address, which differs from day to day; empty if the address
// is not known.
func (t *step) address(day string) string {
	if t.request.Address == "" || t.set.AddressKey == "" {
		return ""
	}
	mac := hmac.New(sha256.New, []byte(t.set.AddressKey))
	fmt.Fprintf(mac, "%s %s", day, t.request.Address)
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

func microEUR(eur float64) int64 { return int64(math.Round(eur * 1e6)) }
