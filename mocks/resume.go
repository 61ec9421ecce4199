package mocks

import (
	"maps"
	"slices"

	"github.com/rehearse-dev/rehearse/clock"
)

// WithoutInjections returns an engine that continues at the position of e, with another clock,
// without injections and with an empty report. It ignores open exchanges of e.
func (e *Engine) WithoutInjections(clk clock.Clock) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.continued(clk, nil)
}

// Fork returns an engine that continues at the position of e, with its report, another clock, and injections of
// its own. It must be called between the calls of a client of the chat protocol that is not observed: open
// exchanges, stored responses and counted retries are not part of the copy.
func (e *Engine) Fork(clk clock.Clock, inject []Injection) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	forked := e.continued(clk, inject)
	forked.used, forked.journal = e.used, e.journal
	forked.journal.records = slices.Clone(e.journal.records)
	for i, texts := range e.journal.findings {
		forked.journal.findings[i] = slices.Clone(texts)
	}
	forked.journal.once = maps.Clone(e.journal.once)
	return forked
}

// Answers returns the number of answers so far. The number of the next call is one more; see
// Injection.Call.
func (e *Engine) Answers() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.used
}

func (e *Engine) continued(clk clock.Clock, inject []Injection) *Engine {
	opts := e.opts
	opts.Clock, opts.Inject = clk, inject
	next := NewEngine(e.program, opts)
	next.state, next.moves, next.cursor, next.lines = e.state, e.moves, e.cursor, slices.Clone(e.lines)
	for i := range next.lines {
		next.lines[i].reserved, next.lines[i].armed = 0, 0
	}
	return next
}
