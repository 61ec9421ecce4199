package drive

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// conversation is one trial's.
type conversation struct {
	*Conversation
	trial   *Trial
	watch   *watch
	site    *site
	start   time.Time
	planned []Planned // what happens at a turn

	turns  int // how many were answered
	answer app.Answer
}

// hold holds the conversation and says how it ended.
func (c *conversation) hold(ctx context.Context) (end record.End) {
	session, err := c.Agent.Start(ctx, c.site.Site)
	if err != nil {
		return c.end(ctx, err)
	}
	defer func() { c.close(ctx, session, &end) }()
	defer func() { c.trial.unfired = Unfired(c.planned, c.turns, "answered turns", "the turn did not begin") }()
	for n, text := range c.Talk.Turns {
		err := c.strike(ctx, session, n+1)
		if err == nil {
			err = c.turn(ctx, session, n+1, text)
		}
		if err != nil {
			return c.end(ctx, err)
		}
	}
	return c.end(ctx, context.Cause(ctx))
}

// strike kills the agent and starts it again where that is to happen before a turn.
func (c *conversation) strike(ctx context.Context, session app.Session, n int) error {
	for i := range c.planned {
		b := &c.planned[i]
		if !b.Due(n) {
			continue
		}
		agent, ok := session.(app.Restarter)
		if !ok {
			return app.Errorf(app.Unusable, "the agent cannot be killed and started again (%s)", b)
		}
		b.Fire(c.trial.collector, n)
		if err := agent.Restart(ctx); err != nil {
			return c.fallen(ctx, n, err)
		}
	}
	return nil
}

// fallen is why an agent did not come up again, which it did before.
func (c *conversation) fallen(ctx context.Context, n int, err error) error {
	if clock.Err(ctx) != nil {
		return clock.Err(ctx)
	}
	return app.Errorf(app.Crashed, "the agent was killed before turn %d and did not start again: %w", n, err)
}

// turn says what the user says, and records what became of it.
func (c *conversation) turn(ctx context.Context, session app.Session, n int, text string) error {
	timed, cancel := c.trial.Clock.WithTimeout(ctx, c.Talk.Timeout.Std())
	defer cancel()
	before := c.watch.calls()
	said, err := session.Say(timed, text)
	switch {
	case clock.Err(ctx) != nil:
		err = clock.Err(ctx) // whatever the agent made of it
	case clock.Err(timed) != nil:
		err = app.Errorf(app.TimedOut, "turn %d had no answer within %s (timeout)", n, c.Talk.Timeout)
	case err == nil && said.Text == "" && c.watch.calls() == before:
		err = app.Errorf(app.Unusable,
			"the agent ended turn %d without an answer and without a call to its model; "+
				"let it take the backend's address from OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and print its answer", n)
	}
	c.tell(n, text, said, err)
	if err != nil {
		return err
	}
	c.turns, c.answer = n, said
	return nil
}

// begun reports whether the agent has done anything: called its model, or answered.
func (c *conversation) begun() bool { return c.turns > 0 || c.watch.calls() > 0 }

// tell records a turn: what the user said, the answer or why there is none, and how many
// calls the agent had made by then.
func (c *conversation) tell(n int, text string, said app.Answer, err error) {
	t := record.Turn{User: text, Calls: c.watch.calls()}
	if err != nil {
		said.Text, t.Error = "", err.Error()
		if failed, ok := errors.AsType[*app.Error](err); ok {
			t.Kind = string(failed.Kind)
		}
	}
	e := event.New(n, said.Text, t)
	for name, value := range said.Attrs {
		if _, taken := e.Attrs[name]; !taken {
			e.Attrs[name] = value
		}
	}
	c.site.Emit(e)
}

// endLimit is how long an agent may take to go.
const endLimit = 15 * time.Second

// close ends the agent, even where the trial was cut off, and looks at what it left.
func (c *conversation) close(ctx context.Context, session app.Session, end *record.End) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	wrong := func(doing string, err error) {
		if err != nil && end.HarnessError == "" {
			end.Status, end.ExitCode, end.HarnessError = scenarios.AppError, 1, doing+": "+err.Error()
			failed, ok := errors.AsType[*app.Error](err)
			end.AgentError = ok && failed.Kind == app.Unusable
		}
	}
	err := session.End(closing)
	if failed, ok := errors.AsType[*app.Error](err); ok && failed.Kind != app.Unusable && end.Status == scenarios.AppDone {
		*end, err = c.end(ctx, fmt.Errorf("after the last turn: %w", failed)), nil
	}
	wrong("end the agent", err)
	end.Duration = c.trial.Clock.Now().Sub(c.start)
	if log := c.site.log.text(); log != "" && own(ctx, end.Status) {
		c.site.Emit(event.New(0, log, record.Log{}))
	}
	wrong("look at the workspace", RecordFiles(c.site.Folder, c.site.Emit))
}

// own reports whether the agent came to a bad end by its own doing. How much it wrote
// before it was cut off for another reason differs from run to run.
func own(ctx context.Context, status string) bool {
	switch status {
	case scenarios.AppFailed, scenarios.AppCrashed, scenarios.AppTimeout, scenarios.AppError:
		return context.Cause(ctx) == nil
	}
	return false
}

// end says how the conversation ended.
func (c *conversation) end(ctx context.Context, err error) record.End {
	end := record.End{Status: scenarios.AppDone, Iterations: c.turns, Text: c.answer.Text}
	if err == nil {
		return end
	}
	end.ExitCode, end.Details = 1, err.Error()
	cause := context.Cause(ctx)
	over, _ := errors.AsType[*overBudget](cause)
	elsewhere, _ := errors.AsType[*reached](cause)
	failed, ok := errors.AsType[*app.Error](err)
	switch {
	case over != nil:
		end.Status, end.Details = scenarios.AppBudget, over.Error()
	case elsewhere != nil:
		end.Status, end.HarnessError, end.AgentError = scenarios.AppError, elsewhere.Error(), true
	case errors.Is(cause, errInterrupted):
		end.Status, end.ExitCode, end.Details = scenarios.AppInterrupted, 130, errInterrupted.Error()
	case !ok:
		end.Status, end.HarnessError = scenarios.AppError, err.Error()
	case failed.Kind == app.Absent && !c.trial.Env.Required:
		end.Status, end.Skipped = "skipped", failed.Message
	case failed.Kind == app.Unusable || failed.Kind == app.Absent:
		end.Status, end.HarnessError = scenarios.AppError, failed.Message+c.Hint
		end.AgentError = failed.Kind == app.Unusable
	case (failed.Kind == app.Failed || failed.Kind == app.Crashed) && !c.begun():
		end.Status, end.AgentError = scenarios.AppError, true
		end.HarnessError = "the agent ended before it had called its model or answered: " + failed.Message + c.Hint
	default:
		end.Status = string(failed.Kind)
		if failed.Code != 0 {
			end.ExitCode = failed.Code
		}
	}
	return end
}
