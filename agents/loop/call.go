package loop

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// call calls the backend and adds the call to the transcript. If the agent cannot continue its session, the
// whole prompt goes to a new one, within the same iteration.
func (r *runner) call(n int) (llm.Reply, error) {
	r.stalled.begin(r.look(n)) // what happened to the files between two calls is not the agent's work
	at := r.Elapsed()
	if r.dep.OnCall != nil {
		r.dep.OnCall(n, at)
	}
	reply, err := r.ask()
	if r.session.current != nil && llm.KindOf(err) == llm.NoSession {
		r.session.lose()
		r.dep.Sink.Emit(event.Event{Kind: event.State, Name: "session", N: n, Detail: fmt.Sprintf("starting a new session: %s", err)})
		reply, err = r.ask()
	}
	entry := Entry{
		N: n, Prompt: r.prompt(), Answer: reply.Text, Finish: reply.Finish, Usage: reply.Usage,
		Model: reply.Model, ReportedUSD: reply.ReportedUSD, Denials: reply.Denials, At: at, Duration: r.Elapsed() - at,
		Continued: r.session.current != nil,
	}
	if err != nil {
		entry.fail(err)
	}
	work := r.look(n)
	entry.State, entry.StatePartial, entry.Changes = work.State, work.Partial, work.Changes
	entry.Cost = r.cost(entry.Model, entry.Usage, entry.ReportedUSD)
	entry.Session = r.session.next(reply, err)
	if err != nil {
		r.dialogue.repeat(entry.Prompt)
	}
	r.enter(entry)
	return reply, err
}

// ask makes one call.
func (r *runner) ask() (llm.Reply, error) {
	req := llm.Request{
		Purpose: "loop", Model: r.set.Model, Messages: r.messages(), Stream: r.set.Stream,
		Session: r.session.current, OnText: r.dep.OnText, OnActivity: r.dep.OnActivity,
		MaxTurns: r.set.MaxTurns, DenialLimit: r.set.DenialLimit, FailureLimit: r.set.FailureLimit, MaxUSD: r.leftUSD(),
	}
	if !r.session.off {
		r.session.begun, req.OnSession = "", r.session.begin
	}
	return r.Complete(r.Context, req)
}

func (r *runner) messages() []llm.Message { return r.dialogue.messages(r.session.current != nil) }

// prompt returns the last message of the next call.
func (r *runner) prompt() string {
	messages := r.messages()
	return messages[len(messages)-1].Content
}

// Stopped returns the limit at which the answer was cut off, such as "stopped at the turn limit
// (max_turns)"; empty for a whole answer and for a failed call.
func (e *Entry) Stopped() string {
	switch e.Finish {
	case llm.FinishStop, llm.FinishToolCalls, llm.FinishContentFilter:
	case llm.FinishTurns:
		return "stopped at the turn limit (max_turns)"
	case llm.FinishDenials:
		return "stopped at denied tool calls (denial_limit)"
	case llm.FinishFailures:
		return "stopped at failed tool calls (failure_limit)"
	case llm.FinishCost:
		return "stopped at the cap on cost"
	case llm.FinishLength:
		return "cut off at the model's output limit"
	}
	return ""
}

// fail records a failed call.
func (e *Entry) fail(err error) {
	e.Answer, e.Finish, e.Usage, e.Denials = "", "", nil, nil
	e.Error, e.ErrorKind = err.Error(), llm.KindOf(err)
	if failure, ok := errors.AsType[*llm.Error](err); ok {
		e.Answer, e.Usage = failure.Partial, failure.Usage
	}
}

func (r *runner) record(e Entry) {
	r.result.Transcript = append(r.result.Transcript, e)
	r.result.Denials = append(r.result.Denials, e.Denials...)
	r.result.Denials = r.result.Denials[:min(len(r.result.Denials), llm.MaxDenials)]
}

func (r *runner) enter(e Entry) {
	r.record(e)
	iterated := Iterated{OK: e.Error == "", Finish: e.Finish}
	if e.Error != "" {
		iterated.Error = &e.ErrorKind
	}
	if e.Usage != nil {
		iterated.Tokens = new(e.Usage.Total())
	}
	if len(e.Denials) > 0 {
		iterated.Denied = llm.DescribeDenials(e.Denials)
	}
	r.dep.Sink.Emit(event.New(e.N, e.Error, iterated))
	if r.dep.OnIteration != nil {
		r.dep.OnIteration(e)
	}
}
