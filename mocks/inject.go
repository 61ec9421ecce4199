package mocks

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Injection is a Fault, a Latency or an Edit at one call, independent of the line that answers it.
//
// Faults that replace the answer leave the line to a retry. They fire first, one for each attempt,
// and before a fault of the line. The other injections (a Latency, an Edit, and faults for which
// Fault.Brings is true) all apply to the attempt that delivers the answer. They do not apply to a
// line that is only a fault.
type Injection struct {
	// Call is the number of the call, from 1: one more than the answers that are used or
	// reserved when it is made. A retry is the same call. Unmatched requests do not count.
	Call int
	// Name identifies the injection in reports, such as "call=7:reset-mid-stream".
	Name string
	// Kind of a Latency or an Edit in records; a Fault has its own.
	Kind string
	// Fault fires at the first Fault.Times attempts (default 1).
	Fault *Fault
	// Latency replaces the latency of the line. It fires when the answer arrives, or when the
	// client has waited for longer than the latency of the line and leaves.
	Latency time.Duration
	// Edit changes the text of the answer, and the counted usage with it.
	Edit func(text string) string
}

// faultCount counts the attempts at which a fault has fired, and those at which it still may.
type faultCount struct{ fired, armed int }

// injection is the progress of an Injection.
type injection struct {
	*Injection
	faultCount
	kind  string     // in records
	fault wire.Fault // nil for a process fault, which the codec builds
	// brings is true if the whole answer is delivered with the injection.
	brings bool
	times  int
	why    string // why it did not fire at the last opportunity
}

// Why an injection did not fire.
const (
	whyNoCall = "no such call was made"
	whyHidden = "it cannot show in that answer"
	whyLeft   = "the client left before it showed"
	whyWaits  = "no attempt at that call was answered"
)

// scheduledFault is the fault of a line, or an injection, in one exchange.
type scheduledFault struct {
	count     *faultCount
	injection *injection // nil for the fault of the line
	kind      string
	fault     *Fault     // nil for a Latency and an Edit
	built     wire.Fault // nil for a process fault
	state     faultState
	frame     int // the first frame that shows the fault, or -1
	// since is the time of planning, patience the wait for the first frame without injections.
	since    time.Time
	patience time.Duration
}

type faultState uint8

const (
	armed  faultState = iota // may still fire
	fired                    // has fired
	missed                   // will not fire in this exchange
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
			// A fault that cannot be built is a process fault, or unknown and never fires.
			in.fault, _ = wire.NewFault(f.spec())
		}
		all[i] = in
	}
	return all
}

// scheduleFaults schedules the faults of the next attempt at a line, and returns the first phase of
// the exchange.
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

// unschedule removes all faults from x.
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

// miss records that the fault does not fire in this exchange, and why.
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

func (f *scheduledFault) fire() {
	if f.state == armed {
		f.count.armed--
		f.count.fired++
		f.state = fired
	}
}

// applyFaults returns the frames of an answer with the faults of x. It applies injections that
// change the answer first, then the fault that changes how it is sent.
func (e *Engine) applyFaults(x *Exchange, codec wire.Codec, v *view, c *wire.Completion, frames []wire.Frame) []wire.Frame {
	if len(x.faults) == 0 {
		return frames
	}
	patience, now := x.scaled(frames[0].Delay), e.opts.Clock.Now()
	shown := make([]int, len(x.faults)) // the frame that shows each fault
	show := func(i int, faulty []wire.Frame, ok bool) {
		shown[i] = -1
		// The fault of a line fires even if it does not change the answer.
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
			faulty, delivered, ok := encodeFault(codec, v, c, f)
			if show(i, faulty, ok); shown[i] >= 0 {
				x.answer = delivered
			}
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

// encodeFault encodes an answer with a fault. The codec builds process faults. Delivered is c with
// the content that the fault left; ok is false if the fault cannot show.
func encodeFault(
	codec wire.Codec, v *view, c *wire.Completion, f *scheduledFault,
) (frames []wire.Frame, delivered *wire.Completion, ok bool) {
	if f.built != nil {
		left := *c
		frames, ok = f.built(contentRecorder{codec, &left}, *v.call, *c)
		return frames, &left, ok
	}
	if newFault := codec.Dialect().NewFault; newFault != nil {
		if built, _ := newFault(f.fault.spec()); built != nil {
			frames, ok = built(codec, *v.call, *c)
		}
	}
	return frames, c, ok
}

// contentRecorder copies the content of the answer that a fault encodes to left. The usage of left remains
// the usage of the script.
type contentRecorder struct {
	wire.Codec
	left *wire.Completion
}

func (r contentRecorder) Encode(call wire.Call, answer wire.Completion) []wire.Frame {
	r.left.Text, r.left.Thinking, r.left.Refusal = answer.Text, answer.Thinking, answer.Refusal
	r.left.ToolCalls, r.left.Media, r.left.Finish = answer.ToolCalls, answer.Media, answer.Finish
	return r.Codec.Encode(call, answer)
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

// dropHiddenFaults drops the faults that no frame shows. The exchange continues without the fault
// of the line.
func (e *Engine) dropHiddenFaults(x *Exchange) {
	for i := range x.faults {
		if f := &x.faults[i]; f.frame < 0 {
			f.miss(whyHidden)
			e.apply(x, faultDropped)
		}
	}
	x.faults = slices.DeleteFunc(x.faults, func(f scheduledFault) bool { return f.frame < 0 && f.injection == nil })
}

func (x *Exchange) fireFaults(i int) {
	for k := range x.faults {
		if f := &x.faults[k]; f.frame == i {
			f.fire()
		}
	}
	if x.setFired(x.allFired()); x.record.Fired {
		x.engine.apply(x, faultFired)
	}
}

func (x *Exchange) setFired(fired bool) {
	x.record.Fired = fired
	if x.stored != nil {
		x.stored.Fired = fired
	}
}

// undoFaults undoes fireFaults.
func (x *Exchange) undoFaults(i int) {
	for k := range x.faults {
		if f := &x.faults[k]; f.frame == i && f.state == fired {
			f.count.fired--
			f.state = missed
		}
	}
	x.setFired(x.record.Fired && x.allFired())
}

// cancelFaults cancels the faults of an exchange that has ended. A latency fires if the client left
// because of it.
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

// allFired reports whether all faults of the record have fired.
func (x *Exchange) allFired() bool {
	return !slices.ContainsFunc(x.faults, func(f scheduledFault) bool { return f.state != fired })
}

// unfired describes an injection that fired less often than planned.
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
