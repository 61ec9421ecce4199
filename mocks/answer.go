package mocks

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/rehearse-dev/rehearse/internal/seed"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// Stock texts of answers without a scripted text.
const (
	stockFaulty  = "This answer was meant to go wrong."
	stockLenient = "This call was not in the script."
)

// The error codes of calls without an answer.
const (
	codeUnexpected = "unexpected_call"
	codeExhausted  = "script_exhausted"
	codeTemplate   = "script_template"
)

// answer plans the frames of the line that x has reserved.
func (e *Engine) answer(x *Exchange, codec wire.Codec, v *view) {
	r := x.reply
	c, frames, err := e.plan(x, codec, r, v)
	if err != nil {
		e.mu.Lock()
		e.apply(x, abandoned)
		x.record.Problem = fmt.Sprintf("%s.%v", r.name, err)
		e.journal.find(unexpected, x.record.N, x.record.Problem)
		e.mu.Unlock()
		x.denied = llm.UnexpectedCall
		x.send(codec.EncodeError(scriptError(codec, codeTemplate, x.record.Problem)))
		return
	}
	x.record.Usage = &c.Usage
	x.call, x.answer = v.call, &c // for the observer, and for protocols that store answers
	x.send(e.applyFaults(x, codec, v, &c, frames))
}

// plan returns the answer of a line and its frames, without its fault. An error begins with the
// key at fault.
func (e *Engine) plan(x *Exchange, codec wire.Codec, r *reply, v *view) (c wire.Completion, frames []wire.Frame, err error) {
	if r.captured != nil {
		frames, err = r.captured.encode(codec, v.call)
		if err != nil {
			return c, nil, fmt.Errorf("frames: %w", err)
		}
		c = r.captured.answer
		c.Model = cmp.Or(c.Model, v.call.Model) // answers with media do not name it
		return c, frames, nil
	}
	if c, err = e.completion(x, codec, r, v); err != nil {
		return c, nil, err
	}
	return c, codec.Encode(*v.call, c), nil
}

// send sets the planned frames. The recorded status is that of the response head, or the
// exit status at the end of an agent's output.
func (x *Exchange) send(frames []wire.Frame) {
	x.frames = frames
	for _, f := range frames {
		x.record.Status = cmp.Or(x.record.Status, f.Status)
	}
}

// firstDifference returns the first frame of a faulty answer that differs from the intended one,
// or the last frame if the faulty answer is only shorter.
func firstDifference(faulty, intended []wire.Frame) int {
	for i := range faulty {
		if i >= len(intended) || !sameFrame(faulty[i], intended[i]) {
			return i
		}
	}
	return len(faulty) - 1
}

func sameFrame(a, b wire.Frame) bool {
	return a.Delay == b.Delay && a.Status == b.Status && a.End == b.End &&
		bytes.Equal(a.Data, b.Data) && maps.EqualFunc(a.Header, b.Header, slices.Equal)
}

// emptyCompletion returns an answer without content.
func (e *Engine) emptyCompletion(x *Exchange, codec wire.Codec, v *view) wire.Completion {
	model := cmp.Or(e.program.script.Model, v.call.Model)
	if v.call.IsMedia() {
		model = v.call.Model // the script's model has another price
	}
	return wire.Completion{
		ID:      cmp.Or(codec.Dialect().AnswerID, "chatcmpl-") + strconv.FormatUint(e.random(x, "id"), 36),
		Model:   model,
		Created: e.opts.Clock.Now().Truncate(time.Second),
	}
}

// warnOtherModel reports a call of another model than the one that answers, whose price it gets. Names without a price
// may be those of deployments.
func (e *Engine) warnOtherModel(called, answers string) {
	if e.opts.OtherPrice == nil || !e.opts.OtherPrice(called, answers) {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.journal.stray(warned, fmt.Sprintf("calls of the model %.80q are answered by %s, the model of the script, and have its price; "+
		"name the agent's model in the script, or refuse others with strict: [unknown-model]", called, answers))
}

// completion returns the neutral answer of a line, without its fault.
func (e *Engine) completion(x *Exchange, codec wire.Codec, r *reply, v *view) (wire.Completion, error) {
	c := e.emptyCompletion(x, codec, v)
	e.warnOtherModel(v.call.Model, c.Model)
	if err := e.fill(&c, x, codec, r, v, ""); err != nil {
		return c, err
	}
	for i := 1; i < v.call.N; i++ {
		var choice wire.Completion
		nth := ":" + strconv.Itoa(i)
		if err := e.fill(&choice, x, codec, e.draw(x, &e.program.lines[x.line], nth), v, nth); err != nil {
			return c, err
		}
		c.More = append(c.More, choice)
	}
	if r.Latency != nil {
		factor := 1 + r.Latency.Jitter*(2*unitInterval(e.random(x, "jitter"))-1)
		c.First = time.Duration(float64(r.Latency.First) * factor)
		c.PerToken = time.Duration(float64(r.Latency.PerToken) * factor)
	}
	if u := r.Usage; u != nil {
		c.Usage = llm.Usage{
			Input: u.Input, CachedInput: u.CachedInput, CacheWrite: u.CacheWrite, Output: u.Output, Reasoning: u.Reasoning,
			Source: llm.UsageReported,
		}
	} else {
		c.Usage = e.usage(v, &c)
	}
	e.doubt(r, v.call, &c)
	return c, nil
}

// fill sets the content of an answer, or of its nth choice; nth is "" for the first.
func (e *Engine) fill(c *wire.Completion, x *Exchange, codec wire.Codec, r *reply, v *view, nth string) (err error) {
	c.Text, c.Thinking, c.Refusal, c.Finish = r.Text.String(), r.Thinking, r.Refusal, llm.FinishReason(r.Finish)
	c.ToolCalls = e.toolCalls(x, codec, v.call.Model, r, nth)
	switch {
	case r.onlyFault:
		c.Text = stockFaulty
	case r.template != nil:
		c.Text, err = r.template.Execute(x.ctx, templateData{
			Model: v.call.Model, System: v.system(), User: v.user, Turn: v.turn,
			Purpose: v.call.Purpose, Tags: v.call.Tags, Messages: v.call.Messages, Attempt: x.attempt,
		}, maxTemplate)
		if err != nil {
			return fmt.Errorf("template: %w", err)
		}
	}
	if v.call.Output != wire.TextOutput {
		return r.fillMedia(c, v, nth)
	}
	return nil
}

// toolCalls returns the calls of the nth choice, each with an id.
func (e *Engine) toolCalls(x *Exchange, codec wire.Codec, model string, r *reply, nth string) []llm.ToolCall {
	if len(r.calls) == 0 {
		return nil
	}
	calls := slices.Clone(r.calls)
	for i := range calls {
		if calls[i].ID == "" {
			calls[i].ID = wire.CallID(codec, model, e.random(x, "call"+strconv.Itoa(i)+nth))
		}
	}
	return calls
}

// refuse answers a call without a line.
func (e *Engine) refuse(x *Exchange, codec wire.Codec, v *view) {
	code, problem := e.explain(v)
	x.record.Problem, x.denied = problem, llm.UnexpectedCall
	if code == codeExhausted {
		x.denied = llm.ScriptExhausted
	}
	e.recordUnmatched(x, unexpected)
	if !e.program.script.Lenient {
		x.send(codec.EncodeError(scriptError(codec, code, problem)))
		return
	}
	c := e.emptyCompletion(x, codec, v)
	c.Text, c.Finish = stockLenient, llm.FinishStop
	if v.call.Output != wire.TextOutput {
		c.Media, _ = wire.GenerateMedia(v.call, "") // nothing, in a form that cannot be generated
	}
	c.Usage = e.usage(v, &c)
	x.record.Usage = &c.Usage
	x.call, x.answer = v.call, &c // for the observer, and for protocols that store answers
	x.denied = ""
	x.send(codec.Encode(*v.call, c))
}

// scriptError returns an error with a status that clients do not retry.
func scriptError(codec wire.Codec, code, message string) *wire.APIError {
	status := cmp.Or(codec.Dialect().Unexpected, http.StatusNotFound)
	return &wire.APIError{Status: status, Type: "invalid_request_error", Code: code, Message: message}
}

// random derives a number only from the seed, the trial, the line, the attempt and the purpose.
// The order of calls and earlier draws do not affect it. An exchange without a line uses its own
// number instead.
func (e *Engine) random(x *Exchange, purpose string) uint64 {
	h := mix(e.opts.Seed, uint64(e.opts.Trial))
	if x.line >= 0 {
		h = mix(mix(h, uint64(x.line)), uint64(x.attempt))
	} else {
		h = mix(mix(h, ^uint64(0)), uint64(x.record.N))
	}
	for _, b := range []byte(purpose) {
		h = mix(h, uint64(b))
	}
	return h
}

func mix(h, value uint64) uint64 {
	return seed.Mix(h + seed.Gamma + value*0xd1342543de82ef95)
}

// unitInterval returns h as a number in [0, 1).
func unitInterval(h uint64) float64 { return float64(h>>11) / (1 << 53) }
