package mocks

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// beside returns the exchange of a request that is not a call of the model. It reports the request if the
// answer is an error, as a client that ignores it would otherwise pass.
func (e *Engine) beside(ctx context.Context, r *http.Request, path string, frames []wire.Frame) *Exchange {
	if frames[0].Status >= http.StatusBadRequest {
		e.reportInvalid(r, path, frames, "")
	}
	return e.side(ctx, frames)
}

// reportInvalid reports a request that was refused, because of a rule unless that is empty.
func (e *Engine) reportInvalid(r *http.Request, path string, frames []wire.Frame, rule string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.journal.stray(invalid, fmt.Sprintf("invalid request: %s %s was refused with status %d: %.300s%s",
		shortMethod(r.Method), shorten(path), frames[0].Status, refusal(frames[0].Data), ruleHint(rule)))
}

// ruleHint names the rule that a request breaks, and how to turn it off.
func ruleHint(rule string) string {
	switch {
	case rule == "":
		return ""
	case slices.Contains(wire.OptionalRules(), rule):
		return " (the optional rule " + rule + "; to turn it off, remove it from `strict` in the script, or from --demand)"
	}
	return " (the rule " + rule + ", which `relax: [" + rule + "]` in the script turns off)"
}

// deny refuses a request beside a call without a key, or about an unknown model, if the script is strict about that; nil if it
// may be answered. model may be empty; see wire.Rules.CheckAccess.
func (e *Engine) deny(ctx context.Context, r *http.Request, path string, codec wire.Codec, model string) *Exchange {
	if err := e.program.rules.CheckAccess(codec, model, r.Header); err != nil {
		return e.reject(ctx, r, path, codec, err)
	}
	return nil
}

// reject refuses a request beside a call, and reports it.
func (e *Engine) reject(ctx context.Context, r *http.Request, path string, codec wire.Codec, err *wire.APIError) *Exchange {
	frames := codec.EncodeError(err)
	e.reportInvalid(r, path, frames, err.Rule)
	return e.side(ctx, frames)
}

// tokenCounter is a protocol that counts the tokens of a call.
type tokenCounter interface {
	wire.Codec
	DecodeCount(body []byte) (wire.Call, *wire.APIError)
	EncodeTokens(input int) []wire.Frame
}

// count answers a request to count tokens.
func (e *Engine) count(ctx context.Context, r *http.Request, path string, codec tokenCounter, body []byte) *Exchange {
	call, err := codec.DecodeCount(body)
	if err != nil {
		return e.reject(ctx, r, path, codec, err)
	}
	if x := e.deny(ctx, r, path, codec, call.Model); x != nil {
		return x
	}
	if err := e.program.rules.CheckBeside(codec, body); err != nil {
		return e.reject(ctx, r, path, codec, err)
	}
	return e.side(ctx, codec.EncodeTokens(e.input(&call, call.Model)))
}

// unreadable refuses a request whose body cannot be read. It reports one that is too large, but not one whose
// client has left.
func (e *Engine) unreadable(ctx context.Context, codec wire.Codec, r *http.Request, path string, err error) *Exchange {
	frames := codec.EncodeError(bodyError(err))
	if errors.Is(err, errTooLarge) {
		return e.beside(ctx, r, path, frames)
	}
	return e.side(ctx, frames)
}

// refusal returns the message of an error in any provider's form.
func refusal(body []byte) string {
	var outer struct {
		Message string
		Error   json.RawMessage
	}
	_ = json.Unmarshal(body, &outer) // the zero value has no message
	var inner struct{ Message string }
	_ = json.Unmarshal(outer.Error, &inner) // Ollama's is a text
	var text string
	_ = json.Unmarshal(outer.Error, &text)
	return cmp.Or(outer.Message, inner.Message, text)
}
