package persist_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/event"
)

// disk is a plan's folder with the folders of its tasks. It survives processes.
type disk struct {
	main  map[string]string // the texts of files
	forks map[string]*copied
	// merged are the tasks whose merge changed a file, in order.
	merged []string
	fail   error // of Merge
}

// copied is the folder of a task.
type copied struct{ base, files map[string]string }

func newDisk() *disk { return &disk{main: map[string]string{}, forks: map[string]*copied{}} }

// workshop does tasks in the folders of a disk.
type workshop struct {
	*disk
	do     func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome
	accept func(files map[string]string) plan.Verdict

	mu      sync.Mutex
	worked  []string // keys
	prompts map[string]string
	now     int // attempts in progress
	most    int
}

// Open implements persist.Forks.
func (w *workshop) Open(_ context.Context, task string) (persist.Place, error) {
	if w.forks[task] == nil {
		w.forks[task] = &copied{base: maps.Clone(w.main), files: maps.Clone(w.main)}
	}
	files := w.forks[task].files
	return persist.Place{
		Workers: map[string]persist.Worker{"default": workerFunc(func(ctx context.Context, a persist.Assignment) persist.Outcome {
			w.mu.Lock()
			w.worked, w.prompts[a.Key] = append(w.worked, a.Key), a.Prompt
			w.now++
			w.most = max(w.most, w.now)
			w.mu.Unlock()
			defer func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.now--
			}()
			return w.do(ctx, a, files)
		})},
		Accept: []persist.Probe{func(context.Context) plan.CheckResult {
			return plan.CheckResult{Verdict: w.accept(files), Details: "looked"}
		}},
	}, nil
}

// mergeInto merges the changes of theirs since base into ours, and returns the files with conflicts.
func mergeInto(ours, base, theirs map[string]string) (conflicts []string, changed bool) {
	for name, text := range theirs {
		if text != base[name] && ours[name] != base[name] && ours[name] != text {
			conflicts = append(conflicts, name)
		}
	}
	if len(conflicts) > 0 {
		return conflicts, false
	}
	for name, text := range theirs {
		if text != base[name] && ours[name] != text {
			ours[name], changed = text, true
		}
	}
	return nil, changed
}

// Refresh implements persist.Forks.
func (w *workshop) Refresh(_ context.Context, task string, _ int) error {
	f := w.forks[task]
	if conflicts, _ := mergeInto(f.files, f.base, w.main); len(conflicts) > 0 {
		delete(w.forks, task)
		return &persist.Conflict{Paths: conflicts, Kept: "commit 0123abcd"}
	}
	f.base = maps.Clone(w.main)
	return nil
}

// Merge implements persist.Forks.
func (w *workshop) Merge(_ context.Context, task string, _ int) (event.Event, error) {
	if w.fail != nil {
		return event.Event{}, w.fail
	}
	f := w.forks[task]
	conflicts, changed := mergeInto(w.main, f.base, f.files)
	if len(conflicts) > 0 {
		delete(w.forks, task)
		return event.Event{}, &persist.Conflict{Paths: conflicts, Kept: "commit 0123abcd"}
	}
	if changed {
		w.merged = append(w.merged, task)
	}
	return event.Event{}, nil
}

// Failed implements persist.Forks.
func (w *workshop) Failed(context.Context, string, int, string) (event.Event, error) {
	return event.Event{}, nil
}

// Remove implements persist.Forks.
func (w *workshop) Remove(_ context.Context, keep func(string) bool) error {
	maps.DeleteFunc(w.forks, func(task string, _ *copied) bool { return !keep(task) })
	return nil
}

// inParallel returns a run of up to n attempts at the same time, each of which writes a file with its key.
func inParallel(p plan.Plan, n int, d *disk, store *tape) (*rig, *workshop) {
	r := newRig(p)
	r.store, r.deps.Store = store, store
	w := &workshop{disk: d, prompts: map[string]string{}, accept: func(map[string]string) plan.Verdict { return plan.Pass }}
	w.do = func(_ context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
		files[a.Task.ID] = a.Key
		return done(context.Background(), nil, a)
	}
	r.deps.Forks, r.deps.Parallel, r.deps.Accept = w, n, map[string][]persist.Probe{}
	for _, t := range p.Tasks {
		for range t.Accept {
			r.deps.Accept[t.ID] = []persist.Probe{func(context.Context) plan.CheckResult { panic("not in the plan's folder") }}
		}
	}
	return r, w
}

// accepted adds acceptance commands to tasks.
func accepted(p plan.Plan, ids ...string) plan.Plan {
	for i, t := range p.Tasks {
		if slices.Contains(ids, t.ID) {
			p.Tasks[i].Accept = []plan.Acceptance{{Command: []string{"true"}}}
		}
	}
	return p
}

// meet returns a function that returns when n callers have called it, or the context ends.
func meet(n int) func(context.Context) bool {
	var mu sync.Mutex
	all := make(chan struct{})
	return func(ctx context.Context) bool {
		mu.Lock()
		if n--; n == 0 {
			close(all)
		}
		mu.Unlock()
		select {
		case <-all:
			return true
		case <-ctx.Done():
			return false
		}
	}
}

var _ = Describe("Parallel attempts", func() {
	It("work at the same time, each in its own folder, and are merged in the order of the plan", Label("H-01"), func() {
		r, w := inParallel(tasks("a", "b", "c<a,b", "d"), 2, newDisk(), newTape())
		both, last := meet(2), make(chan struct{})
		w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
			switch a.Task.ID {
			case "a":
				Expect(both(ctx)).To(BeTrue())
				<-last
			case "b":
				Expect(both(ctx)).To(BeTrue())
			case "c":
				Expect(slices.Sorted(maps.Keys(files))).To(Equal([]string{"a", "b"}))
			case "d":
				Expect(files).To(BeEmpty(), "nothing is merged yet")
				close(last)
			}
			files[a.Task.ID] = a.Key
			return done(ctx, r, a)
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(w.main).To(Equal(map[string]string{"a": "a#1", "b": "b#1", "c": "c#1", "d": "d#1"}))
		Expect(w.merged).To(Equal([]string{"a", "b", "c", "d"}))
		Expect(w.most).To(Equal(2))
		Expect(w.forks).To(BeEmpty())
		waits := map[any]any{}
		for _, e := range r.emitted(event.State, "attempt-ended") {
			waits[e.Attrs["id"]] = e.Attrs["waits"]
		}
		Expect(waits).To(And(HaveKeyWithValue("a", false), HaveKeyWithValue("b", true)))
	})

	It("are attempted again from the merged files after a conflict, and are told about it", func() {
		p := tasks("a", "b")
		for _, acceptance := range []bool{false, true} {
			if acceptance {
				p = accepted(p, "b")
			}
			r, w := inParallel(p, 2, newDisk(), newTape())
			both := meet(2)
			w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
				if a.Attempt == 1 {
					Expect(both(ctx)).To(BeTrue())
				}
				files["list"] += a.Key + "\n"
				return done(ctx, r, a)
			}
			result := r.run()
			Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
			Expect(w.main).To(Equal(map[string]string{"list": "a#1\nb#2\n"}))
			Expect(w.prompts["b#2"]).To(And(
				ContainSubstring("The one before ended so:\n> a conflict with changes that were merged meanwhile: list\n"),
				ContainSubstring("> Your earlier work is the commit 0123abcd;")))
			Expect(result.Tasks[1].Attempts).To(Equal(2))
			Expect(result.Counts.Retries).To(Equal(1))
		}
	})

	It("fail with their task if each has a conflict", func() {
		r, w := inParallel(tasks("a", "b"), 2, newDisk(), newTape())
		w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
			files["list"] = a.Key
			return done(ctx, r, a)
		}
		r.deps.Forks = conflicting{w}
		result := r.run()
		Expect(states(result)).To(Equal(map[string]string{"a": "failed", "b": "failed"}))
		Expect(result.Status).To(Equal(persist.StatusBlocked))
		Expect(result.Details).To(ContainSubstring("a conflict with changes that were merged meanwhile: list"))
	})

	It("are ended by the watchdog one by one", func() {
		r, w := inParallel(tasks("a", "b"), 2, newDisk(), newTape())
		both := meet(2)
		w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
			if a.Attempt == 1 {
				Expect(both(ctx)).To(BeTrue())
			}
			if a.Key == "a#1" {
				return hangs(ctx, r, a)
			}
			files[a.Task.ID] = a.Key
			return done(ctx, r, a)
		}
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(result.Counts.Stagnations).To(Equal(1))
		Expect(w.merged).To(Equal([]string{"b", "a"}), "the task moves to the end of the queue")
	})

	It("are made again with their keys after an interrupt, and those that ended are merged without another attempt", func() {
		d, store := newDisk(), newTape()
		r, w := inParallel(tasks("a", "b"), 2, d, store)
		ctx, cancel := context.WithCancel(context.Background())
		ended := make(chan struct{})
		w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
			if a.Task.ID == "a" {
				<-ended
				cancel()
				<-ctx.Done()
				return persist.Outcome{Grade: persist.Failed, Details: "cut off", Used: &persist.Used{Calls: 3}}
			}
			files["b"] = a.Key
			return persist.Outcome{Grade: persist.Done, Answer: "Done.", Used: &persist.Used{Calls: 2}}
		}
		r.deps.Sink = event.SinkFunc(func(e event.Event) {
			if e.Name == "attempt-ended" {
				close(ended)
			}
		})
		result := r.runIn(ctx)
		Expect(result.Status).To(Equal(persist.StatusInterrupted))
		Expect(result.Used.Calls).To(Equal(5))
		Expect(result.Tasks[0].Used.Calls).To(Equal(3))
		Expect(d.main).To(BeEmpty())
		Expect(d.forks).To(HaveLen(2))

		r, w = inParallel(r.plan, 2, d, store.reopen())
		result = r.run()
		Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
		Expect(w.worked).To(Equal([]string{"a#1"}))
		Expect(d.main).To(Equal(map[string]string{"a": "a#1", "b": "b#1"}))
		Expect(result.Used.Calls).To(Equal(5))
	})

	It("must be merged before a run goes on without forks", func() {
		store := newTape()
		r, w := inParallel(tasks("a"), 2, newDisk(), store)
		w.fail = errors.New("no space left")
		result := r.run()
		Expect(result.Status).To(Equal(persist.StatusError))
		Expect(result.Details).To(ContainSubstring("the files of the task a could not be merged: no space left"))

		again := newRig(tasks("a"))
		again.store = store.reopen()
		again.deps.Store = again.store
		Expect(again.run().Err).To(MatchError(persist.ErrParallel))
		Expect(again.worked).To(BeEmpty())
	})

	It("do nothing twice and lose nothing, whichever write is the last one of a process", Label("P-05", "H-01"), func() {
		p := accepted(tasks("a", "b", "c<b", "d", "e<a,c"), "b", "e")
		flaky := func(w *workshop) {
			do := w.do
			w.do = func(ctx context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
				if a.Key == "d#1" {
					return persist.Outcome{Grade: persist.Failed, Details: "not at once"}
				}
				return do(ctx, a, files)
			}
		}
		for _, late := range []bool{false, true} {
			for k := 1; ; k++ {
				d, store := newDisk(), newTape()
				store.fail = func(n int, _ string) failure {
					return failure{err: map[bool]error{true: errKilled}[n == k], late: late}
				}
				r, w := inParallel(p, 3, d, store)
				flaky(w)
				first := r.run()
				stored := map[string]bool{}
				for _, record := range store.of(state.KindFinish) {
					stored[fmt.Sprintf("%s#%d", record.Task, record.Attempt)] = true
				}
				again, w := inParallel(p, 3, d, store.reopen())
				flaky(w)
				result := again.run()
				Expect(result.Status).To(Equal(persist.StatusComplete), result.Details)
				for _, key := range w.worked {
					Expect(stored).NotTo(HaveKey(key), "write %d", k)
				}
				Expect(d.main).To(Equal(map[string]string{"a": "a#1", "b": "b#1", "c": "c#1", "d": "d#2", "e": "e#1"}))
				Expect(d.merged).To(Equal([]string{"a", "b", "c", "d", "e"}), "write %d: each is merged once", k)
				Expect(d.forks).To(BeEmpty())
				if first.Status == persist.StatusComplete {
					Expect(k).To(BeNumerically(">", 15))
					break
				}
			}
		}
	})

	It("lead to the files of a run without them, for any plan without conflicts", Label("P-08"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p, seed := anyPlan(t), rapid.IntRange(0, 1<<30).Draw(t, "seed")
			run := func(n int) (*disk, persist.Result) {
				d := newDisk()
				r, w := inParallel(p, n, d, newTape())
				w.do = func(_ context.Context, a persist.Assignment, files map[string]string) persist.Outcome {
					if err := a.Meter.Call(chance(6, seed, a.Key)); err != nil {
						return persist.Outcome{Grade: persist.Split}
					}
					_ = r.clock.Sleep(context.Background(), time.Duration(chance(9, seed, a.Key, "time"))*time.Second)
					switch chance(12, seed, a.Key, "mood") {
					case 0:
						return persist.Outcome{Grade: persist.Failed, Details: "it went wrong"}
					case 1:
						return persist.Outcome{Grade: persist.Blocked, Details: "it cannot be done"}
					}
					files[a.Task.ID] = a.Task.ID
					return done(context.Background(), nil, a)
				}
				result := r.run()
				if w.most > max(n, 1) {
					t.Fatalf("%d attempts at the same time", w.most)
				}
				return d, result
			}
			one, want := run(1)
			many, got := run(rapid.IntRange(2, 4).Draw(t, "parallel"))
			if !maps.Equal(one.main, many.main) || got.Status != want.Status || !maps.Equal(states(got), states(want)) {
				t.Fatalf("%s %v %v\n≠\n%s %v %v", got.Status, states(got), many.main, want.Status, states(want), one.main)
			}
		})
	})
})

// conflicting are forks whose work never fits.
type conflicting struct{ persist.Forks }

// Merge implements persist.Forks.
func (conflicting) Merge(context.Context, string, int) (event.Event, error) {
	return event.Event{}, &persist.Conflict{Paths: []string{"list"}}
}
