package drive

import (
	"errors"
	"fmt"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// ErrCrashed is returned by stores and backends after a simulated crash.
var ErrCrashed = errors.New("the process has died, as the scenario says")

// CrashPlan counts the durable writes of all processes of a trial and decides which of
// them fail. It is safe for concurrent use.
type CrashPlan struct {
	sink event.Sink // receives each perturbation that fires

	mu      sync.Mutex
	writes  int
	crashes int
	planned []Planned
	full    bool // the disk was full, and will be full again
}

// Planned is a perturbation of a write or a turn, and how often it has fired.
type Planned struct {
	perturb.Perturbation
	fired int
}

// NewCrashPlan returns a plan of the perturbations of writes among ps. The sink receives an
// event for each one that fires.
func NewCrashPlan(sink event.Sink, ps []perturb.Perturbation) *CrashPlan {
	return &CrashPlan{sink: sink, planned: PlannedAt(perturb.Write, ps)}
}

// PlannedAt returns the perturbations of a point.
func PlannedAt(at perturb.Point, ps []perturb.Perturbation) (all []Planned) {
	for _, p := range ps {
		if p.At == at {
			all = append(all, Planned{Perturbation: p})
		}
	}
	return all
}

// Due reports whether the perturbation fires at place n.
func (p *Planned) Due(n int) bool {
	late := n - p.N
	return late == 0 || p.Every > 0 && late > 0 && late%p.Every == 0
}

// Fired reports whether the perturbation has fired.
func (p *Planned) Fired() bool { return p.fired > 0 }

// Fire records that the perturbation fires at place n.
func (p *Planned) Fire(sink event.Sink, n int) {
	p.fired++
	sink.Emit(event.New(n, p.String(), record.Perturbed{Restarted: p.At == perturb.Turn && p.Do == perturb.Restart}))
}

// Unfired describes the perturbations that never fired. There were n places; missed is the
// reason for a perturbation at one of them.
func Unfired(planned []Planned, n int, places, missed string) (texts []string) {
	for i := range planned {
		switch p := &planned[i]; {
		case p.Fired():
		case p.N > n:
			texts = append(texts, fmt.Sprintf("%s: there were %d %s", p, n, places))
		default:
			texts = append(texts, fmt.Sprintf("%s: %s", p, missed))
		}
	}
	return texts
}

// Continue sets the numbers of writes and crashes before those that are counted from now on.
func (c *CrashPlan) Continue(writes, crashes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes, c.crashes = writes, crashes
}

// PlanNext plans a perturbation of the next write.
func (c *CrashPlan) PlanNext(do string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.planned = append(c.planned, Planned{Perturbation: perturb.Perturbation{At: perturb.Write, N: c.writes + 1, Do: do}})
}

// write counts a write and returns its perturbation, if any.
func (c *CrashPlan) write() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.writes++
	for i := range c.planned {
		if p := &c.planned[i]; p.Due(c.writes) {
			p.Fire(c.sink, c.writes)
			c.full = p.Do == perturb.DiskFull && p.Every > 0
			return p.Do
		}
	}
	return ""
}

// DiskFull reports, once, whether the disk was full and will be full again. The driver then
// frees space and continues.
func (c *CrashPlan) DiskFull() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.full
	c.full = false
	return was
}

func (c *CrashPlan) crashed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.crashes++
}

// Count returns the numbers of durable writes and of crashes so far.
func (c *CrashPlan) Count() (writes, crashes int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.writes, c.crashes
}

// Unfired describes the perturbations of writes that never fired.
func (c *CrashPlan) Unfired() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return Unfired(c.planned, c.writes, "writes", "something else happened at that write")
}

// Process simulates one process that writes to a store. After its crash every call fails.
type Process struct {
	Plan *CrashPlan
	// OnCrash, if given, is called at the crash.
	OnCrash func()

	mu   sync.Mutex
	dead bool
}

// Crashed reports whether the process has crashed or was retired.
func (p *Process) Crashed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dead
}

// Retire ends the process without a crash, and reports whether it was alive.
func (p *Process) Retire() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := !p.dead
	p.dead = true
	return was
}

// Crash ends the process and returns ErrCrashed.
func (p *Process) Crash() error {
	if p.Retire() {
		p.Plan.crashed()
		if p.OnCrash != nil {
			p.OnCrash()
		}
	}
	return ErrCrashed
}

// Write makes one durable write, which may fail by the plan.
func (p *Process) Write(do func() error) error {
	if p.Crashed() {
		return ErrCrashed
	}
	switch p.Plan.write() {
	case perturb.CrashBefore:
		return p.Crash()
	case perturb.DiskFull:
		return atomicdir.Explain(syscall.ENOSPC)
	case perturb.CrashAfter:
		_ = do() // the process has crashed before it can see the result
		return p.Crash()
	}
	return do()
}
