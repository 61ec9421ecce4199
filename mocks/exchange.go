package mocks

import (
	"context"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Exchange is one request and its planned answer. Its player hands over one
// frame after the other: it waits for Delay, asks Reach, says Sent, sends, and
// says Lost if that failed; at last it calls End. It belongs to one goroutine.
//
// What the engine has to remember is settled in Reach and Sent, before the bytes
// go out: a client that has seen an answer finds the engine past it, however
// quickly it calls again on another connection.
type Exchange struct {
	engine  *Engine
	ctx     context.Context
	frames  []wire.Frame
	line    int // -1 without
	attempt int
	reply   *reply // what the line answers to this attempt
	// holds is true while a unit of the line is reserved, consumes where delivery
	// uses it up, used once it has.
	holds, consumes, used bool
	// aimed is true where the line's fault is to strike, at frame firesAt, and
	// struck once it has.
	aimed, struck bool
	firesAt       int
	hits          []hit // what was injected
	// before is the state before this exchange moved it as move number moved.
	before string
	moved  int

	next  int // how many frames are handed over
	lost  bool
	ended bool
	side  bool // not about the script, and not recorded
	slot  int  // in the journal
	// end is the observer's, said the answer, denied why there is none; see observe.go.
	end  func(llm.Reply, error)
	said *wire.Completion
	// remember stores the answer for later requests; nil for protocols that store none.
	remember func()
	denied   llm.ErrorKind
	record   Record
}

// Frames are what is to be sent. They must not be changed.
func (x *Exchange) Frames() []wire.Frame { return x.frames }

// Fault is the fault of the line that this exchange is to suffer, or nil.
func (x *Exchange) Fault() *Fault {
	if x.firesAt < 0 {
		return nil
	}
	return x.reply.Fault
}

// Delay is how long to wait before frame i, in the engine's scale.
func (x *Exchange) Delay(i int) time.Duration {
	return x.scaled(x.frames[i].Delay)
}

func (x *Exchange) scaled(d time.Duration) time.Duration {
	if x.engine.opts.Scale != 1 {
		d = time.Duration(float64(d) * x.engine.opts.Scale)
	}
	return d
}

// Reach says that frame i is about to be handed over, and with it the fault that
// shows there. It returns false if the client has left; the player then stops.
func (x *Exchange) Reach(i int) bool {
	if x.ctx.Err() != nil {
		return false
	}
	if i == x.firesAt || x.hits != nil {
		e := x.engine
		e.mu.Lock()
		defer e.mu.Unlock()
		e.hit(x, i)
		if i == x.firesAt {
			e.strike(x)
		}
	}
	return true
}

// Sent says that the whole of the next frame is handed over. The last one of an
// answer that is not cut off delivers it.
func (x *Exchange) Sent() {
	f := &x.frames[x.next]
	x.next++
	x.record.Frames, x.record.Bytes = x.next, x.record.Bytes+len(f.Data)
	if x.next < len(x.frames) || x.side {
		return
	}
	if f.End == wire.Continue {
		defer x.tell(true)
	}
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	if f.End == wire.Continue {
		x.record.Delivered = true
		if x.remember != nil {
			x.remember()
		}
		e.deliver(x)
	}
	e.journal.put(x)
}

// Lost says that the frame of the last Reach and Sent did not get through.
func (x *Exchange) Lost() {
	if x.side {
		return
	}
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	x.lost = true
	i := x.next - 1
	x.record.Frames, x.record.Bytes = i, x.record.Bytes-len(x.frames[i].Data)
	x.record.Delivered = false
	e.takeBack(x, i)
}

// End closes the exchange and completes its record. An exchange that is not
// complete by then is one whose client has hung up.
func (x *Exchange) End() {
	if x.side || x.ended {
		return
	}
	x.ended = true
	defer x.tell(false)
	e := x.engine
	e.mu.Lock()
	defer e.mu.Unlock()
	whole := x.next == len(x.frames) && !x.lost
	x.record.HungUp = !whole || x.frames[x.next-1].End == wire.Hang
	e.release(x)
	e.retries.left(x)
	e.journal.put(x)
}

// strike settles that the fault has taken effect.
func (e *Engine) strike(x *Exchange) {
	if !x.aimed || x.struck {
		return
	}
	s := &e.lines[x.line]
	s.aimed--
	s.struck++
	x.struck = true
	x.record.Fired = x.allFired()
	switch {
	case !x.consumes:
		e.release(x)
	case x.reply.always:
		e.deliver(x)
	}
}

// deliver uses up the unit that x holds.
func (e *Engine) deliver(x *Exchange) {
	if x.holds && x.consumes {
		e.lines[x.line].used++
		e.used++
		x.used = true
		e.unhold(x)
	}
}

// takeBack undoes what the last Reach and Sent have settled, of frame i.
func (e *Engine) takeBack(x *Exchange, i int) {
	if x.line < 0 {
		return
	}
	s := &e.lines[x.line]
	if x.used {
		s.used--
		e.used--
		x.used = false
		e.giveBack(x)
	}
	if i == x.firesAt && x.struck {
		s.struck--
		x.struck, x.record.Fired, x.aimed = false, false, false
	}
	if x.hits != nil {
		x.unhit(i)
	}
}

// release gives back what x still holds. It may be called again.
func (e *Engine) release(x *Exchange) {
	e.expire(x)
	if x.aimed && !x.struck {
		e.lines[x.line].aimed--
		x.aimed = false
	}
	if x.holds {
		e.unhold(x)
		e.giveBack(x)
	}
}

// unhold ends the reservation.
func (e *Engine) unhold(x *Exchange) {
	x.holds = false
	e.lines[x.line].reserved--
	e.pending = slices.DeleteFunc(e.pending, func(p *Exchange) bool { return p == x })
}

// giveBack lets the unit be handed out again, and takes the move of the state
// back unless another one came after it.
func (e *Engine) giveBack(x *Exchange) {
	e.cursor = min(e.cursor, x.line)
	if x.moved > 0 && x.moved == e.moves {
		e.state = x.before
	}
	x.moved = 0
}

// spare turns an exchange whose fault cannot show in its answer into one without.
func (e *Engine) spare(x *Exchange) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if x.aimed {
		e.lines[x.line].aimed--
		x.aimed = false
	}
	if x.consumes || !x.holds {
		return
	}
	x.consumes = true
	e.move(x)
}
