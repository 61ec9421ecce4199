package cli

import (
	"cmp"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/rehearse-dev/rehearse/agents/loop"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
)

// indent is the column of the lines below an iteration.
const indent = "        "

// view prints a line for each iteration, with a second one for what it changed and cost, and on a terminal a
// status line for the current call.
type view struct {
	*console.View
	limit  int
	clock  clock.Clock
	unwind func() // stops the redrawing of the status line

	mu    sync.Mutex // the status line is redrawn each second
	n     int        // iterations that ended
	began time.Time  // of the current one
	tools int        // tool calls in it
	tool  string     // the last one
	text  string     // the last line of text
	what  string     // what happens instead of a call, such as a check
}

func newView(on *console.View, s loop.Settings, c clock.Clock, past int) *view {
	v := &view{View: on, limit: s.MaxIterations, clock: c, n: past, began: c.Now()}
	limits := "at most " + format.Plural(s.MaxIterations, "iteration")
	if s.Timeout > 0 {
		limits += fmt.Sprintf(", timeout %s", s.Timeout)
	}
	if s.IdleTimeout > 0 {
		limits += fmt.Sprintf(", idle timeout %s", s.IdleTimeout)
	}
	fmt.Fprintf(v.Out, "backend %s, %s\n", s.Backend, limits)
	if past > 0 {
		fmt.Fprintf(v.Out, "continuing after %s\n", format.Plural(past, "iteration"))
	}
	v.unwind = v.Follow(v.status)
	v.draw()
	return v
}

// Close ends the status line.
func (v *view) Close() {
	v.unwind()
	v.View.Close()
}

// onText receives each piece of an answer.
func (v *view) onText(delta string) {
	v.mu.Lock()
	v.text += delta
	if i := strings.LastIndexByte(strings.TrimRight(v.text, "\n"), '\n'); i >= 0 {
		v.text = v.text[i+1:]
	}
	v.text = v.text[max(0, len(v.text)-console.MaxText*4):]
	v.mu.Unlock()
	v.draw()
}

// activity receives the tool calls that an agent makes by itself.
func (v *view) activity(tool string) {
	if tool == "" {
		return
	}
	v.mu.Lock()
	v.tools++
	v.tool, v.text = tool, ""
	v.mu.Unlock()
	v.draw()
}

// underWay shows what happens instead of a call.
func (v *view) underWay(what string) {
	v.mu.Lock()
	v.what, v.began = what, v.clock.Now()
	v.mu.Unlock()
	v.draw()
}

// next begins to show the call after iteration n, if there is one: the line is redrawn within a second.
func (v *view) next(n int) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.n, v.began = n, v.clock.Now()
	v.tools, v.tool, v.text, v.what = 0, "", "", ""
}

// draw redraws the status line.
func (v *view) draw() {
	if v.Term.Live {
		v.Update(v.status())
	}
}

// status returns the status line: the iteration, its time, and what the agent does.
func (v *view) status() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	what := cmp.Or(v.what, v.text)
	if v.what == "" && v.tools > 0 {
		what = fmt.Sprintf("%s, %s", format.Plural(v.tools, "tool call"), v.tool)
		if v.text != "" {
			what += ": " + v.text
		}
	}
	elapsed := v.clock.Now().Sub(v.began).Truncate(time.Second)
	return fmt.Sprintf("%3d/%d  %8s  %s", min(v.n+1, v.limit), v.limit, elapsed, v.Clean(cmp.Or(what, "waiting")))
}

// iteration writes the lines of an iteration.
func (v *view) iteration(e loop.Entry) {
	text := cmp.Or(strings.TrimSpace(e.Answer), "(no answer)")
	if e.Error != "" {
		text = "failed: " + e.Error
	}
	v.Print(fmt.Sprintf("%3d/%d  %8s  %s", e.N, v.limit, e.Duration.Round(time.Millisecond), v.Clean(text)))
	if more := details(e); more != "" {
		v.Print(indent + v.Clean(more))
	}
	v.next(e.N)
}

// details returns what an iteration changed and cost, as far as known.
func details(e loop.Entry) string {
	var parts []string
	if limit := e.Stopped(); limit != "" {
		parts = append(parts, limit)
	}
	if e.Changes != nil {
		parts = append(parts, describeChanges(*e.Changes))
	}
	if e.Usage != nil {
		parts = append(parts, format.Number(float64(e.Usage.Total()))+" tokens")
	}
	if e.Cost != nil {
		parts = append(parts, format.Amount(e.Cost.Amount, string(e.Cost.Currency)))
	}
	if len(e.Denials) > 0 {
		parts = append(parts, "refused "+llm.DescribeDenials(e.Denials))
	}
	return strings.Join(parts, "; ")
}

// describeChanges returns the number of changed files and lines, and the first files.
func describeChanges(c loop.Changes) string {
	if c.Count == 0 {
		return "no files changed"
	}
	const most = 3
	var names []string
	for _, f := range c.Files[:min(len(c.Files), most)] {
		names = append(names, f.Path)
	}
	if more := c.Count - len(names); more > 0 {
		names = append(names, fmt.Sprintf("%d more", more))
	}
	return c.String() + " (" + strings.Join(names, ", ") + ")"
}

// wait shows the rest of a wait before the next call.
func (v *view) wait(why string, left time.Duration) {
	v.mu.Lock()
	if v.what == "" || left <= 0 {
		v.began = v.clock.Now()
	}
	v.what = ""
	if left > 0 {
		v.what = fmt.Sprintf("%s, %s left", why, left.Round(time.Second))
	}
	v.mu.Unlock()
	v.draw()
}

// check writes the line of a check.
func (v *view) check(c loop.Check) {
	v.Print(indent + v.Clean(fmt.Sprintf("check %s: %s in %s", c.Command,
		strings.TrimSuffix(string(c.Verdict)+", "+c.Details, ", "), c.Duration.Round(time.Millisecond))))
	v.next(c.N)
}

// Emit implements event.Sink. It prints changes of state, hand-overs and refusals.
func (v *view) Emit(e event.Event) {
	j, judged := event.Read[stop.Judgement](&e)
	if e.Kind != event.State && e.Kind != event.HandOver && (!judged || j.Allow) {
		return
	}
	v.Print(fmt.Sprintf(indent+"%s: %s", e.Name, v.Clean(e.Detail)))
}
