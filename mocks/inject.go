package mocks

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Injection is something that goes wrong at one call, whatever line answers it. It
// has a Fault, a Latency or an Edit.
//
// Those that spoil a call in place of its answer leave the line where it is, so that
// a retry finds it; those that come with the whole answer (a Latency, an Edit, and
// the faults that Fault.Brings is true of) use it up. At one call the former strike
// first, one for each attempt and before a fault of the line's own; then the attempt
// that brings the answer suffers all of the latter at once. A line that is nothing but
// a fault has no answer for them.
type Injection struct {
	// Call is which call, from 1: one more than the answers that were used up, or
	// are on their way to being, when it is made. The retry of a call is the same
	// call. A request that no line answers is none.
	Call int
	// Name is how reports name it, such as "call=7:reset-mid-stream".
	Name string
	// Kind is what records call a Latency or an Edit; of a Fault it is the Fault's.
	Kind string
	// Fault, if given, strikes the first Fault.Times attempts (default 1).
	Fault *Fault
	// Latency, if not 0, is how long the answer takes, in place of the line's. It has
	// taken effect when the answer comes, and also when the client has waited longer
	// than for the line's and left.
	Latency time.Duration
	// Edit, if given, changes the text of the answer, and with it the usage that is
	// counted.
	Edit func(text string) string
}

// injection is how far an Injection has come.
type injection struct {
	*Injection
	fault wire.Fault // nil for a process's, which the codec makes
	// brings is true where the whole answer comes with it.
	brings        bool
	times         int
	struck, aimed int
	why           string // it did not strike, when last it could have
}

// Why an injection did not strike.
const (
	whyNoCall = "no such call was made"
	whyHidden = "it cannot show in that answer"
	whyLeft   = "the client left before it showed"
	whyWaits  = "no attempt at that call was answered"
)

// hit is an injection that one exchange is to suffer.
type hit struct {
	*injection
	at    int // the frame that shows it; -1 if none does
	state hitState
	// since is when the answer was planned, patience how long a client waits for its
	// first frame if nothing is injected.
	since    time.Time
	patience time.Duration
}

type hitState uint8

const (
	aimed  hitState = iota // it may strike yet
	struck                 // it has taken effect
	missed                 // it has not, and will not here
)

func newInjections(given []Injection) []*injection {
	if len(given) == 0 {
		return nil
	}
	all := make([]*injection, len(given))
	for i := range given {
		in := &injection{Injection: &given[i], brings: true, times: 1, why: whyNoCall}
		if f := in.Fault; f != nil {
			in.brings = brings(f.Kind)
			in.times = max(f.Times, 1)
			// One that cannot be built is a process's, or nobody's: it then never fires.
			in.fault, _ = wire.NewFault(f.spec())
		}
		all[i] = in
	}
	return all
}

// kind is what records call it.
func (in *injection) kind() string {
	if in.Fault != nil {
		return in.Fault.Kind
	}
	return in.Kind
}

// inject aims at x what is to go wrong at its call. The unit of the line is
// reserved.
func (e *Engine) inject(x *Exchange) {
	call := 1 + e.used
	for _, p := range e.pending {
		if p.consumes {
			call++
		}
	}
	for _, in := range e.injections {
		switch {
		case in.Call != call || in.struck+in.aimed >= in.times:
		case !in.brings:
			e.giveUp(x)
			x.consumes = false
			x.aim(in)
			return
		case !x.consumes:
			in.why = whyWaits
		case x.reply.always || in.Fault != nil && (x.aimed || x.spoilt()):
			in.why = whyHidden
		default:
			x.aim(in)
		}
	}
}

func (x *Exchange) aim(in *injection) {
	in.aimed++
	x.hits = append(x.hits, hit{injection: in, at: -1})
	if x.record.Fault != "" {
		x.record.Fault += "+"
	}
	x.record.Fault += in.kind()
}

// spoilt reports whether one of the hits is a fault of the wire.
func (x *Exchange) spoilt() bool {
	return slices.ContainsFunc(x.hits, func(h hit) bool { return h.Fault != nil })
}

// giveUp takes back what is aimed at x.
func (e *Engine) giveUp(x *Exchange) {
	if x.aimed {
		e.lines[x.line].aimed--
		x.aimed = false
	}
	for i := range x.hits {
		x.hits[i].miss(whyWaits)
	}
	x.hits, x.record.Fault = nil, ""
}

// miss settles that the injection does not strike here, and why.
func (h *hit) miss(why string) {
	if h.state == aimed {
		h.aimed--
		h.state, h.why = missed, why
	}
}

// strike settles that the injection has taken effect.
func (h *hit) strike() {
	if h.state == aimed {
		h.aimed--
		h.struck++
		h.state = struck
	}
}

// harm lets the hits of x loose on an answer and its frames: first those that change
// the answer, then the fault that changes what becomes of it.
func (e *Engine) harm(x *Exchange, codec wire.Codec, v *view, c *wire.Completion, frames []wire.Frame) []wire.Frame {
	patience, now := x.scaled(frames[0].Delay), e.opts.Clock.Now()
	shown := make([]int, len(x.hits)) // in which frame each shows
	try := func(i int, spoilt []wire.Frame, ok bool) {
		shown[i] = -1
		if ok && !slices.EqualFunc(spoilt, frames, sameFrame) {
			shown[i] = firstDifference(spoilt, frames)
			frames = spoilt
		}
	}
	for i, h := range x.hits {
		if h.Fault == nil {
			e.change(x, v, c, h.Injection)
			try(i, codec.Encode(*v.call, *c), true)
		}
	}
	for i, h := range x.hits {
		if h.Fault != nil {
			spoilt, ok := spoil(codec, v, c, h.fault, h.Fault)
			try(i, spoilt, ok)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range x.hits {
		h := &x.hits[i]
		h.at, h.since, h.patience = shown[i], now, patience
		if h.at < 0 {
			e.spareHit(x, h)
		}
	}
	return frames
}

// change makes the answer what a Latency or an Edit says.
func (e *Engine) change(x *Exchange, v *view, c *wire.Completion, in *Injection) {
	if in.Latency > 0 {
		c.First, c.PerToken = in.Latency, 0
	}
	if in.Edit == nil {
		return
	}
	c.Text = in.Edit(c.Text)
	if x.reply.Usage == nil {
		c.Usage = e.usage(v, c)
	}
}

// spareHit settles that an injection cannot show in this answer, which is then
// delivered without it.
func (e *Engine) spareHit(x *Exchange, h *hit) {
	h.miss(whyHidden)
	if !x.consumes && x.holds {
		x.consumes = true
		e.move(x)
	}
}

// hit settles that the hits which frame i shows have taken effect.
func (e *Engine) hit(x *Exchange, i int) {
	for k := range x.hits {
		if h := &x.hits[k]; h.at == i {
			h.strike()
		}
	}
	x.record.Fired = x.allFired()
	if !x.consumes && x.record.Fired {
		e.release(x)
	}
}

// unhit takes back that frame i was seen.
func (x *Exchange) unhit(i int) {
	for k := range x.hits {
		if h := &x.hits[k]; h.at == i && h.state == struck {
			h.struck--
			h.state = missed
		}
	}
	x.record.Fired = false
}

// expire settles what becomes of the hits of an exchange that is over. A client that
// left because it had to wait has been struck.
func (e *Engine) expire(x *Exchange) {
	for k := range x.hits {
		h := &x.hits[k]
		if h.state == aimed && h.Latency > 0 && h.at >= 0 && e.opts.Clock.Now().Sub(h.since) > h.patience {
			h.strike()
			x.record.Fired = x.allFired()
		}
		h.miss(whyLeft)
	}
}

// allFired reports whether all that the record names has taken effect.
func (x *Exchange) allFired() bool {
	return (!x.aimed || x.struck) && !slices.ContainsFunc(x.hits, func(h hit) bool { return h.state != struck })
}

// unfired says what was injected and did not strike as often as it should.
func (in *injection) unfired() (text string, ok bool) {
	switch {
	case in.struck >= in.times:
		return "", false
	case in.struck > 0:
		return fmt.Sprintf("%s: fired %d of %d", in.Name, in.struck, in.times), true
	default:
		return in.Name + ": " + in.why, true
	}
}
