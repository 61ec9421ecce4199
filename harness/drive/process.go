package drive

import (
	"context"
	"errors"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// errDead is what every store and backend of a dead process says.
var errDead = errors.New("the process has died, as the scenario says")

// process stands between one life of a service and what survives it: its store
// and its backend. When it dies nothing more gets through.
type process struct {
	session.Store
	model llm.Backend

	mu   sync.Mutex
	plan string // an instant of scenarios.MoveCrash; empty is never
	dead bool
}

// die plans the process's death in the next step.
func (p *process) die(instant string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.plan = instant
}

// kill ends the process.
func (p *process) kill() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = true
}

func (p *process) died() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// reach says that an instant has come, and reports whether the process is dead.
func (p *process) reach(instant string) (dead bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dead = p.dead || p.plan == instant
	return p.dead
}

// Commit implements session.Store.
func (p *process) Commit(ctx context.Context, s session.Session, c session.Change) (int64, error) {
	if p.reach(scenarios.BeforeAnswer) {
		return 0, errDead
	}
	version, err := p.Store.Commit(ctx, s, c)
	if err == nil && p.reach(scenarios.BeforeCall) {
		return 0, errDead
	}
	return version, err
}

// Complete implements llm.Backend.
func (p *process) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	if p.died() {
		return llm.Reply{}, errDead
	}
	reply, err := p.model.Complete(ctx, req)
	if p.reach(scenarios.AfterCall) {
		return llm.Reply{}, errDead
	}
	return reply, err
}
