package mocks

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/mocks/wire"
)

// EngineOptions configures an Engine. The zero value is usable.
type EngineOptions struct {
	// Clock for latencies; default clock.Real.
	Clock clock.Clock
	// Scale multiplies the latencies; 0 means 1.
	Scale float64
	// Seed and Trial determine all random choices.
	Seed  uint64
	Trial int
	// Count returns the number of tokens of a text for a model. By default no tokens are
	// counted, and only lines with a usage report tokens.
	Count func(model, text string) int
	// Inject has faults in addition to those of the script.
	Inject []Injection
	// OtherPrice reports whether a called model has a price and is not the model that answers; nil if prices do not matter.
	OtherPrice func(called, answers string) bool
	// Decoded is shared by engines that receive the same requests; may be nil.
	Decoded *Decoded
	// Observer is notified of every call; may be nil.
	Observer Observer
	// Keep limits the exchanges in the report, and the findings of each kind; 0 means no
	// limit. A long-running server needs one.
	Keep int
}

// Engine answers the calls of one trial from a program. It is safe for concurrent use.
type Engine struct {
	program *Program
	opts    EngineOptions

	mu      sync.Mutex
	state   string
	moves   int // changes of state; only the last one can be undone
	cursor  int // the first line of a sequence that is not used up
	lines   []lineState
	pending []*Exchange // with a reserved line
	journal journal
	retries retries
	// waitUntil is the end of the wait that the last answer asked for; zero without one, and after the next call. waitFrom is
	// the beginning of the last wait.
	waitFrom, waitUntil time.Time

	responses      wire.ResponseStore // for references in requests
	storage        wire.Storage       // files and batches
	storageFaults  []faultCount       // by the faults of the program for them
	storageRecords storageRecords
	injections     []*injection
	used           int // answers of all lines

	served atomic.Int64
}

// lineState is the progress of a line: its used answers, its reservations and its fault.
type lineState struct {
	used, reserved int
	faultCount
	attempts int
	left     int // clients that left before they had the whole answer, without a fault
}

// NewEngine returns an engine at the start of a program.
func NewEngine(p *Program, o EngineOptions) *Engine {
	if o.Clock == nil {
		o.Clock = clock.Real()
	}
	if o.Scale == 0 {
		o.Scale = 1
	}
	return &Engine{
		program: p, opts: o, state: p.initial,
		lines: make([]lineState, len(p.lines)), journal: journal{keep: o.Keep},
		injections: newInjections(o.Inject), responses: wire.ResponseStore{Keep: o.Keep},
		storage: wire.Storage{Keep: o.Keep}, storageFaults: make([]faultCount, len(p.storage)),
	}
}

// Served returns the number of requests that have reached an endpoint, calls and others such as uploads of files,
// whatever they were answered. It does not count health checks and requests to unknown paths.
func (e *Engine) Served() int { return int(e.served.Load()) }

// Begin decodes a request, finds its line and plans the answer, which for an invalid or unexpected
// request is an error in the provider's form. The caller plays the exchange and must call End.
// The client has left when ctx ends.
func (e *Engine) Begin(ctx context.Context, codec wire.Codec, header http.Header, body []byte) *Exchange {
	x := e.begin(ctx, codec, header, body)
	e.reportRateLimit(x, codec)
	return x
}

func (e *Engine) begin(ctx context.Context, codec wire.Codec, header http.Header, body []byte) *Exchange {
	x := &Exchange{engine: e, ctx: ctx, line: -1, phase: unmatched}
	e.arrive(x, codec, header, body)
	call, apiErr := e.decode(codec, header, body)
	codec = wire.ForModel(codec, call.Model)
	if apiErr != nil {
		if apiErr.Declined {
			return e.side(ctx, codec.EncodeError(apiErr))
		}
		x.send(codec.EncodeError(apiErr))
		x.record.Problem, x.denied = "invalid request: "+apiErr.Message+ruleHint(apiErr.Rule), llm.InvalidRequest
		e.recordUnmatched(x, invalid)
		if e.opts.Observer != nil {
			x.end, _ = e.opts.Observer.Begin(codec.Protocol(), llm.Request{}) // already refused
		}
		return x
	}
	if !e.observe(x, codec, call.Request) {
		return x
	}
	call.Header = header
	v := newView(&call)
	if e.match(x, &v) {
		e.answer(x, codec, &v)
	} else {
		e.refuse(x, codec, &v)
	}
	return x
}

// match reserves the line for a request; it returns false if no line matches.
func (e *Engine) match(x *Exchange, v *view) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.releaseAbandoned()
	if e.program.sequence {
		x.line = e.nextReply(v)
	} else {
		x.line = e.firstRule(v)
	}
	if x.line < 0 {
		return false
	}
	e.reserve(x)
	e.enter(x)
	return true
}

// nextReply returns the first available line of the sequence, or -1 if it does not match the
// request.
func (e *Engine) nextReply(v *view) int {
	for e.cursor < len(e.lines) && !e.available(e.cursor) {
		e.cursor++
	}
	if e.cursor == len(e.lines) || e.program.lines[e.cursor].differs(v) != nil {
		return -1
	}
	return e.cursor
}

// firstRule returns the first available rule of the current state that matches the request, or -1.
func (e *Engine) firstRule(v *view) int {
	for i := range e.program.lines {
		l := &e.program.lines[i]
		if (l.In == "" || l.In == e.state) && e.available(i) && l.differs(v) == nil {
			return i
		}
	}
	return -1
}

// available reports whether line i has an answer left that is not reserved.
func (e *Engine) available(i int) bool {
	limit := e.program.lines[i].limit
	return limit == 0 || e.lines[i].used+e.lines[i].reserved < limit
}

// differs returns the first condition of the line that a request does not meet, or nil. It ignores
// the state.
func (l *line) differs(v *view) *condition {
	for i := range l.conditions {
		if _, ok := l.conditions[i].fits(v); !ok {
			return &l.conditions[i]
		}
	}
	return nil
}

// reserve reserves the line of x, schedules its faults and advances the state. All of it is undone
// if the answer is not delivered.
func (e *Engine) reserve(x *Exchange) {
	l, s := &e.program.lines[x.line], &e.lines[x.line]
	s.attempts++
	x.attempt = s.attempts
	x.reply = e.draw(x, l, "")
	x.phase = e.scheduleFaults(x)
	x.record.Line, x.record.Attempt = x.reply.name, x.attempt
	if x.phase.uses() {
		e.advanceState(x)
	}
	s.reserved++
	e.pending = append(e.pending, x)
}

// releaseAbandoned frees the reservations of clients that have left, even if their goroutines
// have not noticed yet. A quick retry then gets the same line.
func (e *Engine) releaseAbandoned() {
	for i := len(e.pending) - 1; i >= 0; i-- {
		if x := e.pending[i]; x.ctx.Err() != nil {
			e.apply(x, abandoned)
		}
	}
}

// recordUnmatched adds an exchange without a line to the journal.
func (e *Engine) recordUnmatched(x *Exchange, kind findingKind) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.enter(x)
	e.journal.find(kind, x.record.N, x.record.Problem)
}

// usage counts the tokens of a call and its answer.
func (e *Engine) usage(v *view, c *wire.Completion) llm.Usage {
	u := llm.Usage{Source: llm.UsageReported}
	count := e.opts.Count
	if count == nil {
		return u
	}
	if slices.ContainsFunc(v.call.Messages, func(m llm.Message) bool { return len(m.Attachments) > 0 }) {
		u.Source = llm.UsageTextOnly
	}
	u.Input = e.input(v.call, c.Model)
	if v.call.Output != wire.TextOutput {
		u.Source = llm.UsageTextOnly
		return u
	}
	for _, choice := range append([]wire.Completion{*c}, c.More...) {
		thinking := count(c.Model, choice.Thinking)
		u.Reasoning += thinking
		u.Output += thinking + count(c.Model, choice.Text) + count(c.Model, choice.Refusal)
		for _, t := range choice.ToolCalls {
			u.Output += count(c.Model, t.Name) + count(c.Model, t.Arguments)
		}
	}
	return u
}

// input counts the tokens of the text of a call's messages and of the definitions of its tools.
func (e *Engine) input(call *wire.Call, model string) int {
	n, count := 0, e.opts.Count
	if count == nil {
		return 0
	}
	for _, t := range call.Tools {
		n += count(model, t.Name) + count(model, t.Description) + count(model, compact(t.Parameters))
	}
	for _, m := range call.Messages {
		n += count(model, m.Content)
		for _, t := range m.ToolCalls {
			n += count(model, t.Name) + count(model, t.Arguments)
		}
	}
	return n
}

// compact removes the white space of JSON, which differs between clients. It returns other texts unchanged.
func compact(text json.RawMessage) string {
	var out bytes.Buffer
	if json.Compact(&out, text) != nil {
		return string(text)
	}
	return out.String()
}
