package persist

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

// emit reports what happens. The caller holds the lock, so that the events have an
// order.
func (r *supervisor) emit(e event.Event) { r.Sink.Emit(e) }

// name returns the id of the task with an index; empty if there is none.
func (r *supervisor) name(task int) string {
	if task < 0 {
		return ""
	}
	return r.state.Task(task).ID
}

// emitAttempt reports an attempt's outcome and what the supervisor does about it.
func (r *supervisor) emitAttempt(t state.Task, record state.Record, v *stop.Verdict) {
	o := record.Outcome
	n := r.state.Counts.Attempts
	r.emit(event.Event{Kind: event.Iteration, Name: "task", N: n, Detail: o.Details, Attrs: map[string]any{
		"id": t.ID, "attempt": t.Attempts, "grade": o.Grade, "from": string(t.From),
		"segment": r.state.Segment, "calls": o.Calls,
	}})
	guard := func(name, detail string) {
		r.emit(event.Event{Kind: event.Guard, Name: name, N: n, Detail: detail, Attrs: map[string]any{"task": t.ID}})
	}
	if o.Cause != "" {
		guard(o.Cause, o.Details+"; it goes to the end of the queue, and the next task is taken")
	}
	if now, _ := r.state.ByID(t.ID); o.Grade == string(Failed) && now.Waiting() {
		guard("retry", "the attempt failed and is made again: "+o.Details)
	}
	if v != nil {
		attrs := v.Attrs()
		attrs["forced"] = !v.MayStop
		r.emit(event.Event{Kind: event.Verdict, Name: "stop", N: n, Detail: v.Reason, Attrs: attrs})
	}
	r.emitContext(record)
}

// emitChecks tells what checks found, one by one and in all.
func (r *supervisor) emitChecks(record state.Record) {
	n := r.state.Counts.Checks
	counts := map[check.Verdict]int{}
	for _, c := range record.Results {
		counts[c.Verdict]++
		r.emit(event.Event{Kind: event.Verdict, Name: "check", N: n, Detail: c.Details, Attrs: map[string]any{
			"check": string(c.Name), "verdict": string(c.Verdict), "round": r.state.Counts.Rounds,
		}})
	}
	r.emit(event.Event{Kind: event.Verdict, Name: "checks", N: n, Attrs: map[string]any{
		"pass": counts[check.Pass], "fail": counts[check.Fail], "unknown": counts[check.Unknown], "none": counts[check.None],
		"why": string(record.Why),
	}})
}

// emitSigns reports the signs of a premature stop when they change.
func (r *supervisor) emitSigns() error {
	now := r.state.Look(r.now())
	before := r.state.Signs
	if slices.Equal(now, before) {
		return nil
	}
	if err := r.put(state.Record{Kind: state.KindSigns, Signs: now}); err != nil {
		return err
	}
	for _, sign := range now {
		if !slices.Contains(before, sign) {
			r.emitSign(sign, false)
		}
	}
	return nil
}

// emitForced reports the signs that keep the run from stopping where it could.
func (r *supervisor) emitForced() {
	for _, sign := range r.state.Signs {
		r.emitSign(sign, true)
	}
}

func (r *supervisor) emitSign(sign state.Sign, forced bool) {
	r.emit(event.Event{Kind: event.Guard, Name: "sign", N: r.state.Counts.Attempts, Detail: sign.Meaning(), Attrs: map[string]any{
		"sign": string(sign), "severity": sign.Severity(), "forced": forced,
	}})
}

// emitEnd tells how the run ended.
func (r *supervisor) emitEnd(end *ending, done, tasks int) {
	if end.Guard != "" {
		r.emit(event.Event{Kind: event.Guard, Name: end.Guard, Detail: end.Details, Attrs: map[string]any{}})
	}
	if end.Status == StatusEscalated && !end.kept {
		r.emit(event.Event{Kind: event.HandOver, Name: "person", Detail: end.Details})
	}
	r.emit(event.Event{Kind: event.End, Name: string(end.Status), Detail: end.Details, Attrs: map[string]any{
		"done": done, "tasks": tasks, "exit_code": end.Status.ExitCode(),
	}})
}
