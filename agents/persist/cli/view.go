package cli

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// view prints a line for each attempt, failed check and guard, and on a terminal a status line.
type view struct {
	*console.View
	stop func()
	now  func() time.Time

	mu       sync.Mutex
	done     map[string]bool       // all known tasks, by id
	finished int                   // number of done tasks
	current  map[string]*current   // attempts in progress, by their tasks
	saved    time.Time             // of the last checkpoint
	checks   map[plan.Check]string // the last verdict with its reason
}

func newView(on *console.View, now func() time.Time) *view {
	v := &view{View: on, now: now, done: map[string]bool{}, current: map[string]*current{}, checks: map[plan.Check]string{}}
	v.stop = v.Follow(v.statusLine)
	return v
}

// current is an attempt without a recorded outcome.
type current struct {
	attempt int
	began   time.Time
	calls   int
	took    time.Duration // of a parallel attempt that has ended; otherwise 0
}

// begin prints the plan and adds the tasks of its status. backend is empty if no task needs one.
func (v *view) begin(j *Job, backend string, before persist.Result) {
	v.mu.Lock()
	for _, t := range before.Tasks {
		if t.State == "skipped" {
			continue
		}
		v.mark(t.ID, t.State == "done")
	}
	v.mu.Unlock()
	by := ""
	if backend != "" {
		by = "backend " + backend + ", "
	}
	v.Print(fmt.Sprintf("plan %s, %s, %sstate in %s", j.Plan.Name, format.Plural(len(j.Plan.Tasks), "task"), by, j.State))
}

// plan replaces the tasks of the plan after an amendment. Tasks that checks derived remain.
func (v *view) plan(p plan.Plan) {
	v.mu.Lock()
	defer v.mu.Unlock()
	planned := map[string]bool{}
	for _, t := range p.Tasks {
		planned[t.ID] = t.Skip == ""
		if t.Skip == "" {
			v.mark(t.ID, v.done[t.ID])
		}
	}
	maps.DeleteFunc(v.done, func(id string, done bool) bool {
		return !done && !planned[id] && !strings.HasPrefix(id, "round-")
	})
}

// attempt is called when a worker begins.
func (v *view) attempt(a persist.Assignment) {
	v.mu.Lock()
	v.current[a.Task.ID] = &current{attempt: a.Attempt, began: v.now()}
	v.mark(a.Task.ID, false)
	v.mu.Unlock()
	v.Draw(v.statusLine())
}

// called is called before calls are made in an attempt at a task.
func (v *view) called(task string, n int) {
	v.mu.Lock()
	if c := v.current[task]; c != nil {
		c.calls += n
	}
	v.mu.Unlock()
	v.Update(v.statusLine())
}

// statusLine returns the line for the work in progress.
func (v *view) statusLine() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	saved := ""
	if !v.saved.IsZero() {
		saved = "; checkpoint " + v.since(v.saved) + " ago"
	}
	var running []string
	for _, id := range slices.Sorted(maps.Keys(v.current)) {
		if c := v.current[id]; c.took == 0 {
			running = append(running, fmt.Sprintf("%s, attempt %d, %s, %s", id, c.attempt, v.since(c.began), format.Plural(c.calls, "call")))
		}
	}
	if len(running) == 0 {
		running = []string{"checking what is left"}
	}
	return v.progress() + "  " + strings.Join(running, " | ") + saved
}

// mark records whether a task is done.
func (v *view) mark(id string, done bool) {
	if v.done[id] {
		v.finished--
	}
	if done {
		v.finished++
	}
	v.done[id] = done
}

// progress returns the number of done tasks, of all.
func (v *view) progress() string {
	return fmt.Sprintf("%3d/%d", v.finished, len(v.done))
}

// since returns the time since t, to the second.
func (v *view) since(t time.Time) string { return v.now().Sub(t).Round(time.Second).String() }

// Emit implements event.Sink.
func (v *view) Emit(e event.Event) {
	if line := v.note(e); line != "" {
		v.Print(line)
	}
	v.Update(v.statusLine())
}

// note records an event and returns the line to print for it, or "".
func (v *view) note(e event.Event) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	detail := v.Clean(e.Detail)
	switch e.Kind {
	case event.Iteration:
		return v.noteAttempt(e, detail)
	case event.Checkpoint:
		v.saved = v.now()
	case event.Verdict:
		return v.noteVerdict(e, detail)
	case event.Guard:
		return guardLine(e, detail)
	case event.State:
		if ended, ok := event.Read[persist.AttemptEnded](&e); ok {
			return v.noteEnded(ended)
		}
		return stateLine(e, detail)
	case event.HandOver:
		to, _ := event.Read[react.Delegated](&e) // empty for a person
		return "         " + v.Term.Paint(console.Yellow, "to "+console.HandedTo(e.Name, to.To)) + ": " + detail
	case event.End, event.Tool:
	}
	return ""
}

// noteEnded returns the line of a parallel attempt whose turn has not come.
func (v *view) noteEnded(ended persist.AttemptEnded) string {
	if c := v.current[ended.ID]; c != nil {
		c.took = max(1, v.now().Sub(c.began))
	}
	if !ended.Waits {
		return ""
	}
	return fmt.Sprintf("         %s ended (%s), and waits for tasks before it", sanitize.Line(ended.ID, 64), ended.Grade)
}

// stateLine describes an answer, a resumed state, or files that were saved or restored.
func stateLine(e event.Event, lost string) string {
	if answered, ok := event.Read[persist.Answered](&e); ok {
		return "         the answer to " + answered.Task + " is recorded, and goes to its next attempt"
	}
	if amended, ok := event.Read[persist.Amended](&e); ok {
		return fmt.Sprintf("         the plan was amended: %d added, %d changed, %d removed; it has %s now",
			amended.Added, amended.Changed, amended.Removed, format.Plural(amended.Tasks, "task"))
	}
	resumed, ok := event.Read[persist.Resumed](&e)
	if _, kept := event.Read[worktree.Kept](&e); kept {
		return "         checkpoint: " + lost
	}
	if !ok {
		return ""
	}
	line := "         resumed: " + format.Plural(resumed.Records, "record")
	if resumed.Torn > 0 {
		line += fmt.Sprintf("; %s of one that was never finished were cut off", format.Plural(resumed.Torn, "byte"))
	}
	if lost != "" {
		line += "; " + lost
	}
	return line
}

// guardLine returns the line of a guard. A retry has none, because the line of the failed attempt shows
// it.
func guardLine(e event.Event, detail string) string {
	if _, ok := event.Read[persist.RoundBegun](&e); ok {
		return "         " + cmp.Or(detail, fmt.Sprintf("round %d", e.N))
	}
	about := ""
	if sign, ok := event.Read[persist.SignSeen](&e); ok {
		if !sign.Forced {
			return ""
		}
		about = string(sign.Sign)
	} else if guard, ok := event.Read[persist.Guarded](&e); ok {
		about = guard.Task
	}
	if e.Name == "retry" {
		return ""
	}
	return "         " + console.Joined(strings.TrimSpace(e.Name+" "+about), detail)
}

func (v *view) noteAttempt(e event.Event, detail string) string {
	a, ok := event.Read[persist.Attempted](&e)
	if !ok {
		return ""
	}
	took := time.Duration(0)
	if c := v.current[a.ID]; c != nil {
		took = cmp.Or(c.took, v.now().Sub(c.began))
	}
	delete(v.current, a.ID)
	color := console.Yellow
	if a.Grade == string(persist.Done) {
		v.mark(a.ID, true)
		color, detail = console.Green, ""
	}
	if detail != "" {
		detail = "  " + detail
	}
	return fmt.Sprintf("%s  %s  %s  %s%s", v.progress(), v.Term.Paint(color, fmt.Sprintf("%-9s", a.Grade)),
		sanitize.Line(a.ID, 64), took.Round(time.Millisecond), detail)
}

// noteVerdict returns the line of a check whose verdict changed, of all checks together, or of
// the stop guard.
func (v *view) noteVerdict(e event.Event, detail string) string {
	if c, ok := event.Read[persist.Checked](&e); ok {
		return v.noteCheck(c, detail)
	}
	if made, ok := event.Read[persist.ChecksMade](&e); ok {
		return fmt.Sprintf("         check %d: %d pass, %d fail, %d unknown", e.N, made.Pass, made.Fail, made.Unknown)
	}
	if e.Name == "stop" && e.Attrs["allow"] == false {
		return "         " + console.Joined("stop guard", detail)
	}
	return ""
}

// noteCheck returns a line if the verdict of a check differs from the last one, or is bad for
// another reason.
func (v *view) noteCheck(c persist.Checked, detail string) string {
	now, before := string(c.Verdict), cmp.Or(v.checks[c.Check], string(plan.Pass))
	if c.Verdict == plan.Fail || c.Verdict == plan.Unknown {
		now += detail
	} else {
		detail = ""
	}
	v.checks[c.Check] = now
	if now == before || c.Verdict == plan.None {
		return ""
	}
	return "         " + console.Joined(fmt.Sprintf("check %s: %s", c.Check, paintVerdict(v.Term, c.Verdict)), detail)
}

func (v *view) close() {
	v.stop()
	v.Close()
}
