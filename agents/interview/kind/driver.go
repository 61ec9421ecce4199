package kind

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// postgresDSN is the environment variable with the address of a PostgreSQL server.
const postgresDSN = "REHEARSE_TEST_POSTGRES"

// run takes the interview as the persona.
func (r *rehearsed) run(ctx context.Context, t *drive.Trial) record.End {
	opened, skipped, err := r.open(ctx, t)
	switch {
	case err != nil:
		return drive.Failed("open the store of the interview", err)
	case skipped != "":
		return record.End{Status: "skipped", Skipped: skipped}
	}
	c := &candidate{
		rehearsed: r, trial: t, store: opened, sink: t.Sink, violations: drive.Violations{Sink: t.Sink},
		crashes: drive.NewCrashPlan(t.Sink, t.Perturb), turns: drive.PlannedAt(perturb.Turn, t.Perturb),
		patience: r.opts.Retries, progress: progress{did: make([]bool, len(r.opts.Moves))},
	}
	if err := c.start(); err != nil {
		return drive.Failed("start the interview's service", err)
	}
	begin := c.take
	if from, ok := t.ForkedAt().(*forkPoint); ok {
		c.continueFrom(from)
		begin = c.proceed
	}
	end := begin(ctx)
	end.Writes, _ = c.crashes.Count()
	t.Unfired(c.crashes.Unfired()...)
	t.Unfired(drive.Unfired(c.turns, c.turn, "submissions", "it needs a message that was shown before")...)
	if err := c.checkInvariants(ctx); err != nil {
		return drive.Failed("read what the interview stored", err)
	}
	if len(t.Perturb) > 0 && !c.deleted && end.Status != statusFinished && end.HarnessError == "" {
		if err := c.resume(ctx); err != nil {
			return drive.Failed("resume the interview", err)
		}
	}
	return end
}

// resume resumes an unfinished interview without faults, as a candidate who comes back another
// day. It is not part of the trial.
func (c *candidate) resume(ctx context.Context) error {
	next, err := c.trial.ResumeWithoutFaults(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = next.Release() }()
	c.process.Retire()
	c.trial, c.sink = next, event.Discard
	c.violations.When = drive.AfterResume
	_, c.crashed = c.crashes.Count()
	c.crashes, c.turns = drive.NewCrashPlan(event.Discard, nil), nil
	c.retries, c.patience = 0, resumeRetries
	for i := range c.did {
		c.did[i] = true
	}
	if err := c.start(); err != nil {
		return err
	}
	end := c.comeBack(ctx)
	c.violations.Emit(event.New(0, end.Details, record.Resumed{Status: end.Status}))
	_, err = c.checkStored(ctx)
	return err
}

// resumeRetries is the patience of a candidate who comes back.
const resumeRetries = 2

// comeBack continues the interview, or begins it if it has not begun.
func (c *candidate) comeBack(ctx context.Context) record.End {
	if c.view.SessionID == "" {
		return c.take(ctx)
	}
	got := c.deliver(ctx, sending{Session: c.view.SessionID, Event: interview.EventResume})
	if got.view == nil {
		return c.end(statusError, 1, got.code+": "+got.message)
	}
	c.show(*got.view)
	return c.proceed(ctx)
}

// open opens the store of the scenario. skipped is the reason why it is not available, if any.
func (r *rehearsed) open(ctx context.Context, t *drive.Trial) (opened session.Store, skipped string, err error) {
	switch from, forked := t.ForkedAt().(*forkPoint); {
	case forked:
		return from.store.Fork(), "", nil
	case t.Taped():
		return new(store.Memory), "", nil
	}
	dsn := "memory:"
	switch r.opts.Store {
	case "file":
		folder, err := os.MkdirTemp("", "rehearse-interview-")
		if err != nil {
			return nil, "", fmt.Errorf("create a folder: %w", err)
		}
		t.Cleanup(func() error { return os.RemoveAll(folder) })
		dsn = "sqlite:" + filepath.Join(folder, "interviews.db")
	case "postgres":
		server := os.Getenv(postgresDSN) //nolint:forbidigo // names a server for tests
		if server == "" {
			return nil, postgresDSN + " names no PostgreSQL server", nil
		}
		var drop func() error
		if dsn, drop, err = database.Scratch(ctx, server); err != nil {
			return nil, "", err
		}
		t.Cleanup(drop)
	}
	s, err := store.Open(ctx, dsn)
	if err != nil {
		return nil, "", err
	}
	t.CleanupFirst(s.Close)
	if r.opts.Invite {
		now := t.Clock.Now()
		err = s.Invite(ctx, session.Invitation{
			Hash: session.HashInvitation(invitation), Candidate: r.persona.Candidate, Uses: 1, Created: now, Expires: now.AddDate(0, 0, 30),
		})
	}
	return s, "", err
}

// invitation is the token of Options.Invite.
const invitation = "invitation-of-the-persona"

// startBody returns the submission that begins an interview.
func (r *rehearsed) startBody(id string) sending {
	body := sending{Event: interview.EventStart, Candidate: r.persona.Candidate, Language: r.persona.Language, ID: id}
	if r.opts.Invite {
		body.Invitation = invitation
	}
	return body
}

func (r *rehearsed) options() interview.Options {
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
		Model:             r.model,
		CallTimeout:       r.opts.CallTimeout.Std(),
		Backoff:           r.opts.Backoff.Std(),
		TransportRetries:  retries(r.opts.TransportRetries),
		ValidationRetries: retries(r.opts.ValidationRetries),
		History:           prompt.Limits{Messages: r.opts.HistoryMessages, Tokens: r.opts.HistoryTokens},
		PerDay:            interview.Budget{Calls: r.opts.CallsPerDay, Cost: r.opts.CostPerDay},
		RequireInvitation: r.opts.Invite,
		Instance:          "rehearsal",
	}
}

// textOf returns the text of a move, repeated.
func textOf(m Move) string {
	return strings.Repeat(m.Text, cmp.Or(m.Repeat, 1))
}
