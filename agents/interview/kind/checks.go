package kind

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/event"
)

// checkInvariants checks the stored session at the end, and emits answersStored.
func (c *candidate) checkInvariants(ctx context.Context) error {
	if c.view.SessionID == "" {
		return nil
	}
	data, err := c.checkStored(ctx)
	if err != nil {
		return err
	}
	for i, m := range c.opts.Moves {
		c.require(c.did[i], "the interview did not reach %s, the place of the move %q", m.At, m.Do)
	}
	c.checkUnderstood(data.Session)
	c.sink.Emit(event.New(0, "", answersStored{Answers: len(data.Answers), Invariants: c.checked}))
	return nil
}

// checkUnderstood compares the stored session with what the scenario demands of it.
func (c *candidate) checkUnderstood(s session.Session) {
	want := c.opts.Stored
	for _, one := range []struct{ name, want, got string }{
		{"register", string(want.Register), string(s.Register)},
		{"medium", string(want.Medium), string(s.Medium)},
		{"works", strings.Join(want.Works, " ; "), strings.Join(s.Works, " ; ")},
		{"core work", want.Core, s.CoreWork},
	} {
		if one.want != "" {
			c.require(one.got == one.want, "the session should hold the %s %q, got %q", one.name, one.want, one.got)
		}
	}
}

// checkStored checks the stored session: each accepted answer is stored once and in order, and
// messages, queues, answers and calls agree.
func (c *candidate) checkStored(ctx context.Context) (audit.Data, error) {
	switch {
	case c.view.SessionID == "":
		return audit.Data{}, nil
	case c.deleted:
		return audit.Data{}, c.checkDeleted(ctx)
	}
	data, err := audit.Read(ctx, c.store, c.view.SessionID)
	if err != nil {
		return data, err
	}
	for _, check := range audit.Checks(data) {
		c.require(check.Verdict != audit.Fail, "%s: %s", check.About, strings.Join(check.Problems, "; "))
	}
	stored := make([]session.Answer, len(data.Answers))
	for i, a := range data.Answers {
		stored[i] = session.Answer{Step: a.Step, Index: a.Index, Text: a.Text}
	}
	c.require(slices.Equal(stored, c.accepted), "%s", difference(c.accepted, stored))
	c.checkLedger(data)
	return data, nil
}

// difference describes the first difference between two lists of answers.
func difference(sent, stored []session.Answer) string {
	for i, a := range sent {
		if i == len(stored) {
			return fmt.Sprintf("the answer to %s/%d is not stored; %d of %d are", a.Step, a.Index, len(stored), len(sent))
		}
		if b := stored[i]; a != b {
			return fmt.Sprintf("answer %d should be for %s/%d, got %s/%d", i+1, a.Step, a.Index, b.Step, b.Index)
		}
	}
	if len(stored) > len(sent) {
		a := stored[len(sent)]
		return fmt.Sprintf("the answer to %s/%d is stored but was never accepted", a.Step, a.Index)
	}
	return "every answer is stored once, in order"
}

// checkLedger compares the ledger with the calls that were made. A call that a crash
// interrupted is lost, whether or not it was made.
func (c *candidate) checkLedger(data audit.Data) {
	lost := 0
	for _, call := range data.Calls {
		if call.Outcome == session.Lost {
			lost++
		}
	}
	made := int(c.calls.Load())
	c.require(ledgerMatches(made, len(data.Calls), lost),
		"the ledger has %d calls, %d of them lost, and %d were made", len(data.Calls), lost, made)
	_, crashes := c.crashes.Count()
	c.require(lost <= crashes+c.crashed, "%d calls were lost in %d crashes", lost, crashes+c.crashed)
}

// ledgerMatches reports whether a ledger with a number of listed calls matches the calls made: it
// lists each of them, and in addition only lost calls that a crash prevented.
func ledgerMatches(made, listed, lost int) bool {
	return made <= listed && listed <= made+lost
}
