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

// rounding is the tolerance for sums of many small amounts, in EUR.
const rounding = 1e-9

// reached returns the limit that a session has reached and its description; both are empty if it
// has not reached any.
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

// rate returns the exchange rate. Without one a USD counts as an EUR, which overstates it.
func (o Options) rate() float64 {
	if o.EURPerUSD > 0 {
		return o.EURPerUSD
	}
	return 1
}

// limit ends the current try if the session, the address or the day has reached a limit, with a
// draft if there is one.
func (t *step) limit() (done bool, err error) {
	limit, failed, err := t.limitReached()
	if err != nil {
		return true, err
	}
	if limit == "" {
		return false, nil
	}
	owed := *t.now.Owed
	owed.Limit = limit
	t.now.Owed = &owed
	if owed.Draft != nil {
		return true, t.accept(*owed.Draft, callResult{})
	}
	t.deferLimit(limit, failed)
	return true, t.giveUp(failed)
}

// limitReached returns the name of the limit that was reached and its error; limit is empty if none was.
func (t *step) limitReached() (limit string, failed *Error, err error) {
	if limit, message := t.set.reached(t.now); limit != "" {
		return limit, refuse(CodeLimit, "the session has used %s: all answers are kept, and no more texts are written for it", message), nil
	}
	return t.budgetSpent()
}

// spend adds the cost of a call to the total of the session and of its day. If the cost is unknown, it is
// estimated from our own count, so that the limit still applies.
func (t *step) spend(c session.Call) {
	cost := c.Cost
	if cost == nil {
		t.now.Unpriced++
		cost = t.estimate(c)
	}
	if cost == nil {
		return // the day keeps the reserve
	}
	before, _ := t.now.Spent.In(quantity.EUR, t.set.rate())
	more, _ := cost.In(quantity.EUR, t.set.rate())
	t.now.Spent = quantity.Money{Amount: before + more, Currency: quantity.EUR}
	t.countSpent(c.At, 0, microEUR(more)-t.reserve(c))
}

// fallBack shows a neutral text of the prompts instead of the model's; last is the last
// call.
func (t *step) fallBack(last session.Call) error {
	owed := *t.now.Owed
	text := t.prompts[t.now.Language].Fallback(owed.Purpose, t.now.Step, owed.Index, t.now.Medium, t.now.Register)
	now := t.dep.Clock.Now()
	move, err := session.Next(t.now, session.Replied{Questions: validate.Split(text), Text: text}, now)
	if err != nil {
		return storeFailed("apply the fallback", err)
	}
	step := t.now.Step
	t.apply(move, now)
	t.now.Fallbacks = append(slices.Clip(t.now.Fallbacks), session.Fallback{
		Purpose: owed.Purpose, Step: step, Index: owed.Index, Message: t.now.Shown, Refused: owed.Refused, Rule: last.Fault,
	})
	t.fellBack = true
	t.deferFallback(last)
	return t.commitOutcome()
}
