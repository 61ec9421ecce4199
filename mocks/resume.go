package mocks

import (
	"slices"

	"github.com/rehearse-dev/rehearse/clock"
)

// WithoutInjections returns an engine that continues at the position of e, with another clock,
// without injections and with an empty report. It ignores open exchanges of e.
func (e *Engine) WithoutInjections(clk clock.Clock) *Engine {
	e.mu.Lock()
	defer e.mu.Unlock()
	opts := e.opts
	opts.Clock, opts.Inject = clk, nil
	resumed := NewEngine(e.program, opts)
	resumed.state, resumed.moves, resumed.cursor, resumed.lines = e.state, e.moves, e.cursor, slices.Clone(e.lines)
	for i := range resumed.lines {
		resumed.lines[i].reserved, resumed.lines[i].armed = 0, 0
	}
	return resumed
}
