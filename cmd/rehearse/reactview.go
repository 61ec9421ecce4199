package main

import (
	"cmp"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/verify"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// reactView tells a person how a ReAct agent goes on: the lines of each iteration,
// and on a terminal one that says that a call is under way.
type reactView struct {
	*liveView
	limit func(agent string) int // how many iterations an agent has
	n     atomic.Int64
	since time.Time
	why   string // the last step was refused
	stop  func()
}

func (a *app) newReactView(job reactJob, o react.Options, quiet bool) *reactView {
	limit := func(id string) int {
		if agent := job.agents[id]; agent != nil && o.MaxIterations == 0 {
			return agent.MaxIterations
		}
		return o.MaxIterations
	}
	v := &reactView{liveView: a.newLiveView(quiet), limit: limit, since: time.Now()}
	v.stop = v.follow(func() string {
		return fmt.Sprintf("%3d/%d  thinking, %s", v.n.Load()+1, limit(job.agent.ID), time.Since(v.since).Round(time.Second))
	})
	return v
}

// iteration leaves the lines of an iteration.
func (v *reactView) iteration(e react.Entry) {
	v.n.Store(int64(e.N))
	v.print(fmt.Sprintf("%3d/%d  %s", e.N, v.limit(e.Agent), e.Agent))
	if e.Refused != "" {
		v.part("refused", v.said(cmp.Or(v.why, e.Refused)))
	}
	v.why = ""
	for _, part := range [][2]string{
		{"thought", e.Thought},
		{"action", strings.TrimSpace(e.Action + "  " + v.said(e.Input))},
		{"observation", e.Observation},
		{"reflection", e.Reflection},
		{"decision", joined(e.Decision, e.Reason)},
	} {
		if part[1] != "" {
			v.part(part[0], v.said(part[1]))
		}
	}
}

// partIndent is what stands before the text of a part.
const partIndent = 20

// part leaves a part of an iteration, wrapped where somebody watches.
func (v *reactView) part(name, said string) {
	if v.term.Live {
		said = text.WrapSoft(said, v.term.Columns()-partIndent-1)
	}
	color := tty.Faint
	if name == "refused" {
		color = tty.Yellow
	}
	for line := range strings.SplitSeq(said, "\n") {
		v.print("       " + v.term.Paint(color, fmt.Sprintf("%-11s", name)) + "  " + strings.TrimSpace(line))
		name = ""
	}
}

// joined is a word and what is said about it.
func joined(word, about string) string {
	if word == "" || about == "" {
		return word + about
	}
	return word + ": " + about
}

// Tell implements event.Sink: it shows what changes the course. A question to a
// person is at the end of what is shown, if it was not asked here.
func (v *reactView) Tell(e event.Event) {
	detail := v.said(e.Detail)
	switch {
	case e.Kind == event.Guard && isEnd(e.Name):
		v.print("       " + joined(e.Name, detail))
	case e.Kind == event.Guard:
		v.why = e.Detail
	case e.Kind == event.HandOver && e.Name == "agent":
		v.print("       " + joined("to "+handedTo(e), detail))
	case e.Kind == event.Verdict && e.Name == "verification" && e.Attrs["passed"] == false:
		v.print("       " + joined("does not verify", detail))
	}
}

// isEnd says whether a guard of that name ends a run or a delegation; the others
// refuse a step, with which they are shown.
func isEnd(guard string) bool {
	return guard == "stuck" || guard == "max-iterations" || strings.HasPrefix(guard, "delegation")
}

// handedTo names who gets control.
func handedTo(e event.Event) string {
	if to, ok := e.Attrs["to"].(string); ok && to != "" {
		return e.Name + " " + to
	}
	return e.Name
}

// close ends the view.
func (v *reactView) close() {
	v.stop()
	v.liveView.close()
}

// showReact prints the output, and how the run ended.
func (a *app) showReact(r react.Result, transcript string, asJSON bool) error {
	if err := a.printReact(r, asJSON); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	term := a.terminal()
	color := tty.Yellow
	if r.Status == react.StatusDone {
		color = tty.Green
	}
	fmt.Fprintf(a.stderr, "%s after %s in %s", term.Paint(color, string(r.Status)),
		plural(r.Iterations, "iteration"), r.Duration.Round(time.Millisecond))
	if r.Details != "" {
		fmt.Fprintf(a.stderr, ": %s", sanitize.Line(r.Details, 1000))
	}
	fmt.Fprintln(a.stderr)
	if r.Question != "" {
		fmt.Fprintf(a.stderr, "question: %s\n", sanitize.Line(joined(string(r.Trigger), r.Question), maxQuestion))
	}
	if v := r.Verification; r.Status == react.StatusDone && v != nil && !v.Verified() {
		fmt.Fprintf(a.stderr, "by the agent's word alone: %s\n", joinedParts(v.ByWord()))
	}
	for _, missing := range r.Missing {
		fmt.Fprintf(a.stderr, "missing: %s\n", sanitize.Line(missing, 1000))
	}
	if next := strings.TrimSuffix(r.Next, ": "+r.Question); next != "" && r.Status != react.StatusDone {
		fmt.Fprintf(a.stderr, "next: %s\n", sanitize.Line(next, 1000))
	}
	fmt.Fprintf(a.stderr, "transcript: %s\n", transcript)
	return nil
}

func joinedParts(parts []verify.Part) string {
	var names []string
	for _, p := range parts {
		names = append(names, string(p))
	}
	return strings.Join(names, ", ")
}

// printReact prints the result, or the output as the agent wrote it.
func (a *app) printReact(r react.Result, asJSON bool) error {
	if asJSON {
		return a.printJSON(r)
	}
	if r.Output == "" {
		return nil
	}
	return a.printText(r.Output)
}
