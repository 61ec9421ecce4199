package interview

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/internal/quantity"
)

// The limits of a session, as Owed.Limit names them.
const (
	limitCalls   = "calls"
	limitCost    = "cost"
	limitRetries = "retries"
)

// rounding is what many small sums of money may be off by, in EUR.
const rounding = 1e-9

// reached returns which limit a session has reached, and says so for a person;
// empty if none.
func (o Options) reached(s session.Session) (limit, message string) {
	spent, _ := s.Spent.In(quantity.EUR, o.rate())
	switch {
	case o.MaxCalls > 0 && s.Calls >= o.MaxCalls:
		return limitCalls, fmt.Sprintf("its %d calls", o.MaxCalls)
	case o.MaxCost > 0 && spent+rounding >= o.MaxCost:
		return limitCost, fmt.Sprintf("its %.2f EUR", o.MaxCost)
	case o.MaxRetries > 0 && s.Retries > o.MaxRetries:
		return limitRetries, fmt.Sprintf("its %d retries", o.MaxRetries)
	}
	return "", ""
}

// rate returns the exchange rate, or 1 where none is known: a USD then counts as an
// EUR, which it is worth less than.
func (o Options) rate() float64 {
	if o.EURPerUSD > 0 {
		return o.EURPerUSD
	}
	return 1
}

// limit ends the present try if the session has reached a limit. Where a text can
// be used that has warnings only, it is.
func (t *step) limit() (done bool, err error) {
	limit, message := t.set.reached(t.now)
	if limit == "" {
		return false, nil
	}
	owed := *t.now.Owed
	owed.Limit = limit
	t.now.Owed = &owed
	if owed.Draft != nil {
		return true, t.accept(*owed.Draft, answer{})
	}
	t.deferLimit(limit, message)
	return true, t.giveUp(verdict{failed: &Error{
		Code:    CodeLimit,
		Message: "the session has used " + message + ": all answers are kept, and no more texts are written for it",
	}})
}

// spend adds what a call cost to what the session has spent. Of a call whose cost
// is unknown it takes our own count, so that the limit holds all the same.
func (t *step) spend(c session.Call) {
	cost := c.Cost
	if cost == nil && t.dep.Price != nil {
		if counted, ok := t.dep.Price(c.Model, c.Counted); ok {
			cost = &counted
		}
	}
	if cost == nil {
		return
	}
	before, _ := t.now.Spent.In(quantity.EUR, t.set.rate())
	more, _ := cost.In(quantity.EUR, t.set.rate())
	t.now.Spent = quantity.Money{Amount: before + more, Currency: quantity.EUR}
}

// fallBack shows the neutral text of the prompts in place of what the model did
// not bring; last is its last call.
func (t *step) fallBack(last session.Call) error {
	owed := *t.now.Owed
	text := t.prompts[t.now.Language].Fallback(owed.Purpose, t.now.Step, owed.Index, t.now.Medium, t.now.Register)
	now := t.dep.Clock.Now()
	move, err := session.Next(t.now, session.Replied{Questions: validate.Split(text), Text: text}, now)
	if err != nil {
		return storeFailed("take the fallback", err)
	}
	step := t.now.Step
	t.apply(move, now)
	t.now.Fallbacks = append(slices.Clip(t.now.Fallbacks), session.Fallback{
		Purpose: owed.Purpose, Step: step, Index: owed.Index, Message: t.now.Shown, Refused: owed.Refused, Rule: last.Fault,
	})
	t.fellBack = true
	t.deferFallback(last)
	return t.keep()
}
