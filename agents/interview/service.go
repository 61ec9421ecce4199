package interview

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Service conducts interviews. It is safe for concurrent use.
type Service struct {
	set     Options
	dep     Deps
	prompts map[session.Language]*prompt.Set
	caller  run.Caller

	locks  locks
	recall recall
	gate   gate
}

// New returns a service.
func New(o Options, d Deps) (*Service, error) {
	o, err := o.WithDefaults()
	if err != nil {
		return nil, err
	}
	d, err = d.withDefaults()
	if err != nil {
		return nil, err
	}
	if err := checkPrice(o, d); err != nil {
		return nil, err
	}
	s := &Service{set: o, dep: d, prompts: map[session.Language]*prompt.Set{}}
	s.caller = run.Caller{Backend: d.Backend, Clock: d.Clock, CallTimeout: o.CallTimeout}
	for _, l := range session.Languages() {
		if s.prompts[l], err = prompt.Load(l); err != nil {
			return nil, fmt.Errorf("load the prompts for %s: %w", l, err)
		}
	}
	for _, own := range d.Prompts {
		s.prompts[own.Language] = own
	}
	return s, nil
}

// promptsFor returns the prompts for a session. It is about the job with which it began, also if the server
// has other jobs by now.
func (s *Service) promptsFor(now session.Session) *prompt.Set {
	prompts := s.prompts[now.Language]
	if now.Job == nil {
		return prompts
	}
	return prompts.For(*now.Job)
}

// Handle carries out a submission. Its error is an *Error.
//
// If ctx ends while the submission waits for another one of its session, nothing is done.
// Once the step has begun, Handle finishes it even if ctx ends, so that the answer of the
// candidate and the calls that are paid for are stored.
func (s *Service) Handle(ctx context.Context, in Submission) (View, error) {
	if !s.gate.enter() {
		return View{}, &Error{
			Code: CodeBusy, RetryAfter: time.Second, Message: "the server is shutting down: send the same again in a moment",
		}
	}
	defer s.gate.leave()
	t := &step{Service: s}
	view, failed := t.handle(ctx, in)
	if failed != nil {
		return View{}, failed
	}
	return view, nil
}

// Shutdown refuses further submissions and waits until the steps in progress have ended, or
// until the context ends. Interrupted steps can be resumed after a restart.
func (s *Service) Shutdown(ctx context.Context) error {
	select {
	case <-s.gate.close():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the steps in progress: %w", context.Cause(ctx))
	}
}

// Forget drops the cached messages of a session that was deleted.
func (s *Service) Forget(id string) { s.recall.forget(id) }

// handle carries out one submission. It emits the events before the next submission of the
// session begins, so that events are in the order of the steps.
func (t *step) handle(ctx context.Context, in Submission) (View, *Error) {
	ask, failed := check(in, t.set.MaxAnswer)
	if failed != nil {
		return t.finish(View{}, failed)
	}
	t.request, t.ctx = ask, context.WithoutCancel(ctx)
	switch ask.Event {
	case EventStart:
		return t.finish(t.view(t.start()))
	case EventResume:
		return t.finish(t.view(t.load()))
	default:
	}
	release, waited, err := t.locks.acquire(ctx, ask.Session)
	if err != nil {
		return t.finish(View{}, &Error{
			Code: CodeBusy, Message: "the client disconnected before its submission was handled: nothing was done", Err: err,
		})
	}
	defer release()
	t.late = waited
	return t.finish(t.view(t.perform()))
}

// maxConflicts is the number of attempts at a submission if other servers change the
// session in the meantime.
const maxConflicts = 3

// perform carries out the submission on the session as it is now. After a conflict it
// tries again: another server may have answered the same message, or treated the call
// that was made here as lost.
func (t *step) perform() error {
	var err error
	for range maxConflicts {
		if err = t.load(); err != nil {
			return err
		}
		if err = t.once(); !errors.Is(err, session.ErrConflict) {
			return err
		}
		t.late = true
	}
	return storeFailed("store the step", err)
}

// once carries out the submission on the loaded session.
func (t *step) once() error {
	if t.request.Candidate != "" && t.request.Candidate != t.now.Candidate {
		return refuse(CodeInvalid, "candidateId: the session belongs to another candidate")
	}
	if t.request.Event == EventRetry {
		return t.retry()
	}
	repeated, err := t.received()
	if err != nil {
		return err
	}
	if repeated {
		if unnamed := t.request.ID == "" && t.request.seq == 0; unnamed && t.now.Phase == session.Owing && !t.late {
			return t.retry() // a client that knows no RETRY sends the same again
		}
		t.repeated = t.calls == 0
		return nil
	}
	return t.submit()
}

// start begins a new interview.
func (t *step) start() error {
	id := t.dep.NewID()
	now := t.dep.Clock.Now()
	// Without an invitation, no answer reveals the jobs or the budget.
	invitation, resumed, err := t.invited(now)
	if err != nil || resumed {
		return err
	}
	job, refused := pickJob(t.dep.Jobs, cmp.Or(invitation.Job, t.request.Job), t.request.Language)
	if refused != nil {
		return refused
	}
	switch limit, failed, err := t.budgetSpent(); {
	case err != nil:
		return err
	case limit != "":
		return failed
	}
	candidate := cmp.Or(invitation.Candidate, t.request.Candidate)
	if candidate == "" {
		// Derived from the id, so that runs with given ids repeat; hashed, because the id
		// gives access to the interview.
		sum := sha256.Sum256([]byte(id))
		candidate = "candidate-" + hex.EncodeToString(sum[:6])
	}
	t.apply(session.Start(session.Session{
		ID: id, Candidate: candidate, Language: job.Language, Created: now, Updated: now, Job: &job,
		Invitation: invitation.ID(), Invited: invitation.Candidate != "",
	}), now)
	t.now.Version, t.change.Invitation = 1, invitation.Hash
	err = t.dep.Store.Create(t.ctx, t.now, t.change)
	if invitation.Hash != "" && errors.Is(err, session.ErrConflict) {
		return refuse(CodeInvitation, "invitation: it was used at this moment by another request") // of several at once
	}
	if err != nil {
		return storeFailed("create a session", err)
	}
	t.committed()
	return nil
}
