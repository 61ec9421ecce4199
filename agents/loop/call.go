package loop

import (
	"errors"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// call calls the backend and adds the call to the transcript.
func (r *runner) call(n int) (llm.Reply, error) {
	at := r.Elapsed()
	reply, err := r.Complete(r.Context, llm.Request{
		Purpose: "loop", Model: r.set.Model, Messages: r.dialogue.messages(), Stream: r.set.Stream, OnText: r.dep.OnText,
		OnActivity: r.dep.OnActivity,
	})
	entry := Entry{
		N: n, Prompt: r.dialogue.last(), Answer: reply.Text, Finish: reply.Finish, Usage: reply.Usage,
		Denials: reply.Denials, At: at, Duration: r.Elapsed() - at,
	}
	if err != nil {
		entry.fail(err)
	}
	r.enter(entry)
	return reply, err
}

// fail records a failed call.
func (e *Entry) fail(err error) {
	e.Answer, e.Finish, e.Usage, e.Denials = "", "", nil, nil
	e.Error, e.ErrorKind = err.Error(), llm.KindOf(err)
	if failure, ok := errors.AsType[*llm.Error](err); ok {
		e.Answer, e.Usage = failure.Partial, failure.Usage
	}
}

// enter adds an entry to the transcript and reports it.
func (r *runner) enter(e Entry) {
	r.result.Transcript = append(r.result.Transcript, e)
	r.result.Denials = append(r.result.Denials, e.Denials...)
	r.result.Denials = r.result.Denials[:min(len(r.result.Denials), llm.MaxDenials)]
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
