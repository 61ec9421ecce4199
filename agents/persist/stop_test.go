package persist_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// world records the effects of the tasks of a plan, which outlive a process.
type world struct{ did map[string]bool }

// everything returns a run in which all happens that a supervisor sees to: dependencies,
// a retry, a hang, a split, evicted files, a check that fails until its task is done,
// announced steps, a task that fails until the second round.
func everything(w *world, store *tape) *rig {
	p := tasks("plan", "write<plan", "hang", "calls", "files", "more-files", "flaky", "hard<write", "last<hard,files")
	p.Limits = small(p.Limits)
	p.Tasks[4].Files = []string{"a.go", "b.go"}
	p.Tasks[5].Files = []string{"c.go"}
	p.Tasks[8].Files = []string{"a.go"}
	r := newRig(p)
	r.store, r.deps.Store = store, store
	r.deps.Probes[plan.CheckTests] = persist.Probe(func(context.Context) plan.CheckResult {
		if w.did["round-1.tests"] {
			return plan.CheckResult{Verdict: plan.Pass}
		}
		return plan.CheckResult{Verdict: plan.Fail, Details: "1 test fails", Items: []string{"TestLogin"}}
	})
	r.deeds = map[string][]deed{
		"hang":       {hangs, takes(time.Minute, done)},
		"calls":      {spends(12), takes(time.Minute, done)},
		"files":      {touches("x.go", "y.go", "z.go")},
		"more-files": {touches("v.go", "w.go", "x.go")},
		"last":       {takes(time.Minute, says("The code is in place.\n\nNext steps:\n1. Run the migration.\n2. Update the changelog."))},
		"flaky":      {grade(persist.Failed, "the port is taken"), down, down, takes(time.Minute, done)},
		"hard":       {grade(persist.Failed, "no"), grade(persist.Failed, "no"), grade(persist.Failed, "no"), takes(time.Minute, done)},
	}
	return r
}

func small(l plan.Limits) plan.Limits {
	l.ContextFiles, l.HardCalls, l.SoftCalls, l.CheckEvery = 4, 10, 8, 3
	return l
}

// spends makes n tool calls, a second each.
func spends(n int) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		for range n {
			if err := a.Meter.Call(1); err != nil {
				return persist.Outcome{Grade: persist.Split, Carry: "some of it is done"}
			}
			if err := r.clock.Sleep(ctx, time.Second); err != nil {
				return persist.Outcome{Grade: persist.Failed, Details: err.Error()}
			}
		}
		return done(ctx, r, a)
	}
}

// touches uses files and is done.
func touches(files ...string) deed {
	return func(ctx context.Context, r *rig, a persist.Assignment) persist.Outcome {
		a.Meter.Touch(files...)
		return takes(time.Minute, done)(ctx, r, a)
	}
}

// noting lets a worker's finished tasks be seen in the world.
type noting struct {
	*rig
	world *world
}

func (n noting) Work(ctx context.Context, a persist.Assignment) persist.Outcome {
	out := n.rig.Work(ctx, a)
	if out.Grade == persist.Done {
		n.world.did[a.Task.ID] = true
	}
	return out
}

// process runs everything on a store until it ends.
func process(w *world, store *tape) (*rig, persist.Result) {
	r := everything(w, store)
	r.deps.Workers["default"] = noting{r, w}
	return r, r.run()
}

var _ = Describe("A stop at a write of the journal", Label("P-05"), func() {
	undisturbed := func() *tape {
		GinkgoHelper()
		store := newTape()
		r, result := process(&world{map[string]bool{}}, store)
		Expect(result.Status).To(Equal(persist.StatusComplete), "%s %v %v", result.Details, states(result), r.worked)
		return store
	}

	It("leaves a run that goes on to the same journal, whichever write it is", func() {
		want := undisturbed()
		Expect(want.writes).To(BeNumerically(">", 30))
		for k := 1; k <= want.writes; k++ {
			for _, late := range []bool{false, true} {
				stopAt(want, k, late)
			}
		}
	})

	It("and so do stops at any writes of any number of processes", func() {
		want := undisturbed()
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			store, w := newTape(), &world{map[string]bool{}}
			finished := map[string]bool{}
			for n := 1; ; n++ {
				if k := rapid.IntRange(0, 12).Draw(t, "writes"); k > 0 && n < 30 {
					late := rapid.Bool().Draw(t, "late")
					store.fail = func(i int, _ string) failure {
						if i == k {
							return failure{err: errKilled, late: late}
						}
						return failure{}
					}
				}
				r, result := process(w, store)
				if again := repeated(r, finished); len(again) > 0 {
					t.Fatalf("finished tasks run again: %v", again)
				}
				note(store, finished)
				if result.Status == persist.StatusComplete {
					break
				}
				if result.Status != persist.StatusError {
					t.Fatalf("%s: %s", result.Status, result.Details)
				}
				store = store.reopen()
			}
			if !slices.Equal(store.text(), want.text()) {
				t.Fatalf("the journal differs:\n%s", differs(store.text(), want.text()))
			}
		})
	})
})

// stopAt stops a run at write k and lets another process go on.
func stopAt(want *tape, k int, late bool) {
	GinkgoHelper()
	store, w := newTape(), &world{map[string]bool{}}
	store.fail = func(n int, _ string) failure {
		if n == k {
			return failure{err: errKilled, late: late}
		}
		return failure{}
	}
	_, result := process(w, store)
	Expect(result.Status).To(Equal(persist.StatusError), "stop %d", k)
	Expect(result.Err).To(MatchError(errKilled))
	finished := map[string]bool{}
	note(store, finished)

	store = store.reopen()
	r, result := process(w, store)
	Expect(result.Status).To(Equal(persist.StatusComplete), "stop %d: %s", k, result.Details)
	Expect(repeated(r, finished)).To(BeEmpty(), "stop %d", k)
	Expect(store.text()).To(Equal(want.text()), "stop %d (late %v):\n%s", k, late, differs(store.text(), want.text()))
}

// note adds the tasks whose done outcome the journal has.
func note(store *tape, finished map[string]bool) {
	for _, record := range store.of(state.KindOutcome) {
		if record.Outcome.Grade == "done" {
			finished[record.Task] = true
		}
	}
}

// repeated returns the attempts at tasks that were finished before.
func repeated(r *rig, finished map[string]bool) []string {
	var again []string
	for _, key := range r.worked {
		if id, _, _ := strings.Cut(key, "#"); finished[id] {
			again = append(again, key)
		}
	}
	return again
}

func differs(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("record %d\n%s\n≠\n%s", i+1, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d and %d records", len(got), len(want))
}
