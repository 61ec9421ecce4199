package drive

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/unit"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// appDriver drives somebody else's agent: it says what the scenario's user says, and
// records what reaches the scripted backend.
type appDriver struct {
	base
	talk  scenarios.Talk
	agent app.Agent
}

// turnTimeout is how long a turn may take unless the scenario says otherwise.
const turnTimeout = 30 * time.Second

func newAppDriver(sc scenarios.Scenario, env *Env) (*appDriver, error) {
	talk, _ := sc.Drive.Talk()
	d := &appDriver{talk: *talk}
	if d.talk.Timeout == 0 {
		d.talk.Timeout = unit.Duration(turnTimeout)
	}
	kind, agent, err := newAgent(sc, env)
	if err != nil {
		return nil, err
	}
	d.agent = agent
	if d.base, err = newBase(sc, kind, env); err != nil {
		return nil, err
	}
	d.head.Limits, err = describe(struct {
		Timeout  unit.Duration `json:"timeout"`
		MaxCalls int           `json:"max_calls,omitempty"`
		MaxCost  unit.Money    `json:"max_cost,omitzero"`
		Turns    int           `json:"turns"`
	}{d.talk.Timeout, d.talk.MaxCalls, d.talk.MaxCost, len(d.talk.Turns)})
	return d, err
}

// newAgent returns the agent of a scenario and what its kind is called in recordings.
func newAgent(sc scenarios.Scenario, env *Env) (kind string, agent app.Agent, err error) {
	switch d := sc.Drive; {
	case d.Function != nil:
		agent, err = functionAgent(d.Function, env)
		return "function", agent, err
	case d.Command != nil:
		agent, err = commandAgent(sc, env)
		return "command", agent, err
	case d.HTTP != nil:
		agent, err = webAgent(sc, env)
		return "http", agent, err
	case d.Container != nil:
		agent, err = containerAgent(sc, env)
		return "container", agent, err
	default:
		agent, err = codingAgent(sc, env)
		return "coding", agent, err
	}
}

// Points implements Driver.
func (d *appDriver) Points() Points {
	p := d.base.Points()
	p.Attempts = 1 // whether and how often it tries again is its own affair
	p.Timeouts = timeouts(map[string]unit.Duration{"timeout": d.talk.Timeout})
	return p
}

// Perturbed implements Driver.
func (d *appDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

// Trial implements Driver.
func (d *appDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var w *watch
	t := d.script.beginObserved(d.scenario, n, d.env, func(t *trial) mocks.Observer {
		w = newWatch(d, t, stop)
		return w
	}, d.inject...)
	defer func() { _ = t.release() }()
	ctx, calm := interruptAfter(ctx, t.clock, d.talk.InterruptAfter.Std())
	defer calm()
	site, err := d.site(t)
	if err != nil {
		return t.finish(harnessError("prepare what the agent finds", err)), nil
	}
	end := d.converse(ctx, t, site)
	trial := t.finish(end)
	return trial, t.collector.Timings()
}

// site prepares what the agent of one trial finds.
func (d *appDriver) site(t *trial) (app.Site, error) {
	site := app.Site{Backend: "http://127.0.0.1", Clock: t.clock, Log: &tail{}, Tell: func(name, detail string, attrs map[string]any) {
		t.collector.Tell(event.Event{Kind: event.State, Name: name, Detail: detail, Attrs: attrs})
	}}
	if d.head.RealTime {
		url, release, err := d.env.socket.attach(t.engine)
		if err != nil {
			return site, err
		}
		t.closers = append(t.closers, release)
		site.Backend = strings.TrimSuffix(url, "/v1")
	} else {
		site.Client = &http.Client{Transport: mocks.NewTransport(t.engine)}
	}
	folder, err := os.MkdirTemp("", "rehearse-app-")
	if err != nil {
		return site, fmt.Errorf("make a folder: %w", err)
	}
	t.closers = append(t.closers, func() error { return os.RemoveAll(folder) })
	site.Folder, site.Home = filepath.Join(folder, "work"), filepath.Join(folder, "home")
	for _, dir := range []string{site.Folder, site.Home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			return site, fmt.Errorf("make a folder: %w", err)
		}
	}
	site.Env = app.Variables(site.Backend)
	return site, furnish(site.Folder, &scenarios.Stage{Files: d.talk.Files})
}

// converse holds the conversation.
func (d *appDriver) converse(ctx context.Context, t *trial, site app.Site) (end record.End) {
	start := t.clock.Now()
	session, err := d.agent.Start(ctx, site)
	if err != nil {
		return d.end(ctx, 0, app.Answer{}, err)
	}
	defer func() {
		// What the agent left must go even where the trial was cut off.
		closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
		defer cancel()
		if err := session.End(closing); err != nil && end.HarnessError == "" {
			end.HarnessError = "end the agent: " + err.Error()
		}
		end.Duration = t.clock.Now().Sub(start)
		if err := (&stage{folder: site.Folder}).left(t.collector); err != nil && end.HarnessError == "" {
			end.HarnessError = "look at the workspace: " + err.Error()
		}
	}()
	var answer app.Answer
	for n, text := range d.talk.Turns {
		timed, cancel := t.clock.WithTimeout(ctx, d.talk.Timeout.Std())
		said, err := session.Say(timed, text)
		if err != nil && clock.Err(timed) != nil && clock.Err(ctx) == nil {
			err = app.Errorf(app.TimedOut, "turn %d had no answer within %s (timeout)", n+1, d.talk.Timeout)
		}
		cancel()
		if err == nil {
			err = context.Cause(ctx) // a budget that tripped in the middle of the turn
		}
		if err != nil {
			return d.end(ctx, n, answer, err)
		}
		answer = said
		t.tellTurn(n+1, text, said)
	}
	return d.end(ctx, len(d.talk.Turns), answer, nil)
}

// endLimit is how long an agent may take to go.
const endLimit = 15 * time.Second

// tellTurn records a turn.
func (t *trial) tellTurn(n int, text string, said app.Answer) {
	attrs := map[string]any{"user": text}
	for name, value := range said.Attrs {
		attrs[name] = value
	}
	t.collector.Tell(event.Event{Kind: event.State, Name: "turn", N: n, Detail: said.Text, Attrs: attrs})
}

// end says how a conversation ended after that many turns.
func (d *appDriver) end(ctx context.Context, turns int, answer app.Answer, err error) record.End {
	end := record.End{Status: scenarios.AppDone, Iterations: turns, Text: answer.Text}
	if err == nil {
		return end
	}
	end.ExitCode, end.Details = 1, err.Error()
	cause := context.Cause(ctx)
	over, _ := errors.AsType[*overBudget](cause)
	failed, ok := errors.AsType[*app.Error](err)
	switch {
	case over != nil:
		end.Status, end.Details = scenarios.AppBudget, over.Error()
	case errors.Is(cause, errCtrlC):
		end.Status, end.ExitCode, end.Details = scenarios.AppInterrupted, 130, errCtrlC.Error()
	case !ok:
		end.Status, end.HarnessError = scenarios.AppError, err.Error()
	case failed.Kind == app.Absent && !d.env.Required:
		end.Status, end.Skipped = "skipped", failed.Message
	case failed.Kind == app.Unusable || failed.Kind == app.Absent:
		end.Status, end.HarnessError = scenarios.AppError, failed.Message
	default:
		end.Status = string(failed.Kind)
		if failed.Code != 0 {
			end.ExitCode = failed.Code
		}
	}
	return end
}
