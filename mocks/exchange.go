package mocks

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Exchange is one request and its planned answer. Its player waits for Delay before each frame,
// sends it with Send, and finally calls End. It must be used by one goroutine.
type Exchange struct {
	engine  *Engine
	ctx     context.Context
	frames  []wire.Frame
	line    int // -1 if unmatched
	attempt int
	reply   *reply // the line's answer to this attempt
	phase   phase  // changed only by Engine.apply
	stray   bool   // a request without an endpoint
	// faults has the fault of the line and then the injections.
	faults []scheduledFault
	// before is the state before this exchange changed it, moved the number of that change.
	before string
	moved  int

	sent   int                    // frames
	slot   int                    // in the journal
	end    func(llm.Reply, error) // of the observer
	call   *wire.Call             // nil without an answer
	answer *wire.Completion       // planned; nil without an answer
	denied llm.ErrorKind          // why there is no answer
	record Record
	stored *StorageRecord // of a request about files and batches; may be nil
}

// Frames returns the planned answer. The caller must not change it.
func (x *Exchange) Frames() []wire.Frame { return x.frames }

// Delay returns the wait before frame i, in the engine's scale.
func (x *Exchange) Delay(i int) time.Duration { return x.scaled(x.frames[i].Delay) }

func (x *Exchange) scaled(d time.Duration) time.Duration {
	if x.engine.opts.Scale != 1 {
		d = time.Duration(float64(d) * x.engine.opts.Scale)
	}
	return d
}

// Send sends frame i with write. It fails if write fails or the client has left; the player must
// then stop.
//
// The engine advances before it sends the frame: a client that has received an answer can
// immediately make its next call on another connection.
func (x *Exchange) Send(i int, write func() error) error {
	if err := x.reach(i); err != nil {
		return err
	}
	x.frameSent()
	if err := write(); err != nil {
		x.lose()
		return err
	}
	return nil
}

// reach fires the faults of frame i, which is about to be sent.
func (x *Exchange) reach(i int) error {
	if x.ctx.Err() != nil {
		return clock.Err(x.ctx)
	}
	if len(x.faults) > 0 {
		x.engine.mu.Lock()
		defer x.engine.mu.Unlock()
		x.fireFaults(i)
	}
	return nil
}

// frameSent records that the next frame was sent. The last frame of an answer that is not cut off
// delivers the answer.
func (x *Exchange) frameSent() {
	f := &x.frames[x.sent]
	x.sent++
	x.record.Frames, x.record.Bytes = x.sent, x.record.Bytes+len(f.Data)
	if x.sent < len(x.frames) {
		return
	}
	if f.End == wire.Continue {
		defer x.notifyObserver(true)
	}
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if x.phase == outside {
		if x.stored != nil && f.End == wire.Continue {
			e.waitForStored(x, f)
		}
		return
	}
	if f.End == wire.Continue {
		x.record.Delivered = true
		if x.call != nil {
			x.call.Remember(x.answer.ID, x.frames)
		}
		e.apply(x, delivered)
		e.askToWait(x, f)
	}
	e.journal.put(x)
}

// lose undoes the effects of the last frame.
func (x *Exchange) lose() {
	x.sent--
	x.record.Frames, x.record.Bytes = x.sent, x.record.Bytes-len(x.frames[x.sent].Data)
	x.record.Delivered = false
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if x.stored != nil {
		delete(e.storageRecords.waits, x.stored.Request)
	} else {
		e.waitUntil = time.Time{}
	}
	e.apply(x, frameLost)
	x.undoFaults(x.sent)
}

// End closes the exchange and completes its record. If the exchange is incomplete, the client has
// hung up.
func (x *Exchange) End() {
	defer x.notifyObserver(false)
	x.engine.mu.Lock()
	defer x.engine.mu.Unlock()
	x.engine.apply(x, ended)
}

// apply applies an event to x. The caller holds the engine's lock.
func (e *Engine) apply(x *Exchange, ev event) {
	to, effects := next(x.phase, ev)
	x.phase = to
	if effects&cancelFaults != 0 {
		x.cancelFaults()
	}
	if effects&endReservation != 0 {
		e.lines[x.line].reserved--
		e.pending = slices.DeleteFunc(e.pending, func(p *Exchange) bool { return p == x })
	}
	if effects&countUse != 0 {
		e.lines[x.line].used++
		e.used++
	}
	if effects&discountUse != 0 {
		e.lines[x.line].used--
		e.used--
	}
	if effects&putBack != 0 {
		e.putBack(x)
	}
	if effects&advanceState != 0 {
		e.advanceState(x)
	}
	if effects&closeRecord != 0 {
		x.record.HungUp = x.sent < len(x.frames) || x.frames[x.sent-1].End == wire.Hang
		if x.record.HungUp && x.line >= 0 && len(x.faults) == 0 {
			e.lines[x.line].left++
		}
		e.retries.ended(x)
		e.journal.put(x)
	}
}

// advanceState enters the state that follows the line.
func (e *Engine) advanceState(x *Exchange) {
	if then := e.program.lines[x.line].Then; then != "" {
		e.moves++
		x.before, x.moved = e.state, e.moves
		e.state = then
	}
}

// putBack makes the line available again, and undoes its change of state unless there was a later
// one.
func (e *Engine) putBack(x *Exchange) {
	e.cursor = min(e.cursor, x.line)
	if x.moved > 0 && x.moved == e.moves {
		e.state = x.before
	}
	x.moved = 0
}
