package kind

import (
	"context"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// process simulates one process of a service: after a crash its store and its backend fail.
type process struct {
	session.Store
	drive.Process
	model     llm.Backend
	afterCall atomic.Bool // crash when the next call has ended
}

// plan plans a crash at an instant of the next step.
func (p *process) plan(instant string) {
	switch instant {
	case beforeAnswer:
		p.Plan.PlanNext(perturb.CrashBefore)
	case beforeCall:
		p.Plan.PlanNext(perturb.CrashAfter)
	case afterCall:
		p.afterCall.Store(true)
	}
}

// Create implements session.Store.
func (p *process) Create(ctx context.Context, s session.Session, c session.Change) error {
	return p.Write(func() error { return p.Store.Create(ctx, s, c) })
}

// Commit implements session.Store.
func (p *process) Commit(ctx context.Context, s session.Session, c session.Change) (version int64, err error) {
	err = p.Write(func() (err error) {
		version, err = p.Store.Commit(ctx, s, c)
		return err
	})
	if err != nil {
		return 0, err
	}
	return version, nil
}

// Complete implements llm.Backend.
func (p *process) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if p.Crashed() {
		return llm.Reply{}, drive.ErrCrashed
	}
	reply, err := p.model.Complete(ctx, req)
	if p.afterCall.Load() {
		_ = p.Crash()
	}
	if p.Crashed() {
		return llm.Reply{}, drive.ErrCrashed
	}
	return reply, err
}
