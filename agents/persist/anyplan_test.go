package persist_test

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// chance returns a number from 0 to n-1 that depends on nothing but what it is for, so that
// an attempt which is made again ends as it did.
func chance(n int, seed int, what ...any) int {
	h := fnv.New64a()
	fmt.Fprint(h, seed, what)
	return int(h.Sum64() % uint64(n))
}

// moody returns a run of any plan whose workers and probes are of any mood.
func moody(p plan.Plan, seed int, w *world, store *tape) *rig {
	r := newRig(p)
	r.store, r.deps.Store = store, store
	r.deps.Workers["default"] = workerFunc(func(ctx context.Context, a persist.Assignment) persist.Outcome {
		r.worked = append(r.worked, a.Key)
		out := mood(chance(13, seed, a.Key))(ctx, r, a)
		if out.Grade == persist.Done {
			w.did[a.Task.ID] = true
		}
		return out
	})
	for _, name := range []plan.Check{plan.CheckTests, plan.CheckValidation} {
		if chance(3, seed, name) == 0 {
			continue
		}
		r.deps.Probes[name] = persist.Probe(func(context.Context) plan.CheckResult {
			fixed := w.did["round-1."+string(name)] || w.did["round-2."+string(name)]
			if fixed || chance(3, seed, name, len(w.did)) > 0 {
				return plan.CheckResult{Verdict: plan.Pass}
			}
			return plan.CheckResult{Verdict: plan.Fail, Items: []string{fmt.Sprint(chance(2, seed, name, "item", len(w.did)))}}
		})
	}
	return r
}

// mood returns what happens in an attempt.
func mood(n int) deed {
	switch n {
	case 0:
		return hangs
	case 1:
		return takes(time.Minute, grade(persist.Failed, "it went wrong"))
	case 2:
		return spends(13)
	case 3:
		return touches("x", "y", "z")
	case 4:
		return takes(time.Minute, says("Half of it is there.\n\nNext steps:\n1. Run the migration."))
	case 5:
		return works(7 * time.Minute)
	case 6:
		return down
	default:
		return takes(time.Minute, done)
	}
}

func anyPlan(t *rapid.T) plan.Plan {
	p := many(rapid.IntRange(1, 9).Draw(t, "tasks"))
	for i := range p.Tasks {
		for j := range i {
			if rapid.IntRange(0, 4).Draw(t, "after") == 0 {
				p.Tasks[i].After = append(p.Tasks[i].After, p.Tasks[j].ID)
			}
		}
		p.Tasks[i].Files = rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 0, 2).Draw(t, "files")
	}
	p.Limits = small(p.Limits)
	return p
}

// upToEnd returns a journal until its run first ended.
func upToEnd(lines []string) []string {
	end := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, `{"kind":"end"`) })
	if end < 0 {
		return lines
	}
	return lines[:end+1]
}

var _ = It("Any plan goes on after any stops to the journal of an undisturbed run", Label("P-05", "P-09"), func() {
	rapid.Check(GinkgoT(), func(t *rapid.T) {
		p, seed := anyPlan(t), rapid.IntRange(0, 1<<30).Draw(t, "seed")
		undisturbed := newTape()
		want := moody(p, seed, &world{map[string]bool{}}, undisturbed).run()
		if want.Status == persist.StatusError {
			t.Fatal(want.Details)
		}
		store, w, finished := newTape(), &world{map[string]bool{}}, map[string]bool{}
		for n := 1; ; n++ {
			k := 0
			if n < 20 {
				k = rapid.IntRange(0, 15).Draw(t, "writes")
			}
			late := rapid.Bool().Draw(t, "late")
			store.fail = func(i int, _ string) failure {
				if i == k {
					return failure{err: errKilled, late: late}
				}
				return failure{}
			}
			r := moody(p, seed, w, store)
			result := r.run()
			if again := repeated(r, finished); len(again) > 0 {
				t.Fatalf("finished tasks run again: %v", again)
			}
			note(store, finished)
			if got := upToEnd(store.text()); len(got) < len(store.text()) || result.Status != persist.StatusError {
				if expected := upToEnd(undisturbed.text()); !slices.Equal(got, expected) {
					t.Fatalf("the journal differs:\n%s", differs(got, expected))
				}
				return
			}
			store = store.reopen()
		}
	})
})
