package persist

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

// emit emits an event. The caller holds the lock, which orders the events.
func (r *supervisor) emit(n int, detail string, p event.Payload) {
	r.Sink.Emit(event.New(n, detail, p))
}

// taskID returns the id of the task with an index, or "" if the index is negative.
func (r *supervisor) taskID(i int) string {
	if i < 0 {
		return ""
	}
	return r.state.Task(i).ID
}

// emitAttempt emits the outcome of an attempt and its consequence, or for a report only the verdict of
// the stop guard and the context.
func (r *supervisor) emitAttempt(t state.Task, record state.Record, v *stop.Verdict) {
	if record.Kind == state.KindOutcome {
		r.emitOutcome(t, record.Outcome)
	}
	if v != nil {
		r.emit(r.state.Counts.Attempts, v.Reason, v.Judgement())
	}
	r.emitContext(record)
}

func (r *supervisor) emitOutcome(t state.Task, o *state.Outcome) {
	n := r.state.Counts.Attempts
	r.emit(n, o.Details, Attempted{
		ID: t.ID, Attempt: t.Attempts, Grade: o.Grade, From: t.From, Segment: r.state.Segment, Calls: o.Calls,
	})
	if o.Cause != "" {
		r.emit(n, o.Details+"; the task moves to the end of the queue", Guarded{o.Cause, t.ID})
	}
	if now, _ := r.state.ByID(t.ID); o.Grade == string(Failed) && now.Waiting() {
		r.emit(n, "the attempt failed and will be retried: "+o.Details, Guarded{"retry", t.ID})
	}
}

// emitChecks emits each result of a check record, and their counts.
func (r *supervisor) emitChecks(record state.Record) {
	n := r.state.Counts.Checks
	counts := map[plan.Verdict]int{}
	for _, c := range record.Results {
		counts[c.Verdict]++
		r.emit(n, c.Details, Checked{Check: c.Name, Verdict: c.Verdict, Round: r.state.Counts.Rounds})
	}
	r.emit(n, "", ChecksMade{
		Pass: counts[plan.Pass], Fail: counts[plan.Fail], Unknown: counts[plan.Unknown], None: counts[plan.None],
		Why: record.Why,
	})
}

// emitSigns records and emits the signs of a premature stop if they changed.
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

// emitForced emits the signs because of which the run continues where it could stop.
func (r *supervisor) emitForced() {
	for _, sign := range r.state.Signs {
		r.emitSign(sign, true)
	}
}

func (r *supervisor) emitSign(sign state.Sign, forced bool) {
	r.emit(r.state.Counts.Attempts, sign.Meaning(), SignSeen{Sign: sign, Severity: sign.Severity(), Forced: forced})
}

func (r *supervisor) emitEnd(end *ending, done, tasks int) {
	if end.Guard != "" {
		r.Sink.Emit(event.Event{Kind: event.Guard, Name: end.Guard, Detail: end.Details})
	}
	if end.Status == StatusEscalated && !end.recorded {
		r.Sink.Emit(event.Event{Kind: event.HandOver, Name: "person", Detail: end.Details})
	}
	r.emit(0, end.Details, Ended{Status: end.Status, Done: done, Tasks: tasks, ExitCode: end.Status.ExitCode()})
}
