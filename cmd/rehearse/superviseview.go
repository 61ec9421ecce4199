package main

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/llm"
)

// superviseView tells a person how a plan goes on: a line for each attempt, each
// check that does not pass and each guard, and on a terminal one for what is under
// way.
type superviseView struct {
	*liveView
	stop func()

	mu       sync.Mutex
	done     map[string]bool // by the ids of all tasks that were heard of
	finished int             // of them
	task     string          // under way; empty: none
	attempts int
	began    time.Time         // the attempt
	calls    int               // of the attempt
	saved    time.Time         // the last checkpoint; zero: none yet
	checks   map[string]string // what each check said last
}

func (a *app) newSuperviseView(quiet bool) *superviseView {
	v := &superviseView{liveView: a.newLiveView(quiet), done: map[string]bool{}, checks: map[string]string{}}
	v.stop = v.follow(v.underWay)
	return v
}

// begin says what is carried out, from where it stands.
func (v *superviseView) begin(s site, backend llm.Adapter, standing persist.Result) {
	v.mu.Lock()
	for _, t := range standing.Tasks {
		v.mark(t.ID, t.State == "done")
	}
	v.mu.Unlock()
	by := ""
	if backend != nil {
		by = "backend " + backend.ID() + ", "
	}
	v.print(fmt.Sprintf("plan %s, %s, %sstate in %s", s.plan.Name, plural(len(s.plan.Tasks), "task"), by, s.state))
}

// attempt is told when a worker begins.
func (v *superviseView) attempt(a persist.Assignment) {
	v.mu.Lock()
	v.task, v.attempts, v.began, v.calls = a.Task.ID, a.Attempt, time.Now(), 0
	v.mark(a.Task.ID, false)
	v.mu.Unlock()
	v.status.Draw(v.underWay())
}

// called is told of calls before they are made.
func (v *superviseView) called(n int) {
	v.mu.Lock()
	v.calls += n
	v.mu.Unlock()
	v.live(v.underWay())
}

// underWay says what is going on.
func (v *superviseView) underWay() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	saved := ""
	if !v.saved.IsZero() {
		saved = "; checkpoint " + ago(v.saved) + " ago"
	}
	if v.task == "" {
		return v.progress() + "  looking what is left" + saved
	}
	return fmt.Sprintf("%s  %s, attempt %d, %s, %s%s",
		v.progress(), v.task, v.attempts, ago(v.began), plural(v.calls, "call"), saved)
}

// mark takes note of whether a task is done.
func (v *superviseView) mark(id string, done bool) {
	if v.done[id] {
		v.finished--
	}
	if done {
		v.finished++
	}
	v.done[id] = done
}

// progress is how many of the tasks are done.
func (v *superviseView) progress() string {
	return fmt.Sprintf("%3d/%d", v.finished, len(v.done))
}

func ago(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// Tell implements event.Sink.
func (v *superviseView) Tell(e event.Event) {
	if line := v.note(e); line != "" {
		v.print(line)
	}
	v.live(v.underWay())
}

// note takes note of an event and returns the line that stays of it; empty if
// none does.
func (v *superviseView) note(e event.Event) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	detail := v.said(e.Detail)
	switch e.Kind {
	case event.Iteration:
		if e.Name == "task" {
			return v.noteTask(e, detail)
		}
	case event.Checkpoint:
		v.saved = time.Now()
	case event.Verdict:
		return v.noteVerdict(e, detail)
	case event.Guard:
		return v.noteGuard(e, detail)
	case event.State:
		if e.Name == "resume" {
			return "         " + resumed(e, detail)
		}
	case event.HandOver:
		return "         " + v.term.Paint(tty.Yellow, "to "+handedTo(e)) + ": " + detail
	}
	return ""
}

// resumed says what an earlier process left.
func resumed(e event.Event, lost string) string {
	line := "resumed: " + plural(count(e.Attrs["records"]), "record")
	if torn := count(e.Attrs["torn"]); torn > 0 {
		line += fmt.Sprintf("; %s of one that was never finished were cut off", plural(torn, "byte"))
	}
	if lost != "" {
		line += "; the snapshot was left aside, as it cannot be used (" + lost + "), and all records were read"
	}
	return line
}

// noteGuard is the line of a guard that changed the course. A retry is told by
// the line of the attempt that failed.
func (v *superviseView) noteGuard(e event.Event, detail string) string {
	switch e.Name {
	case "continuation":
		return "         " + cmp.Or(detail, fmt.Sprintf("round %d", e.N))
	case "retry":
		return ""
	case "sign":
		if e.Attrs["forced"] != true {
			return ""
		}
	}
	return "         " + joined(named(e), detail)
}

// noteTask is the line of an attempt that ended.
func (v *superviseView) noteTask(e event.Event, detail string) string {
	grade, _ := e.Attrs["grade"].(string)
	id, _ := e.Attrs["id"].(string)
	v.task = ""
	color := tty.Yellow
	if grade == string(persist.Done) {
		v.mark(id, true)
		color = tty.Green
	}
	said := ""
	if detail != "" && grade != string(persist.Done) {
		said = "  " + detail
	}
	return fmt.Sprintf("%s  %s  %s  %s%s", v.progress(), v.term.Paint(color, fmt.Sprintf("%-9s", grade)),
		sanitize.Line(id, 64), time.Since(v.began).Round(time.Millisecond), said)
}

// noteVerdict is the line of a check that finds something else than before, of all
// checks together, or of the stop guard.
func (v *superviseView) noteVerdict(e event.Event, detail string) string {
	switch e.Name {
	case "check":
		name, _ := e.Attrs["check"].(string)
		verdict, _ := e.Attrs["verdict"].(string)
		said, before := verdict, cmp.Or(v.checks[name], string(check.Pass))
		if bad := verdict == string(check.Fail) || verdict == string(check.Unknown); bad {
			said += detail
		} else {
			detail = ""
		}
		v.checks[name] = said
		if said != before && verdict != string(check.None) {
			return "         " + joined(fmt.Sprintf("check %s: %s", name, paintVerdict(v.term, check.Verdict(verdict))), detail)
		}
	case "stop":
		if e.Attrs["allow"] == false {
			return "         " + joined("stop guard", detail)
		}
	case "checks":
		return fmt.Sprintf("         check %d: %d pass, %d fail, %d unknown", e.N,
			count(e.Attrs["pass"]), count(e.Attrs["fail"]), count(e.Attrs["unknown"]))
	}
	return ""
}

// named is an event's name with the task that it is about.
func named(e event.Event) string {
	for _, key := range []string{"sign", "task"} {
		if about, ok := e.Attrs[key].(string); ok && about != "" {
			return e.Name + " " + about
		}
	}
	return e.Name
}

// count reads a number among an event's facts.
func count(fact any) int {
	switch n := fact.(type) {
	case int:
		return n
	case float64:
		return int(n)
	}
	return 0
}

// close ends the view.
func (v *superviseView) close() {
	v.stop()
	v.liveView.close()
}
