package loop

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
)

// CheckVerdict is the verdict of a check command. Only a passed check confirms a completion.
type CheckVerdict string

// The verdicts.
const (
	CheckPass    CheckVerdict = "pass"
	CheckFail    CheckVerdict = "fail"
	CheckUnknown CheckVerdict = "unknown" // the command could not be run, or did not end
)

// Check is the result of a check command after an answer that completes.
type Check struct {
	N       int          `json:"n"` // the iteration
	Command string       `json:"command"`
	Verdict CheckVerdict `json:"verdict"`
	// Details describe how the command ended, such as "exit status 1".
	Details string `json:"details,omitempty"`
	// Output is the end of the output, of a check that did not pass.
	Output   string        `json:"output,omitempty"`
	Duration time.Duration `json:"duration_ns"` // on the run's clock
}

// Checked is the event of a check.
type Checked struct {
	Command string       `json:"command"`
	Verdict CheckVerdict `json:"verdict"`
}

// Event implements event.Payload.
func (Checked) Event() (event.Kind, string) { return event.Verdict, "check" }

// verify runs the checks after an answer that completes, up to the first that does not pass. It returns
// done, the ending by a limit, or nil after a failed check, whose output is in the next prompt.
func (r *runner) verify(n int, answer string, done *run.Ending) *run.Ending {
	for _, command := range r.set.Checks {
		c := r.check(n, command)
		if end := r.Limits(); end != nil {
			return end
		}
		if c.Verdict == CheckPass {
			continue
		}
		r.unchecked++
		r.unconfirmed = fmt.Sprintf("the check %s did not pass: %s", command, c.Details)
		if limit := r.set.CheckLimit; limit > 0 && r.unchecked >= limit {
			return &run.Ending{
				Status: StatusCapped, Guard: "check_limit",
				Details: fmt.Sprintf("stopped at completion %d that its checks do not confirm (check_limit %d): %s: %s",
					r.unchecked, limit, command, c.Details),
			}
		}
		r.dialogue.correct(answer, c)
		return nil
	}
	return done
}

// check returns the recorded result of a check, or runs it. An earlier process may have been killed
// during a check.
func (r *runner) check(n int, command string) Check {
	if len(r.recorded) > 0 && r.recorded[0].N == n && r.recorded[0].Command == command {
		c := r.recorded[0]
		r.recorded = r.recorded[1:]
		return c
	}
	defer func(shut bool) { r.events.shut = shut }(r.events.shut)
	r.events.shut = false
	return r.runCheck(n, command)
}

// runCheck runs one check within its time limit.
func (r *runner) runCheck(n int, command string) Check {
	ctx, began := r.Context, r.Elapsed()
	if limit := r.set.CheckTimeout.Std(); limit > 0 {
		within, cancel := r.dep.Clock.WithTimeout(ctx, limit)
		defer cancel()
		ctx = within
	}
	c := r.dep.Check(ctx, command)
	if clock.Err(ctx) != nil && clock.Err(r.Context) == nil {
		c.Verdict, c.Details = CheckUnknown, fmt.Sprintf("it did not end within %s (check_timeout)", r.set.CheckTimeout)
	}
	c.N, c.Command, c.Duration = n, command, r.Elapsed()-began
	r.dep.Sink.Emit(event.New(n, strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", command, c.Verdict, c.Details), ": "),
		Checked{Command: command, Verdict: c.Verdict}))
	if r.dep.OnCheck != nil {
		r.dep.OnCheck(c)
	}
	return c
}

// correct continues after a completion that a check does not confirm.
func (d *dialogue) correct(answer string, c Check) {
	d.demanded = c.demand(d.language)
	d.next(answer, d.demanded, "")
}

// demand returns a prompt with the end of the output.
func (c *Check) demand(in Language) string {
	const maxCommand, maxDetails = 300, 300 // bytes
	format, output := "You say that it is done, but the check %s did not pass (%s). "+
		"Correct the cause, and do not weaken the check.", "\nIts output ends so:\n"
	if in == French {
		format, output = "Tu dis que c'est terminé, mais la vérification %s n'a pas réussi (%s). "+
			"Corrige la cause, sans affaiblir la vérification.", "\nSa sortie se termine ainsi :\n"
	}
	text := fmt.Sprintf(format, "`"+stop.Clip(c.Command, maxCommand)+"`", stop.Clip(c.Details, maxDetails))
	if c.Output == "" {
		return text
	}
	fence := fenceFor(c.Output)
	return text + output + fence + "\n" + c.Output + "\n" + fence
}

// fenceFor returns a code fence that the text does not close.
func fenceFor(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence
}

// CheckFunc runs a command and returns its verdict, details and output; it ends with ctx.
type CheckFunc func(ctx context.Context, command string) Check
