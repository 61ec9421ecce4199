package mocks

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clock"
)

// Calm returns an engine that goes on where e stands, on another clock, without
// injections and with an empty report. What e has under way counts as not made.
func (e *Engine) Calm(clk clock.Clock) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	opts := e.opts
	opts.Clock, opts.Inject = clk, nil
	calm := NewEngine(e.program, opts)
	calm.state, calm.moves, calm.cursor, calm.lines = e.state, e.moves, e.cursor, slices.Clone(e.lines)
	for i := range calm.lines {
		calm.lines[i].reserved, calm.lines[i].armed = 0, 0
	}
	return calm
}
