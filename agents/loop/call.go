package loop

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// call makes one call, accounts for it and enters it in the transcript.
func (r *runner) call(n int) (llm.Reply, error) {
	ctx := r.ctx
	if r.set.CallTimeout > 0 {
		timed, cancel := r.dep.Clock.WithTimeout(ctx, r.set.CallTimeout.Std())
		defer cancel()
		ctx = timed
	}
	at := r.elapsed()
	reply, err := complete(ctx, r.dep.Backend, llm.Request{
		Purpose: "loop", Model: r.set.Model, Messages: r.dialogue.messages(), Stream: r.set.Stream, OnText: r.dep.OnText,
	})
	if err != nil && clock.Err(r.ctx) == nil && clock.Err(ctx) != nil {
		err = r.timedOut(err)
	}
	entry := Entry{
		N: n, Prompt: r.dialogue.last(), Answer: reply.Text, Finish: reply.Finish, Usage: reply.Usage,
		At: at, Duration: r.elapsed() - at,
	}
	if err != nil {
		entry.fail(err)
	}
	r.account(reply, err)
	r.enter(entry)
	return reply, err
}

// timedOut is the error of a call that its own timeout ended, with what had
// arrived until then.
func (r *runner) timedOut(err error) error {
	late := llm.Error{
		Kind: llm.Timeout, Backend: r.result.Backend, Err: err,
		Message: fmt.Sprintf("no answer within %s (call_timeout)", r.set.CallTimeout),
	}
	if e, ok := errors.AsType[*llm.Error](err); ok {
		late.Partial, late.Usage, late.Retries = e.Partial, e.Usage, e.Retries
	}
	return &late
}

// complete calls the backend; a panic of it is a failed call.
func complete(ctx context.Context, b llm.Backend, req llm.Request) (reply llm.Reply, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = &llm.Error{Kind: llm.Failed, Message: fmt.Sprintf("panic: %v", p), Err: panicError(p)}
		}
	}()
	return b.Complete(ctx, req)
}

// fail enters a failed call.
func (e *Entry) fail(err error) {
	e.Answer, e.Finish, e.Usage = "", "", nil
	e.Error, e.ErrorKind = err.Error(), llm.KindOf(err)
	if failure, ok := errors.AsType[*llm.Error](err); ok {
		e.Answer, e.Usage = failure.Partial, failure.Usage
	}
}

// account tells the budgets what a call used. A failed call uses what it says;
// if it says nothing, an unknown amount where part of an answer had arrived, and
// else none, as providers do not bill what they did not begin to answer.
func (r *runner) account(reply llm.Reply, err error) {
	model, usage := cmp.Or(reply.Model, r.set.Model), reply.Usage
	if err != nil {
		failure, ok := errors.AsType[*llm.Error](err)
		if !ok || failure.Usage == nil && failure.Partial == "" {
			return
		}
		usage = failure.Usage
	}
	for _, b := range r.budgets {
		b.Add(model, usage, reply.ReportedUSD)
	}
}

// enter puts an entry into the transcript and tells of it.
func (r *runner) enter(e Entry) {
	r.result.Transcript = append(r.result.Transcript, e)
	attrs := map[string]any{"ok": e.Error == ""}
	if e.Error != "" {
		attrs["error"] = string(e.ErrorKind)
	}
	if e.Finish != "" {
		attrs["finish"] = string(e.Finish)
	}
	if e.Usage != nil {
		attrs["tokens"] = e.Usage.Total()
	}
	r.dep.Sink.Tell(event.Event{Kind: event.Iteration, N: e.N, Detail: e.Error, Attrs: attrs})
	if r.dep.OnIteration != nil {
		r.dep.OnIteration(e)
	}
}
