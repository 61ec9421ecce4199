package work

import (
	"context"
	"errors"
	"maps"
	"strconv"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/child"
	"github.com/rehearse-dev/rehearse/llm"
)

// metered is a backend that reports its calls to the Meter of an attempt. It is safe for
// concurrent use.
type metered struct {
	backend llm.Backend
	a       persist.Assignment
	// refused is called with the error of a call that the supervisor does not allow. If it is nil,
	// the caller counts the calls.
	refused func(error)

	mu      sync.Mutex
	answer  *child.Tail // the end of the current answer; nil before the first
	usage   llm.Usage
	used    bool // usage is not empty
	unknown bool // the usage of a call is unknown
	begun   bool // the agent of the current call has begun a session
	ledger  *ledger
	logged  int // messages in the transcript
}

// newMetered returns a backend for an attempt.
func newMetered(d Deps, a persist.Assignment, refused func(error)) *metered {
	return &metered{backend: d.Backend, a: a, refused: refused, ledger: newLedger(d)}
}

// Complete implements llm.Backend.
func (m *metered) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if m.refused != nil {
		if err := m.a.Meter.Call(1); err != nil {
			m.refused(err)
			return llm.Reply{}, err
		}
	}
	req.Tags = m.tags(req.Tags)
	m.listen(&req)
	reply, err := m.backend.Complete(ctx, req)
	m.account(reply, err)
	m.log(req, reply, err)
	m.a.Meter.Active()
	if n := len(reply.ToolCalls); err == nil && n > 0 && m.refused != nil { // ReAct agents count their actions
		// Do not discard the answer: the attempt ends before the next call if this exceeds the limit.
		_ = m.a.Meter.Call(n)
	}
	return reply, err
}

// listen reports activity during a call: text, and the tool calls of an agent, which it counts.
func (m *metered) listen(req *llm.Request) {
	answer := &child.Tail{Size: 4 * maxCarry}
	m.mu.Lock()
	m.answer, m.begun = answer, false
	m.mu.Unlock()
	onText, onActivity, onSession := req.OnText, req.OnActivity, req.OnSession
	req.OnSession = func(id string) {
		m.mu.Lock()
		m.begun = true
		m.mu.Unlock()
		if onSession != nil {
			onSession(id)
		}
	}
	req.OnText = func(delta string) {
		m.a.Meter.Active()
		m.mu.Lock()
		_, _ = answer.Write([]byte(delta)) // never fails
		m.mu.Unlock()
		if onText != nil {
			onText(delta)
		}
	}
	req.OnActivity = func(tool string) {
		m.a.Meter.Active()
		if tool != "" {
			logTo(m.a, persist.Entry{Kind: "tool", Name: tool})
			if err := m.a.Meter.Call(1); err != nil && m.refused != nil {
				m.refused(err)
			}
		}
		if onActivity != nil {
			onActivity(tool)
		}
	}
}

// lastAnswer returns the end of the last answer so far.
func (m *metered) lastAnswer() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.answer == nil {
		return ""
	}
	return m.answer.String()
}

// tags adds the tags of the attempt to those of a request.
func (m *metered) tags(given map[string]string) map[string]string {
	tags := maps.Clone(given)
	if tags == nil {
		tags = make(map[string]string, 3)
	}
	tags["task"], tags["attempt"], tags["segment"] = m.a.Task.ID, strconv.Itoa(m.a.Attempt), strconv.Itoa(m.a.Segment)
	return tags
}

// account adds up the usage of calls, including failed ones.
func (m *metered) account(reply llm.Reply, err error) {
	usage, unknown := reply.Usage, reply.Usage == nil
	if err != nil {
		usage, unknown = nil, false // a call without an answer is not billed
		if e, ok := errors.AsType[*llm.Error](err); ok {
			usage, unknown = e.Usage, e.Usage == nil && e.Partial != ""
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	unknown = unknown || err != nil && usage == nil && m.begun // the agent may have made calls that are billed
	m.ledger.add(reply, usage, unknown)
	m.unknown = m.unknown || unknown
	if usage == nil {
		return
	}
	m.used = true
	m.usage.Input += usage.Input
	m.usage.CachedInput += usage.CachedInput
	m.usage.CacheWrite += usage.CacheWrite
	m.usage.Output += usage.Output
	m.usage.Reasoning += usage.Reasoning
	m.usage.Source = usage.Source
}

// spent returns the usage of all calls, or nil if it is unknown.
func (m *metered) spent() *llm.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.used || m.unknown {
		return nil
	}
	usage := m.usage
	return &usage
}

// log adds a call to the transcript, with the messages that the last call did not have.
func (m *metered) log(req llm.Request, reply llm.Reply, err error) {
	if m.a.Log == nil {
		return
	}
	m.mu.Lock()
	from := m.logged
	if from >= len(req.Messages) { // a new conversation
		from = 0
	}
	m.logged = len(req.Messages) + 1 // with the answer
	m.mu.Unlock()
	entry := persist.Entry{
		Kind: "call", Name: reply.Model, Request: req.Messages[from:], Text: reply.Text, Tools: reply.ToolCalls,
		Denials: reply.Denials, Usage: reply.Usage,
	}
	if err != nil {
		entry.Details = err.Error()
		if e, ok := errors.AsType[*llm.Error](err); ok {
			entry.Text, entry.Usage = e.Partial, e.Usage
		}
	}
	m.a.Log(entry)
}

// logTo adds an entry to the transcript of an attempt, if there is one.
func logTo(a persist.Assignment, e persist.Entry) {
	if a.Log != nil {
		a.Log(e)
	}
}

// inner returns a sink that adds the task to the events of a worker and drops its end event.
func inner(sink event.Sink, a persist.Assignment) event.Sink {
	return event.SinkFunc(func(e event.Event) {
		if e.Kind == event.End {
			return
		}
		attrs := maps.Clone(e.Attrs)
		if attrs == nil {
			attrs = make(map[string]any, 1)
		}
		attrs["task"] = a.Task.ID
		e.Attrs = attrs
		logTo(a, persist.Entry{Kind: "event", Name: string(e.Kind) + "/" + e.Name, Details: e.Detail})
		sink.Emit(e)
	})
}
