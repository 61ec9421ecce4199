package explore

import (
	"time"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// path describes a golden path for planning.
type path struct {
	calls  []result.Call
	tools  int      // calls at MCP servers
	stored []string // kinds of request about files and batches
	writes int
	turns  int
	points drive.Points
	// realTime is true if durations pass on the wall clock.
	realTime bool
}

// pathOf derives the golden path from its run. Calls are counted as perturbations count them: all
// attempts at one answer are one call.
func pathOf(golden *harness.Judged, points drive.Points) path {
	p := path{points: points, realTime: golden.Scenario.RealTime}
	for i := range golden.Trial.Calls {
		c := &golden.Trial.Calls[i]
		if c.Error != nil {
			continue // the next attempt is for the same answer
		}
		p.calls = append(p.calls, result.Call{N: len(p.calls) + 1, Purpose: c.Purpose, Label: label(c)})
	}
	p.tools = len(golden.Facts.MCP)
	p.stored = golden.Trial.Script.Stored
	if points.NoWrites == "" {
		p.writes = golden.Facts.Run.Writes
	}
	if points.NoTurns == "" {
		p.turns = golden.Facts.Run.Iterations
	}
	return p
}

// labels are the tags that distinguish calls of one purpose, the most specific first.
var labels = []string{"task", "step", "iteration"}

func label(c *record.Call) string {
	for _, tag := range labels {
		if text := c.Tags[tag]; text != "" {
			return text
		}
	}
	return ""
}

// work estimates the work of a run in calls and writes.
func (p *path) work() int { return max(1, len(p.calls)+p.writes) }

// patience returns the shortest time after which the agent gives up a hanging call; 0 if it never
// does.
func (p *path) patience() time.Duration {
	var shortest time.Duration
	for _, limit := range p.points.Timeouts {
		if limit > 0 && (shortest == 0 || limit < shortest) {
			shortest = limit
		}
	}
	return shortest
}
