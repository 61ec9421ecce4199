package mocks

import (
	"context"
	"fmt"
	"net/http"

	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Observer is notified of calls as they reach an engine, so that the calls of clients
// outside the harness can be recorded and limited. It is safe for concurrent use.
type Observer interface {
	// Begin is called with a request before it is matched; if the request could not be
	// read, only the protocol is known. The error, if any, refuses the call before the script
	// is asked: the client gets it as a used-up quota, which no client tries again. The
	// function is then not called; else it is called once, when the whole answer is
	// about to have been handed over, or when it is certain that it never will be. Its
	// error is then a *llm.Error, or context.Canceled where the client left.
	Begin(protocol string, req llm.Request) (end func(llm.Reply, error), refuse error)
}

// RefusedPrefix begins the Problem of an exchange that the observer refused.
const RefusedPrefix = "refused: "

// observe notifies the observer that a call began, and refuses it if the observer does.
func (e *Engine) observe(x *Exchange, codec wire.Codec, req llm.Request) bool {
	if e.opts.Observer == nil {
		return true
	}
	end, refuse := e.opts.Observer.Begin(codec.Protocol(), req)
	if refuse == nil {
		x.end = end
		return true
	}
	x.record.Problem = RefusedPrefix + refuse.Error()
	e.mu.Lock()
	e.journal.add(x)
	e.mu.Unlock()
	x.send(codec.EncodeError(&wire.APIError{
		Status: http.StatusTooManyRequests, Type: "insufficient_quota", Code: "insufficient_quota", Message: refuse.Error(),
	}))
	return false
}

// notifyObserver reports to the observer how the call ended. It may be called again.
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
	end(llm.Reply{Text: a.Text, ToolCalls: a.ToolCalls, Finish: a.FinishReason(), Model: a.Model, Usage: &usage}, nil)
}

// failure returns why the client did not get the answer; nil if it did.
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
		return fmt.Errorf("the client left before it had the whole answer: %w", context.Canceled)
	}
	return nil
}

// errorOfFault returns the error that a client makes of a fault which leaves it without an
// answer, as the project's own client does.
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
