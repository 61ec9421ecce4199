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

// metered is a backend whose calls tell the supervisor of an attempt. It is safe
// for concurrent use.
type metered struct {
	backend llm.Backend
	a       persist.Assignment
	// refused, if set, is called with the error of a call that the supervisor does not
	// allow; without it, calls are counted elsewhere.
	refused func(error)

	mu      sync.Mutex
	said    *child.Tail // the end of the answer under way; nil before the first
	usage   llm.Usage
	used    bool // anything
	unknown bool // a call used an amount that is not known
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
	m.a.Meter.Active()
	if n := len(reply.ToolCalls); err == nil && n > 0 {
		// An answer that is there is not thrown away: what is over the limit ends the
		// attempt before the next call.
		_ = m.a.Meter.Call(n)
	}
	return reply, err
}

// listen makes the supervisor hear what happens during a call: text, and what an agent
// does by itself, whose tool calls count as such.
func (m *metered) listen(req *llm.Request) {
	said := &child.Tail{Size: 4 * maxCarry}
	m.mu.Lock()
	m.said = said
	m.mu.Unlock()
	onText, onActivity := req.OnText, req.OnActivity
	req.OnText = func(delta string) {
		m.a.Meter.Active()
		m.mu.Lock()
		_, _ = said.Write([]byte(delta)) // never fails
		m.mu.Unlock()
		if onText != nil {
			onText(delta)
		}
	}
	req.OnActivity = func(tool string) {
		m.a.Meter.Active()
		if tool != "" {
			if err := m.a.Meter.Call(1); err != nil && m.refused != nil {
				m.refused(err)
			}
		}
		if onActivity != nil {
			onActivity(tool)
		}
	}
}

// words returns the end of what the last answer says so far.
func (m *metered) words() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.said == nil {
		return ""
	}
	return m.said.String()
}

// tags returns those of a request with those of the attempt.
func (m *metered) tags(given map[string]string) map[string]string {
	tags := maps.Clone(given)
	if tags == nil {
		tags = make(map[string]string, 3)
	}
	tags["task"], tags["attempt"], tags["segment"] = m.a.Task.ID, strconv.Itoa(m.a.Attempt), strconv.Itoa(m.a.Segment)
	return tags
}

// account adds up what calls used, failed ones included.
func (m *metered) account(reply llm.Reply, err error) {
	usage, unknown := reply.Usage, reply.Usage == nil
	if err != nil {
		usage, unknown = nil, false // what was not begun to be answered is not billed
		if e, ok := errors.AsType[*llm.Error](err); ok {
			usage, unknown = e.Usage, e.Usage == nil && e.Partial != ""
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
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

// spent returns what all calls used; nil if that is not known.
func (m *metered) spent() *llm.Usage {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.used || m.unknown {
		return nil
	}
	usage := m.usage
	return &usage
}

// inner returns the sink of what works for a supervisor, which tells itself how an
// attempt ended.
func inner(sink event.Sink, task string) event.Sink {
	return event.SinkFunc(func(e event.Event) {
		if e.Kind == event.End {
			return
		}
		attrs := maps.Clone(e.Attrs)
		if attrs == nil {
			attrs = make(map[string]any, 1)
		}
		attrs["task"] = task
		e.Attrs = attrs
		sink.Emit(e)
	})
}
