package kind

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// move carries out the first move that is due, of the scenario or of a perturbation. acted reports
// whether there was one, and left whether the candidate left.
func (c *candidate) move(ctx context.Context) (acted, left bool) {
	for i, m := range c.opts.Moves {
		if c.did[i] || m.At != c.place() {
			continue
		}
		c.did[i] = true
		if m.Do == moveLeave {
			return true, true
		}
		c.carryOut(ctx, m)
		return true, false
	}
	return c.perturb(ctx), false
}

// perturb carries out the perturbation that is due at the next turn of the persona, and reports whether
// there was one.
func (c *candidate) perturb(ctx context.Context) bool {
	if c.view.Finished || c.view.AutoContinue {
		return false
	}
	for i := range c.turns {
		b := &c.turns[i]
		if b.Fired() || b.N != c.turn+1 || b.Do == perturb.Stale && c.before == "" {
			continue
		}
		b.Fire(c.trial.Sink, b.N)
		if b.Do == perturb.Double || b.Do == perturb.Concurrent {
			c.turn++ // the move sends the submission of the persona
		}
		c.carryOut(ctx, perturbationMove(b.Do))
		return true
	}
	return false
}

func perturbationMove(do string) Move {
	switch do {
	case perturb.Empty:
		return Move{Do: moveSay, Text: " \n\t", Want: string(interview.CodeEmptyAnswer)}
	case perturb.Long:
		return Move{Do: moveSay, Text: "x", Repeat: 1 << 20, Want: "body_too_large"}
	case perturb.Ahead:
		return Move{Do: moveAhead, Want: string(interview.CodeOutOfOrder)}
	}
	return Move{Do: do} // the others have the names of moves
}

// perturbStart carries out the perturbations of the first turn, which begins the interview. The others
// need an interview that has begun.
func (c *candidate) perturbStart(ctx context.Context, body sending) {
	for i := range c.turns {
		b := &c.turns[i]
		if b.N != c.turn || b.Do != perturb.Double && b.Do != perturb.Restart {
			continue
		}
		b.Fire(c.trial.Sink, b.N)
		if b.Do == perturb.Restart {
			c.process.Retire()
			c.restart()
			continue
		}
		got := c.deliver(ctx, body)
		c.require(got.code == "", "the first of two START submissions failed with the code %q (%s)", got.code, got.message)
	}
}

// carryOut carries out one move and compares the response with the scenario.
func (c *candidate) carryOut(ctx context.Context, m Move) {
	at := c.place()
	version := c.version(ctx)
	got := c.perform(ctx, m)
	c.require(got.code == m.Want, "%s at %s: expected the code %q, got %q (%s)", m.Do, at, m.Want, got.code, got.message)
	if m.Want != "" && !stored(m.Want) {
		now := c.version(ctx)
		c.require(version == now, "%s at %s was refused but changed the session from version %d to %d", m.Do, at, version, now)
	}
}

// stored reports whether a submission with an error code is stored.
func stored(code string) bool {
	switch interview.Code(code) {
	case interview.CodeBackend, interview.CodeReply, interview.CodeLimit, interview.CodeBudget:
		return true
	default:
		return false
	}
}

func (c *candidate) version(ctx context.Context) int64 {
	s, err := c.store.Load(ctx, c.view.SessionID)
	if c.deleted && errors.Is(err, session.ErrDeleted) {
		return 0
	}
	c.require(err == nil, "load the session: %v", err)
	return s.Version
}

func (c *candidate) perform(ctx context.Context, m Move) answer {
	switch m.Do {
	case moveSay:
		text := textOf(m)
		return c.act(ctx, sending{Message: &text})
	case moveEvent:
		return c.act(ctx, sending{Event: interview.Event(m.Event)})
	case moveReload:
		c.reload(ctx)
	case moveStart:
		return c.deliver(ctx, c.startBody(c.id()))
	case moveWait:
		_ = c.trial.Clock.Sleep(ctx, m.For.Std()) // the end of ctx is handled before the next submission
	case moveDouble:
		return c.twice(ctx, func(send func()) { send(); send() })
	case moveConcurrent:
		return c.twice(ctx, func(send func()) {
			var both sync.WaitGroup
			both.Go(send)
			both.Go(send)
			both.Wait()
		})
	case moveStale:
		text := "An answer to what was asked before."
		return c.deliver(ctx, sending{Session: c.view.SessionID, Message: &text, ID: c.id(), ReplyTo: c.before})
	case moveAhead:
		text := "An answer to what nobody asked yet."
		return c.deliver(ctx, sending{Session: c.view.SessionID, Message: &text, ID: c.id(), ReplyTo: "m" + strconv.Itoa(1<<20)})
	case moveRestart, moveRaise:
		c.raised = c.raised || m.Do == moveRaise
		c.process.Retire()
		c.restart()
		c.reload(ctx)
	case moveCrash:
		return c.crash(ctx, m.Instant)
	case moveLink:
		return c.openLink(ctx)
	case moveExport:
		return c.export(ctx)
	case moveDelete:
		return c.erase(ctx)
	case moveUnknown:
		text := "Is anybody there?"
		return c.deliver(ctx, sending{Session: "nobody-knows-this-session", Message: &text, ID: c.id(), ReplyTo: c.view.MessageID})
	}
	return answer{}
}

// twice sends the next submission of the persona two times. Both responses must be equal, and
// one of them must count as repeated.
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
	if c.process.Crashed() || got[0].code == string(interview.CodeStore) || got[1].code == string(interview.CodeStore) {
		return c.send(ctx, body)
	}
	first, second := got[0], got[1]
	if first.view == nil || second.view == nil || first.code != "" || second.code != "" {
		failed := answer{code: first.code + second.code, message: first.message + second.message, view: cmp.Or(first.view, second.view)}
		c.receive(body, failed)
		return failed
	}
	c.require(first.view.MessageID == second.view.MessageID,
		"the two responses to a repeated submission show %s and %s", first.view.MessageID, second.view.MessageID)
	c.require(first.view.Repeated != second.view.Repeated, "not exactly one response to a repeated submission has repeated set")
	c.receive(body, first)
	return first
}

// crash crashes the process in the step of the persona's next answer, restarts it, and sends the
// answer again.
func (c *candidate) crash(ctx context.Context, instant string) answer {
	body := c.addressed(c.next())
	c.process.plan(instant)
	got := c.post(ctx, body)
	if instant == afterReply {
		_ = c.process.Crash()
	}
	if !c.process.Crashed() {
		return answer{code: "client", message: fmt.Sprintf("the process did not reach the instant %q; got %q", instant, got.code)}
	}
	c.restart()
	return c.send(ctx, body)
}

// restart starts the service again on the same store.
func (c *candidate) restart() {
	err := c.start()
	c.require(err == nil, "the service does not restart: %v", err)
}
