package cli

import (
	"cmp"
	"fmt"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// view shows a supervisor: a line for each attempt, each check that does not pass and each
// guard, and on a terminal one for the work that is being done.
type view struct {
	*console.View
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

func newView(on *console.View) *view {
	v := &view{View: on, done: map[string]bool{}, checks: map[string]string{}}
	v.stop = v.Follow(v.underWay)
	return v
}

// begin writes what is carried out, from where it stands. backend is empty if no task needs one.
func (v *view) begin(j *Job, backend string, standing persist.Result) {
	v.mu.Lock()
	for _, t := range standing.Tasks {
		v.mark(t.ID, t.State == "done")
	}
	v.mu.Unlock()
	by := ""
	if backend != "" {
		by = "backend " + backend + ", "
	}
	v.Print(fmt.Sprintf("plan %s, %s, %sstate in %s", j.Plan.Name, format.Plural(len(j.Plan.Tasks), "task"), by, j.State))
}

// attempt is called when a worker begins.
func (v *view) attempt(a persist.Assignment) {
	v.mu.Lock()
	v.task, v.attempts, v.began, v.calls = a.Task.ID, a.Attempt, time.Now(), 0
	v.mark(a.Task.ID, false)
	v.mu.Unlock()
	v.Draw(v.underWay())
}

// called is called before calls are made.
func (v *view) called(n int) {
	v.mu.Lock()
	v.calls += n
	v.mu.Unlock()
	v.Update(v.underWay())
}

// underWay returns the line for the work that is being done.
func (v *view) underWay() string {
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
		v.progress(), v.task, v.attempts, ago(v.began), format.Plural(v.calls, "call"), saved)
}

// mark takes note of whether a task is done.
func (v *view) mark(id string, done bool) {
	if v.done[id] {
		v.finished--
	}
	if done {
		v.finished++
	}
	v.done[id] = done
}

// progress is how many of the tasks are done.
func (v *view) progress() string {
	return fmt.Sprintf("%3d/%d", v.finished, len(v.done))
}

func ago(t time.Time) string { return time.Since(t).Round(time.Second).String() }

// Emit implements event.Sink.
func (v *view) Emit(e event.Event) {
	if line := v.note(e); line != "" {
		v.Print(line)
	}
	v.Update(v.underWay())
}

// note takes note of an event and returns the line that stays of it; empty if
// none does.
func (v *view) note(e event.Event) string {
	v.mu.Lock()
	defer v.mu.Unlock()
	detail := v.Clean(e.Detail)
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
		return "         " + v.Term.Paint(tty.Yellow, "to "+console.HandedTo(e.Name, e.Attrs["to"])) + ": " + detail
	}
	return ""
}

// resumed says what an earlier process left.
func resumed(e event.Event, lost string) string {
	line := "resumed: " + format.Plural(count(e.Attrs["records"]), "record")
	if torn := count(e.Attrs["torn"]); torn > 0 {
		line += fmt.Sprintf("; %s of one that was never finished were cut off", format.Plural(torn, "byte"))
	}
	if lost != "" {
		line += "; the snapshot was left aside, as it cannot be used (" + lost + "), and all records were read"
	}
	return line
}

// noteGuard is the line of a guard that changed the course. A retry is told by
// the line of the attempt that failed.
func (v *view) noteGuard(e event.Event, detail string) string {
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
	return "         " + console.Joined(named(e), detail)
}

// noteTask is the line of an attempt that ended.
func (v *view) noteTask(e event.Event, detail string) string {
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
	return fmt.Sprintf("%s  %s  %s  %s%s", v.progress(), v.Term.Paint(color, fmt.Sprintf("%-9s", grade)),
		sanitize.Line(id, 64), time.Since(v.began).Round(time.Millisecond), said)
}

// noteVerdict is the line of a check that finds something else than before, of all
// checks together, or of the stop guard.
func (v *view) noteVerdict(e event.Event, detail string) string {
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
			return "         " + console.Joined(fmt.Sprintf("check %s: %s", name, paintVerdict(v.Term, check.Verdict(verdict))), detail)
		}
	case "stop":
		if e.Attrs["allow"] == false {
			return "         " + console.Joined("stop guard", detail)
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

func (v *view) close() {
	v.stop()
	v.Close()
}
