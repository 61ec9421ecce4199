package drive

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/cast"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// postgresDSN names the variable with the PostgreSQL server that scenarios may
// use.
const postgresDSN = "REHEARSE_TEST_POSTGRES"

// interviewDriver lets a persona take an interview: the whole service behind its
// HTTP face, with a real store, and a client that does what the scenario says.
type interviewDriver struct {
	base
	drive   scenarios.InterviewDrive
	persona cast.Persona
	prompts *prompt.Set
}

func newInterviewDriver(sc scenarios.Scenario, env *Env) (*interviewDriver, error) {
	persona, err := cast.Load(sc.Drive.Interview.Persona)
	if err != nil {
		return nil, err
	}
	prompts, err := prompt.Load(persona.Language)
	if err != nil {
		return nil, err
	}
	if prompts, err = prompts.With(sc.Drive.Interview.Prompts); err != nil {
		return nil, err
	}
	d := &interviewDriver{drive: *sc.Drive.Interview, persona: persona, prompts: prompts}
	if d.base, err = newBase(sc, "interview", env); err != nil {
		return nil, err
	}
	d.head.Limits, err = describe(struct {
		scenarios.InterviewDrive
		Language session.Language `json:"language"`
		Prompts  string           `json:"prompts"`
		Hash     string           `json:"prompts_hash"`
	}{d.drive, persona.Language, prompts.Version, prompts.Hash})
	return d, err
}

// Points implements Driver: every commit is a write, every submission a turn.
func (d *interviewDriver) Points() Points {
	p := d.base.Points()
	p.NoWrites, p.NoTurns = "", ""
	call := cmp.Or(d.drive.CallTimeout.Std(), interview.DefaultCallTimeout)
	p.Timeouts = map[string]time.Duration{"call_timeout": call}
	if d.drive.TransportRetries == nil {
		p.Attempts *= 1 + interview.DefaultTransportRetries
	} else {
		p.Attempts *= 1 + *d.drive.TransportRetries
	}
	p.Attempts *= 1 + d.drive.Retries
	return p
}

// Perturbed implements Driver.
func (d *interviewDriver) Perturbed(ps []perturb.Perturbation) (Driver, error) {
	return d.depart(d, ps, func(b base) Driver {
		other := *d
		other.base = b
		return &other
	})
}

func (d *interviewDriver) Trial(ctx context.Context, n int) (record.Trial, []record.Timing) {
	return d.trial(ctx, n, 0, d.run)
}

func (d *interviewDriver) run(ctx context.Context, t *trial, backend llm.Adapter) record.End {
	kept, skipped, err := d.open(ctx, t)
	switch {
	case err != nil:
		return harnessError("open the store of the interview", err)
	case skipped != "":
		return record.End{Status: "skipped", Skipped: skipped}
	}
	c := &candidate{
		driver: d, trial: t, store: kept, backend: t.collector.Wrap(backend),
		tells: t.collector, promised: promising{Sink: t.collector},
		fate: newFate(t.collector, d.perturb), turns: blowsAt(perturb.Turn, d.perturb),
		patience: d.drive.Retries, did: make([]bool, len(d.drive.Moves)),
	}
	if err := c.start(); err != nil {
		return harnessError("start the interview's service", err)
	}
	end := c.take(ctx)
	end.Writes, _ = c.fate.count()
	t.unfired = append(c.fate.unfired(), unfired(c.turns, c.turn, "submissions", "it needs a message that was shown before")...)
	if err := c.promises(ctx); err != nil {
		return harnessError("read what the interview stored", err)
	}
	if len(d.perturb) > 0 && end.Status != scenarios.InterviewFinished && end.HarnessError == "" {
		if err := c.again(ctx); err != nil {
			return harnessError("take the interview up again", err)
		}
	}
	return end
}

// again takes up an interview that did not come to its end, as a candidate does who
// comes back another day, when nothing is wrong any more. What it takes is no part of
// the trial.
func (c *candidate) again(ctx context.Context) error {
	calm, backend, err := c.trial.calm(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = calm.release() }()
	c.process.retire()
	c.trial, c.backend, c.tells = calm, backend, event.Discard
	c.promised.when = afterwards
	_, c.deaths = c.fate.count()
	c.fate, c.turns = newFate(event.Discard, nil), nil
	c.retries, c.patience = 0, comingBack
	for i := range c.did {
		c.did[i] = true
	}
	if err := c.start(); err != nil {
		return err
	}
	end := c.back(ctx)
	c.promised.Tell(resumed(end.Status, end.Details))
	_, err = c.hold(ctx)
	return err
}

// comingBack is how often a candidate who comes back asks again for a message.
const comingBack = 2

// back goes on where the interview stands, or begins it if it has not begun.
func (c *candidate) back(ctx context.Context) record.End {
	if c.view.SessionID == "" {
		return c.take(ctx)
	}
	got := c.deliver(ctx, sending{Session: c.view.SessionID, Event: interview.EventResume})
	if got.view == nil {
		return c.end(scenarios.InterviewError, 1, got.code+": "+got.message)
	}
	c.show(*got.view)
	return c.goOn(ctx)
}

// open opens the scenario's store, or says why that cannot be done here.
func (d *interviewDriver) open(ctx context.Context, t *trial) (opened session.Store, skipped string, err error) {
	dsn := "memory:"
	switch d.drive.Store {
	case "file":
		folder, err := os.MkdirTemp("", "rehearse-interview-")
		if err != nil {
			return nil, "", fmt.Errorf("make a folder: %w", err)
		}
		t.closers = append(t.closers, func() error { return os.RemoveAll(folder) })
		dsn = "sqlite:" + filepath.Join(folder, "interviews.db")
	case "postgres":
		server := os.Getenv(postgresDSN)
		if server == "" {
			return nil, postgresDSN + " names no PostgreSQL server", nil
		}
		var drop func() error
		if dsn, drop, err = store.Scratch(ctx, server); err != nil {
			return nil, "", err
		}
		t.closers = append(t.closers, drop)
	}
	if opened, err = store.Open(ctx, dsn); err != nil {
		return nil, "", err
	}
	// Closed first: what was opened last.
	t.closers = append([]func() error{opened.Close}, t.closers...)
	return opened, "", nil
}

// options are those of the service.
func (d *interviewDriver) options() interview.Options {
	retries := func(given *int) int {
		switch {
		case given == nil:
			return 0 // the service's default
		case *given == 0:
			return -1
		}
		return *given
	}
	return interview.Options{
		Model:             d.scenario.Backend.Model,
		CallTimeout:       d.drive.CallTimeout.Std(),
		Backoff:           d.drive.Backoff.Std(),
		TransportRetries:  retries(d.drive.TransportRetries),
		ValidationRetries: retries(d.drive.ValidationRetries),
		History:           prompt.Limits{Messages: d.drive.HistoryMessages, Tokens: d.drive.HistoryTokens},
		Instance:          "rehearsal",
	}
}

// said is what a move says.
func said(m scenarios.Move) string {
	var all []byte
	for range cmp.Or(m.Repeat, 1) {
		all = append(all, m.Text...)
	}
	return string(all)
}
