package mocks

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Exchange is one request and its planned answer. Its player waits for Delay before each
// frame and hands it over with Send; at last it calls End. It belongs to one goroutine.
type Exchange struct {
	engine  *Engine
	ctx     context.Context
	frames  []wire.Frame
	line    int // -1 without
	attempt int
	reply   *reply // the line's answer to this attempt
	phase   phase  // changed only by Engine.apply
	// faults are the fault of the line, then injections.
	faults []scheduledFault
	// before is the state before this exchange moved it as move number moved.
	before string
	moved  int

	sent int // how many frames are handed over
	slot int // in the journal
	// end is the observer's; see observe.go.
	end    func(llm.Reply, error)
	call   *wire.Call       // nil without an answer
	answer *wire.Completion // as planned; nil without
	denied llm.ErrorKind    // why there is none
	record Record
}

// Frames returns the planned answer, which must not be changed.
func (x *Exchange) Frames() []wire.Frame { return x.frames }

// Delay returns how long to wait before frame i, in the engine's scale.
func (x *Exchange) Delay(i int) time.Duration {
	return x.scaled(x.frames[i].Delay)
}

func (x *Exchange) scaled(d time.Duration) time.Duration {
	if x.engine.opts.Scale != 1 {
		d = time.Duration(float64(d) * x.engine.opts.Scale)
	}
	return d
}

// Send hands over frame i with write. It fails if write does, or if the client has left;
// the player then stops.
//
// The engine settles what the frame changes before the bytes go out: a client that has
// seen an answer finds the engine past it, however quickly it calls again on another
// connection.
func (x *Exchange) Send(i int, write func() error) error {
	if err := x.reach(i); err != nil {
		return err
	}
	x.handedOver()
	if err := write(); err != nil {
		x.lose()
		return err
	}
	return nil
}

// reach settles that frame i is about to be handed over, and with it the faults that
// show there.
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

// handedOver settles that the whole of the next frame is handed over. The last one of an
// answer that is not cut off delivers it.
func (x *Exchange) handedOver() {
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
		return
	}
	if f.End == wire.Continue {
		x.record.Delivered = true
		if x.call != nil {
			x.call.Remember(x.answer.ID, x.frames)
		}
		e.apply(x, delivered)
	}
	e.journal.put(x)
}

// lose takes back what was settled for the frame that was handed over last.
func (x *Exchange) lose() {
	x.sent--
	x.record.Frames, x.record.Bytes = x.sent, x.record.Bytes-len(x.frames[x.sent].Data)
	x.record.Delivered = false
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	e.apply(x, frameLost)
	x.takeBackFaults(x.sent)
}

// End closes the exchange and completes its record. The client of an incomplete exchange
// has hung up.
func (x *Exchange) End() {
	defer x.notifyObserver(false)
	x.engine.mu.Lock()
	defer x.engine.mu.Unlock()
	x.engine.apply(x, ended)
}

// apply moves x on by an event. The caller has the engine's lock.
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
		e.retries.ended(x)
		e.journal.put(x)
	}
}

// advanceState goes to the state that the line's answer leads to.
func (e *Engine) advanceState(x *Exchange) {
	if then := e.program.lines[x.line].Then; then != "" {
		e.moves++
		x.before, x.moved = e.state, e.moves
		e.state = then
	}
}

// putBack lets the line answer again, and takes the move of the state back unless
// another one came after it.
func (e *Engine) putBack(x *Exchange) {
	e.cursor = min(e.cursor, x.line)
	if x.moved > 0 && x.moved == e.moves {
		e.state = x.before
	}
	x.moved = 0
}
