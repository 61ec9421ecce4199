package mocks

import (
	"context"
	"net/http"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Observer is notified of calls that reach an engine, to record and limit the calls of external
// clients. Implementations must be safe for concurrent use.
type Observer interface {
	// Begin is called with a request before it is matched; req is empty if the request is
	// invalid. An error refuses the call: the client gets it as a used-up quota, which clients
	// do not retry. Otherwise end is called once, just before the whole answer is sent or when
	// it can no longer be delivered; its error is then a *llm.Error, or wraps
	// context.Canceled if the client left.
	Begin(protocol string, req llm.Request) (end func(llm.Reply, error), refuse error)
}

// observe notifies the observer of a call, and answers it if the observer refuses it.
func (e *Engine) observe(x *Exchange, codec wire.Codec, req llm.Request) bool {
	if e.opts.Observer == nil {
		return true
	}
	end, refuse := e.opts.Observer.Begin(codec.Protocol(), req)
	if refuse == nil {
		x.end = end
		return true
	}
	x.record.Refused, x.record.Problem = true, "refused: "+refuse.Error()
	e.mu.Lock()
	e.journal.add(x)
	e.mu.Unlock()
	x.send(codec.EncodeError(&wire.APIError{
		Status: http.StatusTooManyRequests, Type: "insufficient_quota", Code: "insufficient_quota", Message: refuse.Error(),
	}))
	return false
}

// notifyObserver reports the end of the call to the observer, once.
func (x *Exchange) notifyObserver(delivered bool) {
	end := x.end
	if end == nil {
		return
	}
	x.end = nil
	if err := x.failure(delivered); err != nil {
		end(llm.Reply{}, err)
		return
	}
	a, usage := x.answer, x.answer.Usage
	end(llm.Reply{Text: a.Recorded(), ToolCalls: a.ToolCalls, Finish: a.FinishReason(), Model: a.Model, Usage: &usage}, nil)
}

// clientLeft is the kind of the error of a call that the client gave up.
const clientLeft llm.ErrorKind = "cancelled"

// failure returns why the client did not get the answer, or nil.
func (x *Exchange) failure(delivered bool) error {
	fail := func(kind llm.ErrorKind, message string) error {
		return &llm.Error{Kind: kind, Status: x.record.Status, Message: message}
	}
	for i := range x.faults {
		kind := x.faults[i].kind
		if as, fails := errorOfFault(kind, x.record.Status); fails && x.record.Fired {
			return fail(as, "the scripted fault "+kind)
		}
	}
	switch {
	case x.denied != "":
		return fail(x.denied, x.record.Problem)
	case !delivered:
		left := &llm.Error{Kind: clientLeft, Message: "the client left before it had the whole answer", Err: context.Canceled}
		if x.answer != nil {
			usage := x.answer.Usage
			left.Usage = &usage // at most what a provider charges, which does not say when it stopped
		}
		return left
	}
	return nil
}

// errorOfFault returns the error of a client that got a fault instead of an answer.
func errorOfFault(kind string, status int) (llm.ErrorKind, bool) {
	switch kind {
	case "status":
		return llm.KindOfStatus(status), true
	case "timeout", "hang", "hang-after-output", "ignore-sigterm":
		return llm.Timeout, true
	case "reset-before-headers", "reset-after-headers", "reset-mid-stream", "error-event", "exit":
		return llm.Unavailable, true
	case "truncated-stream", "missing-done", "finish-length", "truncated-jsonl":
		return llm.Truncated, true
	case "malformed-json", "wrong-content-type", "empty-choices", "invalid-tool-arguments", "not-utf8", "flood":
		return llm.Malformed, true
	case "content-filter", "refusal":
		return llm.Refused, true
	case "error-in-success":
		return llm.Failed, true
	}
	return "", false
}
