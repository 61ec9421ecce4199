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
// Faults that replace the answer leave the line unused, so that a retry gets it;
// injections that come with the whole answer (a Latency, an Edit, and the faults of which
// Fault.Brings is true) use it. At one call the former fire first, one for each attempt
// and before a fault of the line's own; then the attempt that brings the answer gets all
// of the latter at once. A line that is nothing but a fault has no answer for them.
type Injection struct {
	// Call is the number of the call, from 1: one more than the answers that were used,
	// or are on their way to being, when it is made. The retry of a call is the same
	// call. A request that no line answers does not count.
	Call int
	// Name identifies it in reports, such as "call=7:reset-mid-stream".
	Name string
	// Kind names a Latency or an Edit in records; of a Fault it is the Fault's.
	Kind string
	// Fault, if given, fires at the first Fault.Times attempts (default 1).
	Fault *Fault
	// Latency, if not 0, is how long the answer takes, in place of the line's. It has
	// taken effect when the answer comes, and also when the client has waited longer
	// than for the line's and left.
	Latency time.Duration
	// Edit, if given, changes the text of the answer, and with it the usage that is
	// counted.
	Edit func(text string) string
}

// faultCount counts the attempts at which a fault took effect, and at which it still may.
type faultCount struct{ fired, armed int }

// injection is the progress of an Injection.
type injection struct {
	*Injection
	faultCount
	kind  string     // in records
	fault wire.Fault // nil for a process's, which the codec makes
	// brings is true where the whole answer comes with it.
	brings bool
	times  int
	why    string // it did not fire, when last it could have
}

// Why an injection did not fire.
const (
	whyNoCall = "no such call was made"
	whyHidden = "it cannot show in that answer"
	whyLeft   = "the client left before it showed"
	whyWaits  = "no attempt at that call was answered"
)

// scheduledFault is something that goes wrong with one exchange: the fault of its line,
// or an injection.
type scheduledFault struct {
	count     *faultCount
	injection *injection // nil for the fault of the line
	kind      string
	fault     *Fault     // nil for a Latency and an Edit
	built     wire.Fault // nil for a process's
	state     faultState
	frame     int // the first frame that shows it; -1 if none does
	// since is when the answer was planned, patience how long a client waits for its
	// first frame if nothing is injected.
	since    time.Time
	patience time.Duration
}

type faultState uint8

const (
	armed  faultState = iota // it may take effect yet
	fired                    // it has taken effect
	missed                   // it has not, and will not here
)

func newInjections(given []Injection) []*injection {
	if len(given) == 0 {
		return nil
	}
	all := make([]*injection, len(given))
	for i := range given {
		in := &injection{Injection: &given[i], kind: given[i].Kind, brings: true, times: 1, why: whyNoCall}
		if f := in.Fault; f != nil {
			in.kind = f.Kind
			in.brings = f.Brings()
			in.times = max(f.Times, 1)
			// One that cannot be built is a process's, or unknown: it then never fires.
			in.fault, _ = wire.NewFault(f.spec())
		}
		all[i] = in
	}
	return all
}

// scheduleFaults decides what goes wrong with the next attempt at a line, and returns the
// phase in which the exchange begins.
func (e *Engine) scheduleFaults(x *Exchange) phase {
	l, s := &e.program.lines[x.line], &e.lines[x.line]
	begin := answering
	if f := x.reply.Fault; f != nil && (l.faultTimes == 0 || s.fired+s.armed < l.faultTimes) {
		x.schedule(scheduledFault{count: &s.faultCount, kind: f.Kind, fault: f, built: x.reply.fault})
		switch {
		case x.reply.onlyFault:
			begin = faultOnly
		case !f.Brings():
			begin = faulted
		}
	}
	if len(e.injections) == 0 {
		return begin
	}
	call := 1 + e.used
	for _, p := range e.pending {
		if p.phase.uses() {
			call++
		}
	}
	for _, in := range e.injections {
		scheduled := scheduledFault{count: &in.faultCount, injection: in, kind: in.kind, fault: in.Fault, built: in.fault}
		switch {
		case in.Call != call || in.fired+in.armed >= in.times:
		case !in.brings:
			x.unschedule(whyWaits)
			x.schedule(scheduled)
			return faulted
		case begin == faulted:
			in.why = whyWaits
		case begin == faultOnly || in.Fault != nil && x.hasFault():
			in.why = whyHidden
		default:
			x.schedule(scheduled)
		}
	}
	return begin
}

func (x *Exchange) schedule(f scheduledFault) {
	f.frame = -1
	f.count.armed++
	x.faults = append(x.faults, f)
	if x.record.Fault != "" {
		x.record.Fault += "+"
	}
	x.record.Fault += f.kind
}

// unschedule takes back everything that was scheduled for x.
func (x *Exchange) unschedule(why string) {
	for i := range x.faults {
		x.faults[i].miss(why)
	}
	x.faults, x.record.Fault = nil, ""
}

// hasFault reports whether a Fault is scheduled, and not only a Latency or an Edit.
func (x *Exchange) hasFault() bool {
	return slices.ContainsFunc(x.faults, func(f scheduledFault) bool { return f.fault != nil })
}

// miss settles that the fault does not fire here, and why.
func (f *scheduledFault) miss(why string) {
	if f.state != armed {
		return
	}
	f.count.armed--
	f.state = missed
	if f.injection != nil {
		f.injection.why = why
	}
}

// fire settles that the fault has taken effect.
func (f *scheduledFault) fire() {
	if f.state == armed {
		f.count.armed--
		f.count.fired++
		f.state = fired
	}
}

// applyFaults returns the frames of an answer with the faults of x: first the injections
// that change the answer, then the fault that changes how it is sent.
func (e *Engine) applyFaults(x *Exchange, codec wire.Codec, v *view, c *wire.Completion, frames []wire.Frame) []wire.Frame {
	if len(x.faults) == 0 {
		return frames
	}
	patience, now := x.scaled(frames[0].Delay), e.opts.Clock.Now()
	shown := make([]int, len(x.faults)) // in which frame each shows
	show := func(i int, faulty []wire.Frame, ok bool) {
		shown[i] = -1
		// The fault of a line has fired even where the answer was the same already.
		if ok && (x.faults[i].injection == nil || !slices.EqualFunc(faulty, frames, sameFrame)) {
			shown[i] = firstDifference(faulty, frames)
			frames = faulty
		}
	}
	for i := range x.faults {
		if f := &x.faults[i]; f.fault == nil {
			e.change(x, v, c, f.injection.Injection)
			show(i, codec.Encode(*v.call, *c), true)
		}
	}
	for i := range x.faults {
		if f := &x.faults[i]; f.fault != nil {
			faulty, ok := encodeFault(codec, v, c, f)
			show(i, faulty, ok)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range x.faults {
		f := &x.faults[i]
		f.frame, f.since, f.patience = shown[i], now, patience
	}
	e.dropHiddenFaults(x)
	return frames
}

// encodeFault encodes an answer with a fault in it; a process's is made by the codec. It
// is not ok if the fault cannot show.
func encodeFault(codec wire.Codec, v *view, c *wire.Completion, f *scheduledFault) (frames []wire.Frame, ok bool) {
	built := f.built
	if newFault := codec.Dialect().NewFault; newFault != nil && built == nil {
		built, _ = newFault(f.fault.spec())
	}
	if built == nil {
		return nil, false
	}
	return built(codec, *v.call, *c)
}

// change applies a Latency or an Edit to the answer.
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

// dropHiddenFaults settles that faults which no frame shows do not fire. The fault of the
// line is then forgotten; the exchange goes on without it.
func (e *Engine) dropHiddenFaults(x *Exchange) {
	for i := range x.faults {
		if f := &x.faults[i]; f.frame < 0 {
			f.miss(whyHidden)
			e.apply(x, faultDropped)
		}
	}
	x.faults = slices.DeleteFunc(x.faults, func(f scheduledFault) bool { return f.frame < 0 && f.injection == nil })
}

// fireFaults settles that the faults which frame i shows have taken effect.
func (x *Exchange) fireFaults(i int) {
	for k := range x.faults {
		if f := &x.faults[k]; f.frame == i {
			f.fire()
		}
	}
	if x.record.Fired = x.allFired(); x.record.Fired {
		x.engine.apply(x, faultFired)
	}
}

// takeBackFaults takes back that frame i was seen.
func (x *Exchange) takeBackFaults(i int) {
	for k := range x.faults {
		if f := &x.faults[k]; f.frame == i && f.state == fired {
			f.count.fired--
			f.state = missed
		}
	}
	x.record.Fired = x.record.Fired && x.allFired()
}

// cancelFaults settles what becomes of the faults of an exchange that is over. A latency
// because of which the client left has taken effect.
func (x *Exchange) cancelFaults() {
	for k := range x.faults {
		f := &x.faults[k]
		if in := f.injection; f.state == armed && in != nil && in.Latency > 0 && f.frame >= 0 &&
			x.engine.opts.Clock.Now().Sub(f.since) > f.patience {
			f.fire()
			x.record.Fired = x.allFired()
		}
		f.miss(whyLeft)
	}
}

// allFired reports whether every fault that the record names has taken effect.
func (x *Exchange) allFired() bool {
	return !slices.ContainsFunc(x.faults, func(f scheduledFault) bool { return f.state != fired })
}

// unfired describes what was injected and did not fire as often as it should.
func (in *injection) unfired() (text string, ok bool) {
	switch {
	case in.fired >= in.times:
		return "", false
	case in.fired > 0:
		return fmt.Sprintf("%s: fired %d of %d", in.Name, in.fired, in.times), true
	default:
		return in.Name + ": " + in.why, true
	}
}
