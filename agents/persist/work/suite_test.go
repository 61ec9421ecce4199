package work_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/work"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

func TestWork(t *testing.T) {
	RegisterFailHandler(Fail)
	SetDefaultEventuallyTimeout(30 * time.Second) // processes on a busy machine
	RunSpecs(t, "agents/persist/work")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// meter counts what a worker tells, and allows so many tool calls.
type meter struct {
	mu      sync.Mutex
	allowed int // negative: any number
	calls   int
	active  int
	touched []string
	paused  []bool // begun and ended
	onCall  func(n int)
}

func newMeter() *meter { return &meter{allowed: -1} }

func (m *meter) Call(n int) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.onCall != nil {
		m.onCall(n)
	}
	if m.allowed >= 0 && m.calls+n > m.allowed {
		return persist.ErrSegment
	}
	m.calls += n
	return nil
}

func (m *meter) Active() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.active++
}

func (m *meter) Pause() func() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.paused = append(m.paused, true)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paused = append(m.paused, false)
	}
}

func (m *meter) Touch(paths ...string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.touched = append(m.touched, paths...)
}

// rig is a worker of a plan with a backend of given turns, on a virtual clock.
type rig struct {
	plan     plan.Plan
	deps     work.Deps
	clock    *clock.Virtual
	meter    *meter
	turns    []turn
	requests []llm.Request
	events   []event.Event
	mu       sync.Mutex
}

// turn answers one call of a backend.
type turn func(ctx context.Context, r *rig, req llm.Request) (llm.Reply, error)

func say(text string) turn {
	return reply(llm.Reply{Text: text, Finish: llm.FinishStop, Usage: &llm.Usage{Input: 10, Output: 5}})
}

func reply(answer llm.Reply) turn {
	return func(ctx context.Context, r *rig, req llm.Request) (llm.Reply, error) {
		if req.OnText != nil {
			req.OnText(answer.Text)
		}
		return answer, r.clock.Sleep(ctx, time.Second)
	}
}

func fail(err error) turn {
	return func(context.Context, *rig, llm.Request) (llm.Reply, error) { return llm.Reply{}, err }
}

func newRig(w plan.Worker, turns ...turn) *rig {
	r := &rig{plan: plan.Plan{Workers: map[string]plan.Worker{"w": w}}, clock: clock.NewVirtual(), meter: newMeter(), turns: turns}
	r.deps = work.Deps{
		Backend: r, BackendID: "fake", Conversational: true, Clock: r.clock, Folder: GinkgoT().TempDir(),
		Sink: event.SinkFunc(func(e event.Event) { r.events = append(r.events, e) }),
	}
	return r
}

// Complete implements llm.Backend.
func (r *rig) Complete(ctx context.Context, req llm.Request) (llm.Reply, error) {
	r.mu.Lock()
	n := len(r.requests)
	r.requests = append(r.requests, req)
	r.mu.Unlock()
	if n >= len(r.turns) {
		return llm.Reply{}, &llm.Error{Kind: llm.ScriptExhausted, Backend: "fake"}
	}
	return r.turns[n](ctx, r, req)
}

func (r *rig) assignment() persist.Assignment {
	return persist.Assignment{
		Task: plan.Task{ID: "build", Do: "Build it.", Input: map[string]any{"code": "src"}},
		Key:  "key-1", Attempt: 2, Segment: 3, Prompt: "Goal: ship.\n\nBuild it.", Meter: r.meter,
	}
}

func (r *rig) worker() persist.Worker {
	GinkgoHelper()
	workers, err := work.Build(r.plan, r.deps)
	Expect(err).NotTo(HaveOccurred())
	Expect(workers).To(And(HaveKey("w"), HaveKey("default")))
	return workers["w"]
}

func (r *rig) work() persist.Outcome { return r.workIn(context.Background()) }

func (r *rig) workIn(ctx context.Context) persist.Outcome {
	GinkgoHelper()
	return r.worker().Work(ctx, r.assignment())
}

// workOn works on a changed assignment.
func (r *rig) workOn(change func(*persist.Assignment)) persist.Outcome {
	GinkgoHelper()
	a := r.assignment()
	change(&a)
	return r.worker().Work(context.Background(), a)
}

// kinds returns the kinds of the emitted events.
func (r *rig) kinds() []event.Kind {
	var all []event.Kind
	for _, e := range r.events {
		all = append(all, e.Kind)
	}
	return slices.Compact(all)
}

// errStagnation is any cause by which a supervisor ends an attempt.
var errStagnation = errors.New("no activity")

// newProbe returns the probe of a spec.
func newProbe(spec plan.Probe, dir string, clk clock.Clock) (persist.Probe, error) {
	probes, err := work.Probes(plan.Plan{Checks: map[plan.Check]plan.Probe{plan.CheckTests: spec}}, dir, clk)
	return probes[plan.CheckTests], err
}

// ask makes a probe on the machine's clock and asks it.
func ask(ctx context.Context, dir string, spec plan.Probe) plan.CheckResult {
	GinkgoHelper()
	p, err := newProbe(spec, dir, nil)
	Expect(err).NotTo(HaveOccurred())
	return p(ctx)
}

// folder makes a folder with files, by their paths.
func folder(files map[string]string) string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	for name, text := range files {
		write(dir, name, text)
	}
	return dir
}

func write(dir, name, text string) {
	GinkgoHelper()
	file := filepath.Join(dir, filepath.FromSlash(name))
	Expect(os.MkdirAll(filepath.Dir(file), 0o755)).To(Succeed())
	Expect(os.WriteFile(file, []byte(text), 0o644)).To(Succeed())
}
