package drive

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// move makes the first move that is due where the interview stands, one of the
// scenario or one that a perturbation names by its turn, and reports whether there
// was one, and whether the candidate left.
func (c *candidate) move(ctx context.Context) (acted, left bool) {
	for i, m := range c.driver.drive.Moves {
		if c.did[i] || m.At != c.place() || c.view.AutoContinue {
			continue
		}
		c.did[i] = true
		if m.Do == scenarios.MoveLeave {
			return true, true
		}
		c.make(ctx, m)
		return true, false
	}
	return c.departs(ctx), false
}

// departs makes the perturbation that is due where the persona is to act next, and
// reports whether there was one.
func (c *candidate) departs(ctx context.Context) bool {
	if c.view.Finished || c.view.AutoContinue {
		return false
	}
	for i := range c.turns {
		b := &c.turns[i]
		if b.struck > 0 || b.N != c.turn+1 || b.Do == perturb.Stale && c.before == "" {
			continue
		}
		b.tell(c.trial.collector, b.N)
		if b.Do == perturb.Double || b.Do == perturb.Concurrent {
			c.turn++ // this is what the persona sends
		}
		c.make(ctx, departure(b.Do))
		return true
	}
	return false
}

// departure is what a person does at a turn as a move.
func departure(do string) scenarios.Move {
	switch do {
	case perturb.Empty:
		return scenarios.Move{Do: scenarios.MoveSay, Text: " \n\t", Want: string(interview.CodeEmptyAnswer)}
	case perturb.Long:
		return scenarios.Move{Do: scenarios.MoveSay, Text: "x", Repeat: 1 << 20, Want: "body_too_large"}
	case perturb.Ahead:
		return scenarios.Move{Do: scenarios.MoveAhead, Want: string(interview.CodeOutOfOrder)}
	}
	return scenarios.Move{Do: do} // the others have the names of moves
}

// beginOtherwise makes the perturbations of the first turn, which begins the
// interview: most need one that has begun.
func (c *candidate) beginOtherwise(ctx context.Context, body sending) {
	for i := range c.turns {
		b := &c.turns[i]
		if b.N != c.turn || b.Do != perturb.Double && b.Do != perturb.Restart {
			continue
		}
		b.tell(c.trial.collector, b.N)
		if b.Do == perturb.Restart {
			c.process.retire()
			c.restart()
			continue
		}
		got := c.deliver(ctx, body)
		c.promise(got.code == "", "an interview that is begun twice: the first time the code is %q (%s)", got.code, got.message)
	}
}

// make makes one move and holds what comes back against what the scenario wants.
func (c *candidate) make(ctx context.Context, m scenarios.Move) {
	at := c.place()
	version := c.version(ctx)
	got := c.perform(ctx, m)
	c.promise(got.code == m.Want, "%s at %s: expected the code %q, got %q (%s)", m.Do, at, m.Want, got.code, got.message)
	if m.Want != "" && !stored(m.Want) {
		now := c.version(ctx)
		c.promise(version == now, "%s at %s was refused, and the session went from version %d to %d", m.Do, at, version, now)
	}
}

// stored reports whether a submission with that error is kept all the same.
func stored(code string) bool {
	return code == string(interview.CodeBackend) || code == string(interview.CodeReply)
}

func (c *candidate) version(ctx context.Context) int64 {
	s, err := c.store.Load(ctx, c.view.SessionID)
	c.promise(err == nil, "the session cannot be read: %v", err)
	return s.Version
}

func (c *candidate) perform(ctx context.Context, m scenarios.Move) answer {
	switch m.Do {
	case scenarios.MoveSay:
		text := said(m)
		return c.act(ctx, sending{Message: &text})
	case scenarios.MoveEvent:
		return c.act(ctx, sending{Event: interview.Event(m.Event)})
	case scenarios.MoveReload:
		c.reload(ctx)
	case scenarios.MoveDouble:
		return c.twice(ctx, func(send func()) { send(); send() })
	case scenarios.MoveConcurrent:
		return c.twice(ctx, func(send func()) {
			var both sync.WaitGroup
			both.Go(send)
			both.Go(send)
			both.Wait()
		})
	case scenarios.MoveStale:
		text := "An answer to what was asked before."
		return c.deliver(ctx, sending{Session: c.view.SessionID, Message: &text, ID: c.id(), ReplyTo: c.before})
	case scenarios.MoveAhead:
		text := "An answer to what nobody asked yet."
		return c.deliver(ctx, sending{Session: c.view.SessionID, Message: &text, ID: c.id(), ReplyTo: "m" + strconv.Itoa(1<<20)})
	case scenarios.MoveRestart:
		c.process.retire()
		c.restart()
		c.reload(ctx)
	case scenarios.MoveCrash:
		return c.crash(ctx, m.Instant)
	case scenarios.MoveUnknown:
		text := "Is anybody there?"
		return c.deliver(ctx, sending{Session: "nobody-knows-this-session", Message: &text, ID: c.id(), ReplyTo: c.view.MessageID})
	}
	return answer{}
}

// twice sends what the persona says next two times, both times as the same
// submission. Both must be answered alike, and one of them as a repetition.
func (c *candidate) twice(ctx context.Context, send func(func())) answer {
	body := c.addressed(c.next())
	var mu sync.Mutex
	var got []answer
	send(func() {
		one := c.post(context.WithoutCancel(ctx), body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, one)
	})
	if c.process.died() || got[0].code == string(interview.CodeStore) || got[1].code == string(interview.CodeStore) {
		return c.says(ctx, body)
	}
	first, second := got[0], got[1]
	if first.view == nil || second.view == nil || first.code != "" || second.code != "" {
		failed := answer{code: first.code + second.code, message: first.message + second.message, view: cmp.Or(first.view, second.view)}
		c.heard(body, failed)
		return failed
	}
	c.promise(first.view.MessageID == second.view.MessageID, "one submission sent twice shows %s and %s", first.view.MessageID, second.view.MessageID)
	c.promise(first.view.Repeated != second.view.Repeated, "of one submission sent twice, not exactly one counts as repeated")
	c.heard(body, first)
	return first
}

// crash lets the process die in the step of the persona's next answer, starts it
// again, and sends the answer again, as a client does that heard nothing.
func (c *candidate) crash(ctx context.Context, instant string) answer {
	body := c.addressed(c.next())
	c.process.plan(instant)
	got := c.post(ctx, body)
	if instant == scenarios.AfterReply {
		_ = c.process.die()
	}
	if !c.process.died() {
		return answer{code: "client", message: fmt.Sprintf("the process did not come to the instant %q; got %q", instant, got.code)}
	}
	c.restart()
	return c.says(ctx, body)
}

// restart starts the service again on the same store.
func (c *candidate) restart() {
	err := c.start()
	c.promise(err == nil, "the service does not start again: %v", err)
}
