package drive

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// conversation is the conversation of one trial.
type conversation struct {
	*Conversation
	trial   *Trial
	watch   *watch
	site    *site
	start   time.Time
	planned []Planned // the perturbations of turns
	seed    uint64    // of the trial
	at      string    // the path of the agent's options

	turns  int // answered turns
	answer app.Answer
}

func (c *conversation) run(ctx context.Context) (end record.End) {
	session, err := c.Agent.Start(ctx, c.site.Site)
	if err != nil {
		return c.end(ctx, err)
	}
	defer func() { c.close(ctx, session, &end) }()
	defer func() { c.trial.unfired = Unfired(c.planned, c.turns, "answered turns", "the turn did not begin") }()
	if err := c.followScript(ctx, session); err != nil {
		return c.end(ctx, err)
	}
	return c.end(ctx, context.Cause(ctx))
}

// restartAgent kills the agent and starts it again if a perturbation of turn n demands it.
func (c *conversation) restartAgent(ctx context.Context, session app.Session, n int) error {
	for i := range c.planned {
		b := &c.planned[i]
		if !b.Due(n) {
			continue
		}
		agent, ok := session.(app.Restarter)
		if !ok {
			return app.Errorf(app.Unusable, "inject %s: the agent does not support being killed and restarted", b)
		}
		b.Fire(c.trial.collector, n)
		if err := agent.Restart(ctx); err != nil {
			return c.restartError(ctx, n, err)
		}
	}
	return nil
}

// restartError returns the error of an agent that could not be restarted.
func (c *conversation) restartError(ctx context.Context, n int, err error) error {
	if clock.Err(ctx) != nil {
		return clock.Err(ctx)
	}
	return app.Errorf(app.Crashed, "the agent was killed before turn %d and did not start again: %w", n, err)
}

// runTurn sends the user's message and records the answer or the error.
func (c *conversation) runTurn(ctx context.Context, session app.Session, n int, text string) error {
	timed, cancel := c.trial.Clock.WithTimeout(ctx, c.Talk.Timeout.Std())
	defer cancel()
	before := c.requests()
	answer, err := session.Say(timed, text)
	if name, taken := reservedAttr(answer.Attrs); taken {
		answer.Attrs = nil
		if err == nil {
			err = app.Errorf(app.Unusable,
				"the agent's answer to turn %d has the attribute %q, a name that the harness uses itself; rename it", n, name)
		}
	}
	switch {
	case clock.Err(ctx) != nil:
		err = clock.Err(ctx) // whatever error the agent returned
	case clock.Err(timed) != nil:
		err = app.Errorf(app.TimedOut, "turn %d had no answer within %s (timeout)", n, c.Talk.Timeout)
	case err == nil && answer.Text == "" && c.requests() == before:
		err = app.Errorf(app.Unusable,
			"the agent ended turn %d without an answer and without a call to its model; "+
				"let it take the backend's address from OPENAI_BASE_URL or ANTHROPIC_BASE_URL, and print its answer", n)
	}
	c.recordTurn(n, text, answer, err)
	if err != nil {
		return err
	}
	c.turns, c.answer = n, answer
	return nil
}

// agentActed reports whether the agent has answered, or used its backend or a scripted MCP server.
func (c *conversation) agentActed() bool { return c.turns > 0 || c.requests() > 0 }

// requests counts what the agent has sent to its backend, calls and others such as uploads of files, and to scripted
// MCP servers.
func (c *conversation) requests() int {
	n := c.watch.calls()
	if c.trial.engine != nil {
		n += c.trial.engine.Served()
	}
	if c.trial.servers != nil {
		n += c.trial.servers.Served()
	}
	return n
}

// recordTurn records a turn with the number of calls that the agent has made so far.
func (c *conversation) recordTurn(n int, text string, answer app.Answer, err error) {
	t := record.Turn{User: text, Calls: c.watch.calls(), Denied: answer.Denied}
	if err != nil {
		answer.Text, t.Error = "", err.Error()
		if failed, ok := errors.AsType[*app.Error](err); ok {
			t.Kind = string(failed.Kind)
		}
	}
	e := event.New(n, answer.Text, t)
	maps.Copy(e.Attrs, answer.Attrs)
	c.site.Emit(e)
}

// reservedAttr returns the first attribute with the name of a field of record.Turn.
func reservedAttr(attrs map[string]any) (name string, taken bool) {
	for _, name := range []string{"user", "calls", "error", "kind", "denied"} {
		if _, taken := attrs[name]; taken {
			return name, true
		}
	}
	return "", false
}

// endLimit limits how long an agent may take to end.
const endLimit = 15 * time.Second

// close ends the agent, even after ctx has ended, and records the files that it left.
func (c *conversation) close(ctx context.Context, session app.Session, end *record.End) {
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
	defer cancel()
	fail := func(doing string, err error) {
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
	fail("end the agent", err)
	end.Duration = c.trial.Clock.Now().Sub(c.start)
	if log := c.site.log.text(); log != "" && failedByItself(ctx, end.Status) {
		c.site.Emit(event.New(0, log, record.Log{}))
	}
	fail("look at the workspace", RecordFiles(c.site.Folder, c.site.Emit))
}

// failedByItself reports whether the agent failed without being interrupted. How much an
// interrupted agent has written differs from run to run.
func failedByItself(ctx context.Context, status string) bool {
	switch status {
	case scenarios.AppFailed, scenarios.AppCrashed, scenarios.AppTimeout, scenarios.AppError:
		return context.Cause(ctx) == nil
	}
	return false
}

func (c *conversation) end(ctx context.Context, err error) record.End {
	end := record.End{Status: scenarios.AppDone, Iterations: c.turns, Text: c.answer.Text}
	if err == nil {
		return end
	}
	end.ExitCode, end.Details = 1, err.Error()
	cause := context.Cause(ctx)
	over, _ := errors.AsType[*overBudget](cause)
	refused, _ := errors.AsType[*refusedHost](cause)
	failed, ok := errors.AsType[*app.Error](err)
	switch {
	case over != nil:
		end.Status, end.Details = scenarios.AppBudget, over.Error()
	case refused != nil:
		end.Status, end.HarnessError, end.AgentError = scenarios.AppError, refused.Error(), true
	case errors.Is(cause, errInterrupted):
		end.Status, end.ExitCode, end.Details = scenarios.AppInterrupted, 130, errInterrupted.Error()
	case !ok:
		end.Status, end.HarnessError = scenarios.AppError, err.Error()
	case failed.Kind == app.Absent && !c.trial.Env.Required:
		end.Status, end.Skipped = "skipped", failed.Message
	case failed.Kind == app.Unusable || failed.Kind == app.Absent:
		end.Status, end.HarnessError = scenarios.AppError, failed.Message+c.Hint
		end.AgentError = failed.Kind == app.Unusable
	case (failed.Kind == app.Failed || failed.Kind == app.Crashed) && !c.agentActed():
		end.Status, end.AgentError = scenarios.AppError, true
		end.HarnessError = "the agent ended before it had called its model or answered: " + failed.Message + c.Hint
	default:
		end.Status, end.Silent = string(failed.Kind), failed.Silent
		if failed.Code != 0 {
			end.ExitCode = failed.Code
		}
	}
	return end
}
