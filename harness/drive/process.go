package drive

import (
	"context"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// process stands between one life of a service and what survives it: its store
// and its backend.
type process struct {
	session.Store
	life
	model     llm.Backend
	afterCall bool // it dies when the next call has ended
}

// plan plans the process's death at an instant of scenarios.MoveCrash in the next
// step.
func (p *process) plan(instant string) {
	switch instant {
	case scenarios.BeforeAnswer:
		p.fate.next(perturb.CrashBefore)
	case scenarios.BeforeCall:
		p.fate.next(perturb.CrashAfter)
	case scenarios.AfterCall:
		p.mu.Lock()
		defer p.mu.Unlock()
		p.afterCall = true
	}
}

// Create implements session.Store.
func (p *process) Create(ctx context.Context, s session.Session, c session.Change) error {
	return p.write(func() error { return p.Store.Create(ctx, s, c) })
}

// Commit implements session.Store.
func (p *process) Commit(ctx context.Context, s session.Session, c session.Change) (version int64, err error) {
	err = p.write(func() (err error) {
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
	if p.died() {
		return llm.Reply{}, errDead
	}
	reply, err := p.model.Complete(ctx, req)
	p.mu.Lock()
	last := p.afterCall
	p.mu.Unlock()
	if last {
		_ = p.die()
	}
	if p.died() {
		return llm.Reply{}, errDead
	}
	return reply, err
}
