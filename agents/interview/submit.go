package interview

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
)

// received reports whether the submission had been received before: its id is stored, or
// the message that it replies to was answered.
func (t *step) received() (bool, error) {
	if t.request.ID == "" && t.request.seq == 0 {
		return t.repeats()
	}
	current := t.request.seq == t.now.Shown && t.now.Phase != session.Owing
	// A reply to a message without a reply is new. If its id was used before, the commit
	// fails, and the next round is late.
	if t.request.ID != "" && (!current || t.late) {
		known, err := t.dep.Store.Submitted(t.ctx, t.now.ID, t.request.ID)
		if err != nil {
			return false, storeFailed("look up the submission", err)
		}
		if known {
			return true, nil
		}
	}
	return t.request.seq != 0 && t.request.seq <= t.now.Shown && !current, nil
}

// repeats reports whether a submission without an id and a replied message repeats the last one: it
// is the same text, or again a request to continue, and too early to be about the message that is
// shown now.
func (t *step) repeats() (bool, error) {
	last := t.now.Messages // what the owed message follows
	if t.now.Phase != session.Owing {
		shown, err := t.last()
		if err != nil {
			return false, storeFailed("read the last message", err)
		}
		if !t.late && t.dep.Clock.Now().Sub(shown.At) >= repeatWindow {
			return false, nil
		}
		last = t.now.Shown - 1
	}
	if last < 1 {
		return false, nil
	}
	before, err := t.dep.Store.Message(t.ctx, t.now.ID, last)
	if err != nil {
		return false, storeFailed("read the last submission", err)
	}
	if before.Role == llm.User {
		return t.request.Event == "" && t.request.Message == before.Text, nil
	}
	return isGo(t.request.Event) || isWordGo(t.request.Message), nil // a request to continue leaves no message
}

// submit carries out a message or an event that advances the interview.
func (t *step) submit() error {
	input, refused := t.input()
	if refused != nil {
		return refused
	}
	now := t.dep.Clock.Now()
	move, err := session.Next(t.now, input, now)
	switch {
	case errors.Is(err, session.ErrInput):
		return &Error{Code: CodeOutOfOrder, Message: "it does not fit the state of the interview: RESUME shows the current message", Err: err}
	case err != nil:
		return storeFailed("advance the interview", err)
	}
	t.apply(move, now)
	t.change.Submission = t.request.ID
	if t.now.Phase == session.Owing {
		return t.settle(0)
	}
	return t.commit()
}

// input returns the submission as an input of the state machine, or an error if it does not
// fit the state of the interview.
func (t *step) input() (session.Input, *Error) {
	s, event := t.now, t.request.Event
	switch {
	case s.Phase == session.Finished:
		return nil, refuse(CodeFinished, "the interview is finished: nothing follows")
	case t.request.seq > s.Shown:
		return nil, refuse(CodeOutOfOrder, "replyTo: no such message was shown yet; the last one is %s", session.MessageID(s.Shown))
	case s.Phase == session.Owing:
		return nil, refuse(CodeOutOfOrder,
			"the next message is not there yet: send RETRY, or the last text again without submissionId and replyTo")
	case t.late && t.request.seq == 0:
		return nil, refuse(CodeOutOfOrder, "it was sent before the message that is shown now; to reply to that one, name it in replyTo")
	case event == EventStartBlock1 && (s.Step != session.Preamble || s.Phase != session.Waiting):
		return nil, refuse(CodeOutOfOrder, "event: START_BLOC_1 follows the preamble only")
	case event == EventStartMatching && (s.Step != session.Block10 || s.Phase != session.Waiting):
		return nil, refuse(CodeOutOfOrder, "event: START_MATCHING follows the profile only")
	case isGo(event) && s.Phase == session.Asking:
		return nil, refuse(CodeOutOfOrder, "event: a question is shown; it takes an answer, not %s", event)
	case isGo(event), s.Phase == session.Waiting && isWordGo(t.request.Message):
		return session.Went{}, nil
	case s.Phase == session.Waiting:
		return nil, refuse(CodeOutOfOrder, `the interview waits for you: to go on, send the event GO or write "go"`)
	}
	return session.Answered{Text: t.request.Message}, nil
}

// retry produces the owed message, with new retries. If none is owed, it was produced in the
// meantime.
func (t *step) retry() error {
	if t.now.Phase != session.Owing {
		t.repeated = true
		return nil
	}
	owed, now := *t.now.Owed, t.dep.Clock.Now()
	if owed.Holder != "" && owed.Holder != t.set.Instance && now.Before(owed.Until) {
		return &Error{
			Code: CodeBusy, RetryAfter: owed.Until.Sub(now),
			Message: "another server is working on the next message: send RETRY in a moment",
		}
	}
	lost := owed.InFlight
	if lost != 0 {
		if err := t.lose(lost); err != nil {
			return err
		}
	}
	if lost == 0 && owed.Limit != "" {
		switch limit, failed, err := t.limitReached(); {
		case err != nil:
			return err
		case limit == owed.Limit:
			return failed
		}
	}
	owed.Transport, owed.Validation, owed.Failed, owed.InFlight, owed.Limit = 0, 0, "", 0, ""
	t.now.Owed = &owed
	t.now.Retries++
	return t.settle(lost)
}

// lose marks a call in the ledger as lost.
func (t *step) lose(n int) error {
	calls, err := t.dep.Store.Calls(t.ctx, t.now.ID)
	if err != nil {
		return storeFailed("read the ledger", err)
	}
	i := slices.IndexFunc(calls, func(c session.Call) bool { return c.N == n })
	if i < 0 {
		return storeFailed("read the ledger", fmt.Errorf("call %d of session %s was begun and is not in it", n, t.now.ID))
	}
	entry := calls[i]
	entry.Outcome, entry.Detail = session.Lost, "the server that made the call has not said how it ended"
	t.putCall(entry)
	t.spend(entry)
	t.deferGuard("lost-call", entry, entry.Detail)
	return nil
}
