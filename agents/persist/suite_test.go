package persist_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
)

func TestPersist(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist")
}

var _ = BeforeEach(func() {
	before := gleak.Goroutines()
	DeferCleanup(func() { Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before)) })
})

// deed carries out one attempt of a worker.
type deed func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome

// rig is a run on a virtual clock, in memory. A task takes a minute and is done,
// unless a deed is given for it.
type rig struct {
	plan  plan.Plan
	deps  persist.Deps
	clock *clock.Virtual
	store *tape
	// deeds are what happens at each attempt at a task, by its id; the last one again
	// for further attempts.
	deeds map[string][]deed
	// worked are the keys of all attempts, in order.
	worked  []string
	prompts []string
	events  []event.Event
}

func newRig(p plan.Plan) *rig {
	if p.Name == "" {
		p.Name = "test"
	}
	r := &rig{plan: p, clock: clock.NewVirtual(), store: newTape(), deeds: map[string][]deed{}}
	r.deps = persist.Deps{
		Store: r.store, Workers: map[string]persist.Worker{"default": r}, Clock: r.clock,
		Probes: map[plan.Check]persist.Probe{},
		Sink:   event.SinkFunc(func(e event.Event) { r.events = append(r.events, e) }),
	}
	return r
}

// tasks returns a plan of tasks with the given ids; "b<a,c" comes after a and c.
func tasks(ids ...string) plan.Plan {
	p := plan.Plan{Name: "test", Goal: "All is well."}
	for _, id := range ids {
		id, after, _ := strings.Cut(id, "<")
		t := plan.Task{ID: id, Do: "Do " + id + "."}
		if after != "" {
			t.After = strings.Split(after, ",")
		}
		p.Tasks = append(p.Tasks, t)
	}
	return p
}

// many returns a plan of n tasks.
func many(n int) plan.Plan {
	ids := make([]string, n)
	for i := range ids {
		ids[i] = fmt.Sprintf("t%04d", i+1)
	}
	return tasks(ids...)
}

func (r *rig) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	r.worked = append(r.worked, a.Key)
	r.prompts = append(r.prompts, a.Prompt)
	deeds := r.deeds[a.Task.ID]
	if len(deeds) == 0 {
		return takes(time.Minute, done)(ctx, r, a)
	}
	return deeds[min(a.Attempt, len(deeds))-1](ctx, r, a)
}

func (r *rig) run() persist.Result { return r.runIn(context.Background()) }

func (r *rig) runIn(ctx context.Context) persist.Result { return persist.Run(ctx, r.plan, r.deps) }

// again returns a new process on the same state.
func (r *rig) again() persist.Result {
	r.store = r.store.reopen()
	r.deps.Store = r.store
	r.events = nil
	return r.run()
}

// emitted returns the events of a kind and, unless it is empty, a name.
func (r *rig) emitted(kind event.Kind, name string) []event.Event {
	return slices.DeleteFunc(slices.Clone(r.events), func(e event.Event) bool {
		return e.Kind != kind || name != "" && e.Name != name
	})
}

// attrs returns the values of an attribute of the events of a kind and name.
func (r *rig) attrs(kind event.Kind, name, attr string) []any {
	var values []any
	for _, e := range r.emitted(kind, name) {
		values = append(values, e.Attrs[attr])
	}
	return values
}

// done returns a finished task with a clean answer.
func done(context.Context, *rig, persist.Assignment) persist.Outcome {
	return persist.Outcome{Grade: persist.Done, Answer: "Done: all of it is in place, and the tests pass."}
}

func grade(g persist.Grade, details string) deed {
	return func(context.Context, *rig, persist.Assignment) persist.Outcome {
		return persist.Outcome{Grade: g, Details: details}
	}
}

// says returns a task that is done with an answer.
func says(answer string) deed {
	return func(context.Context, *rig, persist.Assignment) persist.Outcome {
		return persist.Outcome{Grade: persist.Done, Answer: answer}
	}
}

// takes does a deed after a time, or fails when its context ends.
func takes(d time.Duration, then deed) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		if err := r.clock.Sleep(ctx, d); err != nil {
			return persist.Outcome{Grade: persist.Failed, Details: "cut off: " + err.Error()}
		}
		return then(ctx, r, a)
	}
}

// hangs shows no activity until its context ends.
func hangs(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
	return takes(clock.Forever, done)(ctx, r, a)
}

// probe answers with the verdicts in turn, the last one for ever.
func probe(verdicts ...plan.Verdict) persist.Probe {
	n := 0
	return persist.Probe(func(context.Context) plan.CheckResult {
		v := verdicts[min(n, len(verdicts)-1)]
		n++
		return plan.CheckResult{Verdict: v, Details: fmt.Sprintf("found at look %d", n)}
	})
}

// states returns where the tasks stand.
func states(result persist.Result) map[string]string {
	at := map[string]string{}
	for _, t := range result.Tasks {
		at[t.ID] = t.State
	}
	return at
}
