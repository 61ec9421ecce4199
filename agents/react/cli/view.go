package cli

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// view prints the lines of each iteration, and on a terminal a status line for the current call.
type view struct {
	*console.View
	limit func(agent string) int // the number of iterations of an agent
	n     atomic.Int64
	why   string // reason why the last step was refused
	stop  func()
}

func newView(on *console.View, job *Job, o react.Options, c clock.Clock) *view {
	limit := func(id string) int {
		if agent := job.Agents[id]; agent != nil && o.MaxIterations == 0 {
			return agent.MaxIterations
		}
		return o.MaxIterations
	}
	v := &view{View: on, limit: limit}
	began := c.Now()
	v.stop = v.Follow(func() string {
		return fmt.Sprintf("%3d/%d  thinking, %s", v.n.Load()+1, limit(job.Agent.ID), c.Now().Sub(began).Round(time.Second))
	})
	return v
}

// iteration writes the lines of an iteration.
func (v *view) iteration(e react.Entry) {
	v.n.Store(int64(e.N))
	v.Print(fmt.Sprintf("%3d/%d  %s", e.N, v.limit(e.Agent), e.Agent))
	if e.Refused != "" {
		v.part("refused", v.Clean(cmp.Or(v.why, e.Refused)))
	}
	v.why = ""
	for _, part := range [][2]string{
		{"thought", e.Thought},
		{"action", strings.TrimSpace(e.Action + "  " + v.Clean(e.Input))},
		{"observation", e.Observation},
		{"reflection", e.Reflection},
		{"decision", console.Joined(e.Decision, e.Reason)},
		{"answer", e.Answer},
	} {
		if part[1] != "" {
			v.part(part[0], v.Clean(part[1]))
		}
	}
}

// partIndent is the width before the text of a part.
const partIndent = 20

// part writes a part of an iteration, wrapped on a terminal.
func (v *view) part(name, content string) {
	if v.Term.Live {
		content = text.WrapSoft(content, v.Term.Columns()-partIndent-1)
	}
	color := console.Faint
	if name == "refused" {
		color = console.Yellow
	}
	for line := range strings.SplitSeq(content, "\n") {
		v.Print("       " + v.Term.Paint(color, fmt.Sprintf("%-11s", name)) + "  " + strings.TrimSpace(line))
		name = ""
	}
}

// Emit implements event.Sink. It prints guards, delegations and failed verifications.
func (v *view) Emit(e event.Event) {
	detail := v.Clean(e.Detail)
	switch {
	case e.Kind == event.Guard && isEnd(e.Name):
		v.Print("       " + console.Joined(e.Name, detail))
	case e.Kind == event.Guard:
		v.why = e.Detail
	}
	if to, ok := event.Read[react.Delegated](&e); ok {
		v.Print("       " + console.Joined("to "+console.HandedTo(e.Name, to.To), detail))
	}
	if output, ok := event.Read[react.Verified](&e); ok && !output.Passed {
		v.Print("       " + console.Joined("does not verify", detail))
	}
}

// isEnd reports whether a guard ends a run or a delegation. The others refuse a step and are printed
// with it.
func isEnd(guard string) bool {
	return guard == "stuck" || guard == "no-tools" || guard == "max-iterations" || strings.HasPrefix(guard, "delegation")
}

func (v *view) close() {
	v.stop()
	v.Close()
}
