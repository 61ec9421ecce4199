package record

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/redact"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Kinds of CallError beyond those of llm.Error.
const (
	// Cancelled is the kind of a call that ended because its context did, or that had not
	// returned when the trial ended.
	Cancelled llm.ErrorKind = "cancelled"
	// Unclassified is the kind of an error that is not an *llm.Error.
	Unclassified llm.ErrorKind = "unclassified"
)

// CollectorOptions configure a Collector.
type CollectorOptions struct {
	Head TrialHead
	// Clock times the calls; the trial starts when the Collector is made.
	Clock clock.Clock
	// RealTime stores all times in Timings instead of the trial.
	RealTime bool
	// Redactor removes secrets; nil removes the well-known forms only.
	Redactor *redact.Redactor
	// Backend is the id that calls are recorded under.
	Backend string
}

// Collector builds the record of a trial while the agent is driven. It wraps the
// agent's backend and is its event.Sink. It is safe for concurrent use; calls are
// numbered in the order in which they begin. What happens after Finish is ignored.
type Collector struct {
	opt   CollectorOptions
	start time.Time

	mu       sync.Mutex
	done     bool
	trial    Trial
	timings  []Timing
	ids      map[messageKey]string
	previous []llm.Message // of the previous call
	prevIDs  []string
}

// NewCollector starts the record of a trial.
func NewCollector(opt CollectorOptions) *Collector {
	return &Collector{
		opt:   opt,
		start: opt.Clock.Now(),
		trial: Trial{Head: opt.Head},
		ids:   map[messageKey]string{},
	}
}

// Fork returns a Collector that continues a copy of the record under another head, on another clock that
// shows the same time. No call may be in progress.
func (c *Collector) Fork(head TrialHead, clk clock.Clock) *Collector {
	c.mu.Lock()
	defer c.mu.Unlock()
	opt, trial := c.opt, c.trial
	opt.Head, opt.Clock, trial.Head = head, clk, head
	// Only the last elements are changed, so copies can share the others. An append copies them.
	trial.Messages, trial.Calls, trial.Events = slices.Clip(trial.Messages), slices.Clip(trial.Calls), slices.Clip(trial.Events)
	return &Collector{
		opt: opt, start: c.start, done: c.done, trial: trial, timings: slices.Clone(c.timings),
		ids: maps.Clone(c.ids), previous: slices.Clone(c.previous), prevIDs: c.prevIDs,
	}
}

// Wrap returns a backend that passes everything to b and records it.
func (c *Collector) Wrap(b llm.Backend) llm.Backend {
	return llm.BackendFunc(func(ctx context.Context, req llm.Request) (llm.Reply, error) {
		began := c.opt.Clock.Now()
		n := c.begin(req, began)
		reply, err := b.Complete(ctx, req)
		c.finishCall(n, reply, err, clock.Err(ctx) != nil, c.opt.Clock.Now().Sub(began))
		return reply, err
	})
}

// Begin records a call that does not go through a wrapped backend. The returned function
// records how the call ended; ended is true if the call's context has ended.
func (c *Collector) Begin(backend string, req llm.Request) (end func(reply llm.Reply, err error, ended bool)) {
	began := c.opt.Clock.Now()
	n := c.begin(req, began)
	if n > 0 {
		c.mu.Lock()
		c.trial.Calls[n-1].Backend = c.clean(backend)
		c.mu.Unlock()
	}
	return func(reply llm.Reply, err error, ended bool) {
		c.finishCall(n, reply, err, ended, c.opt.Clock.Now().Sub(began))
	}
}

// begin records that a call was made and returns its number.
func (c *Collector) begin(req llm.Request, now time.Time) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return 0
	}
	call := Call{
		N:        len(c.trial.Calls) + 1,
		Purpose:  c.clean(req.Purpose),
		Tags:     redact.Copy(req.Tags, c.clean),
		Backend:  c.opt.Backend,
		Model:    c.clean(req.Model),
		Messages: c.conversation(req.Messages),
		Error:    &CallError{Kind: Cancelled, Message: "the call had not returned when the trial ended"},
	}
	if !c.opt.RealTime {
		call.At = now.Sub(c.start)
	}
	c.trial.Calls = append(c.trial.Calls, call)
	return call.N
}

// finishCall records how call n ended.
func (c *Collector) finishCall(n int, reply llm.Reply, err error, ended bool, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done || n == 0 {
		return
	}
	call := &c.trial.Calls[n-1]
	if c.opt.RealTime {
		c.timings = append(c.timings, c.timing(n, took))
	} else {
		call.Latency = took
	}
	if err != nil {
		c.failed(call, err, ended)
		return
	}
	call.Error = nil
	call.Reply = c.intern(reply.Message())
	call.Finish = llm.FinishReason(c.clean(string(reply.Finish)))
	call.Usage = clone(reply.Usage)
	call.ReportedUSD = clone(reply.ReportedUSD)
	call.Retries = slices.Clone(reply.Retries)
	if reply.Model != "" {
		call.Model = c.clean(reply.Model)
	}
}

func (c *Collector) failed(call *Call, err error, ended bool) {
	call.Error = &CallError{Kind: Unclassified, Message: c.clean(err.Error())}
	e, ok := errors.AsType[*llm.Error](err)
	switch {
	case ok:
		call.Error.Kind, call.Error.Status = e.Kind, e.Status
		call.Usage = clone(e.Usage)
		call.Retries = slices.Clone(e.Retries)
		if e.Message != "" {
			call.Error.Message = c.clean(e.Message)
		}
	case errors.Is(err, context.DeadlineExceeded):
		call.Error.Kind = llm.Timeout
	case ended:
		call.Error.Kind = Cancelled
	}
}

// Head returns the head of the record.
func (c *Collector) Head() TrialHead { return c.opt.Head }

// Calls returns the number of calls that have begun.
func (c *Collector) Calls() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.trial.Calls)
}

// Emit records an event. It implements event.Sink.
func (c *Collector) Emit(e event.Event) {
	at := c.opt.Clock.Now().Sub(c.start)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.done {
		return
	}
	rec := Event{Event: e}
	if !c.opt.RealTime {
		rec.At = at
	}
	rec.Kind = event.Kind(c.clean(string(e.Kind)))
	rec.Name, rec.Detail, rec.Attrs = c.clean(e.Name), c.clean(e.Detail), c.cleanAttrs(e.Attrs)
	c.trial.Events = append(c.trial.Events, rec)
}

// Finish ends the record and returns it. It sets the duration since the start on the
// Collector's clock; in real time that is in Timings. A call that has not returned is
// recorded as cancelled. Finish is called once.
func (c *Collector) Finish(end End, script Script, exchanges []Exchange) Trial {
	took := c.opt.Clock.Now().Sub(c.start)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done = true
	c.ids, c.previous, c.prevIDs = nil, nil, nil
	t := c.trial
	end.Duration = took
	if c.opt.RealTime {
		end.Duration = 0
		c.timings = append(c.timings, c.timing(0, took))
	}
	t.End, t.Script, t.Exchanges = redact.Copy(end, c.clean), redact.Copy(script, c.clean), redact.Copy(exchanges, c.clean)
	return t
}

// Timings returns the wall-clock times of a trial in real time: one for each call that
// returned, in order of return, and one for the whole trial. They are complete after Finish.
func (c *Collector) Timings() []Timing {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.timings)
}

func (c *Collector) timing(call int, d time.Duration) Timing {
	return Timing{Scenario: c.opt.Head.Scenario, Trial: c.opt.Head.N, Call: call, Latency: d}
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	v := *p
	return &v
}

// messageKey identifies a message by its content.
type messageKey struct {
	role                  llm.Role
	content, name, callID string
	toolCalls             string
	attachments           string
	toolError             bool
}

func keyOf(m llm.Message) messageKey {
	k := messageKey{role: m.Role, content: m.Content, name: m.Name, callID: m.ToolCallID, toolError: m.ToolError}
	if len(m.ToolCalls) > 0 {
		var b strings.Builder
		for _, t := range m.ToolCalls {
			// Quoted, so that different lists of calls have different keys.
			b.WriteString(strconv.Quote(t.ID) + strconv.Quote(t.Name) + strconv.Quote(t.Arguments))
		}
		k.toolCalls = b.String()
	}
	for _, a := range m.Attachments {
		k.attachments += strconv.Quote(a.String())
	}
	return k
}

func sameMessage(a, b llm.Message) bool {
	return a.Role == b.Role && a.Content == b.Content && a.Name == b.Name &&
		a.ToolCallID == b.ToolCallID && a.ToolError == b.ToolError &&
		slices.Equal(a.ToolCalls, b.ToolCalls) && slices.Equal(a.Attachments, b.Attachments)
}

// conversation returns the ids of the messages. A growing conversation repeats all its
// messages in each call. Messages at the same position as in the previous call are compared,
// which is fast for the same string in memory; only new ones are hashed.
func (c *Collector) conversation(messages []llm.Message) []string {
	ids := make([]string, len(messages))
	for i, m := range messages {
		if i < len(c.previous) && sameMessage(c.previous[i], m) {
			ids[i] = c.prevIDs[i]
		} else {
			ids[i] = c.intern(m)
		}
	}
	c.previous, c.prevIDs = append(c.previous[:0], messages...), ids
	return ids
}

// intern returns the id of a message, storing it at its first use.
func (c *Collector) intern(m llm.Message) string {
	key := keyOf(m)
	if id, ok := c.ids[key]; ok {
		return id
	}
	id := "m" + strconv.Itoa(len(c.trial.Messages)+1)
	c.ids[key] = id
	c.trial.Messages = append(c.trial.Messages, Message{ID: id, Message: redact.Copy(m, c.clean)})
	return id
}
