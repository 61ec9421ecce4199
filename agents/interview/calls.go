package interview

import (
	"errors"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// claimMargin is added to the timeout of a call: a server may store the outcome until
// then, and afterwards another server may treat the call as lost.
const claimMargin = 10 * time.Second

// settle makes calls until one yields the owed message or the retries are used up. The first
// call repeats the lost call with the number repeats; 0 means none.
func (t *step) settle(repeats int) error {
	for {
		if done, err := t.limit(); done {
			return err
		}
		entry, request, err := t.begin(repeats)
		if err != nil {
			return err
		}
		if err := t.commit(); err != nil {
			return err
		}
		t.calls++
		begun := t.dep.Clock.Now() // later than entry.At, by a commit
		reply, err := t.caller.Complete(t.ctx, request)
		entry.Latency = t.dep.Clock.Now().Sub(begun)
		r := readReply(reply, err, func(text string) validate.Result { return t.dep.Check(text, t.expected()) })
		t.record(&entry, reply, r)
		owed := *t.now.Owed
		owed.InFlight = 0
		next := t.set.decide(&owed, r, entry, t.now.Language)
		t.now.Owed = &owed
		if next.use != nil && next.use.Call.N == entry.N {
			entry.Outcome = session.Accepted
			next.use.Call = entry
		}
		t.putCall(entry)
		t.deferCall(entry, r, next)
		switch {
		case next.use != nil:
			return t.accept(*next.use, r)
		case next.fallback:
			return t.fallBack(entry)
		case !next.again:
			return t.giveUp(next.failed)
		}
		if err := t.pause(next.wait); err != nil {
			return err
		}
		repeats = 0
	}
}

// begin adds the next call to the ledger and returns its request.
func (t *step) begin(repeats int) (session.Call, llm.Request, error) {
	if t.history == nil {
		earlier, err := t.earlierMessages()
		if err != nil {
			return session.Call{}, llm.Request{}, err
		}
		t.history = slices.Concat(earlier, t.change.Messages)
	}
	at := t.dep.Clock.Now()
	owed := *t.now.Owed
	t.now.Calls++
	owed.Attempt++
	owed.InFlight, owed.Holder, owed.Until = t.now.Calls, t.set.Instance, at.Add(t.set.CallTimeout+claimMargin)
	t.now.Owed, t.now.Updated = &owed, at

	prompts := t.promptsFor(t.now)
	built := prompts.Build(t.now, t.history, t.set.History)
	request := built.Request
	request.Model = t.set.Model
	entry := session.Call{
		N: t.now.Calls, Purpose: owed.Purpose, Step: t.now.Step, Index: owed.Index, Attempt: owed.Attempt,
		Outcome: session.Begun, Repeats: repeats, At: at, Model: t.set.Model,
		Counted: llm.Usage{Input: t.size(request), Source: llm.UsageCounted},
		Prompt:  prompts.String(), Sent: built.Sent, Trimmed: built.Trimmed,
	}
	t.putCall(entry)
	t.countSpent(at, 1, t.reserve(entry))
	t.deferBegun(entry, built)
	return entry, request, nil
}

// earlierMessages returns all messages before this step.
func (t *step) earlierMessages() ([]session.Message, error) {
	if messages := t.recall.get(t.stored.ID, t.stored.Messages); messages != nil {
		return messages, nil
	}
	messages, err := t.dep.Store.Messages(t.ctx, t.stored.ID)
	if err != nil {
		return nil, storeFailed("read the messages", err)
	}
	t.recall.add(t.stored.ID, 0, messages)
	return messages, nil
}

// pause commits the pending change and waits before the next attempt.
func (t *step) pause(wait time.Duration) error {
	if wait == 0 {
		return nil // the next attempt commits it
	}
	t.now.Owed.Until = t.dep.Clock.Now().Add(wait + claimMargin)
	if err := t.commit(); err != nil {
		return err
	}
	return t.dep.Clock.Sleep(t.ctx, wait)
}

// expected returns the requirements for the reply to the current call.
func (t *step) expected() validate.Expected {
	s := t.now
	return validate.Expected{
		Purpose: s.Owed.Purpose, Step: s.Step, Index: s.Owed.Index,
		Language: s.Language, Medium: s.Medium, Works: s.Works,
	}
}

// accept turns a draft into the owed message; last is the result of the last call.
func (t *step) accept(d session.Draft, last callResult) error {
	entry, checked := d.Call, last.checked
	entry.Outcome, entry.Fault, entry.Detail = session.Accepted, "", ""
	t.putCall(entry)
	if entry.N != t.now.Calls {
		checked = t.dep.Check(d.Text, t.expected())
	}
	now := t.dep.Clock.Now()
	move, err := session.Next(t.now, session.Replied{Questions: checked.Questions, Text: checked.Text, Call: entry.N}, now)
	if err != nil {
		return storeFailed("apply the reply", err)
	}
	t.apply(move, now)
	if err := t.commitOutcome(); err != nil {
		return err
	}
	t.logAccepted(entry, len(checked.Questions))
	return nil
}

// giveUp ends the current try. The message stays owed.
func (t *step) giveUp(failed *Error) error {
	t.now.Owed.Failed, t.now.Owed.Holder, t.now.Owed.Until = string(failed.Code), "", time.Time{}
	if err := t.commitOutcome(); err != nil {
		return err
	}
	return failed
}

// storeAttempts is the number of attempts to store the outcome of a call. If all fail, the call
// has to be repeated and paid for again.
const storeAttempts = 3

// commitOutcome commits the outcome of a call, and retries if the store fails.
func (t *step) commitOutcome() error {
	var err error
	for attempt := range storeAttempts {
		if attempt > 0 {
			if err := t.dep.Clock.Sleep(t.ctx, t.set.backoff(attempt-1)); err != nil {
				return storeFailed("wait for the store", err)
			}
		}
		err = t.commit()
		if attempt > 0 && errors.Is(err, session.ErrConflict) {
			// The attempt that seemed to fail may have succeeded.
			before, pending := t.stored, t.pending
			if err = t.load(); err == nil {
				t.pending = pending
				t.emitCommit(before)
			}
			return err
		}
		if failed, ok := errors.AsType[*Error](err); !ok || failed.Code != CodeStore {
			return err
		}
	}
	return err
}

// The tokens that the chat format adds to the texts, for each message and once for the
// reply, as in llm/token.
const (
	tokensPerMessage = 3
	tokensPriming    = 3
)

// size counts the input tokens of a request.
func (t *step) size(r llm.Request) int {
	n := tokensPriming
	for _, m := range r.Messages {
		n += tokensPerMessage + t.dep.Count(r.Model, string(m.Role)) + t.dep.Count(r.Model, m.Content)
	}
	return n
}

// record completes the ledger entry of a call that has ended.
func (t *step) record(entry *session.Call, reply llm.Reply, r callResult) {
	text, reported := reply.Text, reply.Usage
	if reply.Model != "" {
		entry.Model = sanitize.Line(reply.Model, maxDetail)
	}
	switch {
	case r.failure != nil:
		text, reported = r.failure.Partial, r.failure.Usage
		entry.Outcome, entry.Fault, entry.Detail = session.Broken, string(r.failure.Kind), sanitize.Line(r.failure.Error(), maxDetail)
	case len(r.checked.Findings) > 0:
		entry.Outcome, entry.Fault, entry.Detail = session.Rejected, r.rule(), r.findings()
		entry.Warnings = r.warnings()
	}
	entry.Counted.Output = t.dep.Count(entry.Model, text)
	entry.Reported = reported
	t.price(entry, text)
	t.spend(*entry)
}

// price sets the cost of a call with the received text. The cost of a failed call without reported
// usage is unknown if a part of the text arrived, and zero otherwise: providers do not bill calls
// that they did not begin to answer.
func (t *step) price(entry *session.Call, text string) {
	if t.dep.Price == nil || entry.Outcome == session.Broken && entry.Reported == nil && text != "" {
		return
	}
	if cost, ok := t.dep.Price(entry.Model, entry.Billed()); ok {
		entry.Cost = &cost
	}
}
