package work

import (
	"cmp"
	"math"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// ledger adds up the usage of an attempt. It uses a budget with an unreachable cap on cost, because a
// budget without one does not count costs.
type ledger struct {
	currency quantity.Currency
	calls    int
	budget   *llm.Budget
}

func newLedger(d Deps) *ledger {
	currency := cmp.Or(d.Currency, quantity.USD)
	unreachable := llm.Caps{Cost: quantity.Money{Amount: math.MaxFloat64, Currency: currency}}
	return &ledger{currency: currency, budget: llm.NewBudget(unreachable, d.Price, d.EURPerUSD)}
}

// add adds a call. Its usage is unknown or, if it is nil and not unknown, zero.
func (l *ledger) add(reply llm.Reply, usage *llm.Usage, unknown bool) {
	l.calls++
	if usage != nil || unknown {
		l.budget.Add(reply.Model, usage, reply.ReportedUSD)
	}
}

func (l *ledger) used() *persist.Used {
	spent := l.budget.Spent()
	return &persist.Used{
		Calls: l.calls, Tokens: spent.Tokens, Cost: spent.Cost, Currency: string(l.currency),
		TokensUnknown: spent.TokensUnknown, CostUnknown: spent.CostUnknown,
	}
}
