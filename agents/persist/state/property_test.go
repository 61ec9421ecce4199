package state_test

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

// expectSame fails t unless two states have the same snapshot.
func expectSame(t *rapid.T, a, b *state.State) {
	t.Helper()
	one, errA := a.Snapshot()
	other, errB := b.Snapshot()
	if errA != nil || errB != nil || !bytes.Equal(one, other) {
		t.Fatalf("%s\n≠\n%s\n%v, %v", one, other, errA, errB)
	}
}

// anyPlan returns a plan of some tasks, each after some before it in the plan or, as the
// order is shuffled, behind it.
func anyPlan(t *rapid.T) plan.Plan {
	n := rapid.IntRange(1, 12).Draw(t, "tasks")
	p := plan.Plan{Name: "any"}
	for i := range n {
		task := plan.Task{ID: fmt.Sprintf("t%d", i), Do: "Do it."}
		for j := range i {
			if rapid.IntRange(0, 4).Draw(t, "after") == 0 {
				task.After = append(task.After, fmt.Sprintf("t%d", j))
			}
		}
		if rapid.Bool().Draw(t, "file") {
			task.Files = []string{rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "name")}
		}
		retries := rapid.IntRange(0, 2).Draw(t, "retries")
		task.Retries = &retries
		p.Tasks = append(p.Tasks, task)
	}
	p.Tasks = rapid.Permutation(p.Tasks).Draw(t, "order")
	p.Limits.CheckEvery = rapid.IntRange(1, 6).Draw(t, "check every")
	p.Limits.Rounds = rapid.IntRange(1, 4).Draw(t, "rounds")
	p.Limits.HardCalls, p.Limits.SoftCalls = 10, 8
	p.Limits.Segments = rapid.IntRange(1, 30).Draw(t, "segments")
	p.Limits.ContextFiles = 2
	return p
}

// anySupervisor has workers and probes of any mood.
func anySupervisor(t *rapid.T, p plan.Plan) *supervisor {
	s, err := newSupervisor(p)
	if err != nil {
		t.Fatal(err)
	}
	good := rapid.IntRange(1, 10).Draw(t, "how good the worker is")
	s.work = func(state.Task) state.Outcome {
		o := state.Outcome{Grade: "done", Answer: "Done.", Calls: rapid.IntRange(0, 6).Draw(t, "calls")}
		if rapid.IntRange(0, good).Draw(t, "bad") == 0 {
			o.Grade = rapid.SampledFrom([]string{
				"failed", "failed", "failed", "split", "blocked", "escalated",
			}).Draw(t, "grade")
			o.Details = "it went wrong"
		}
		if o.Grade == "failed" && rapid.Bool().Draw(t, "hangs") {
			o.Cause = rapid.SampledFrom([]string{state.CauseStagnation, state.CauseNoProgress}).Draw(t, "cause")
		}
		o.Later = o.Cause == "" && rapid.IntRange(0, good).Draw(t, "later") > 0
		if o.Grade == "done" && rapid.IntRange(0, 5).Draw(t, "announces") == 0 {
			o.Refused = "it announces work"
			o.Steps = rapid.SliceOfN(rapid.SampledFrom([]string{"test it", "ship it"}), 0, 2).Draw(t, "steps")
		}
		return o
	}
	s.probe = func(name plan.Check) (plan.CheckResult, bool) {
		if !slices.Contains([]plan.Check{plan.CheckTests, plan.CheckTodos, plan.CheckFeatures}, name) {
			return plan.CheckResult{}, false
		}
		verdict := rapid.SampledFrom([]plan.Verdict{plan.Pass, plan.Pass, plan.Pass, plan.Fail, plan.Unknown}).Draw(t, "verdict")
		items := []string(nil)
		if verdict == plan.Fail {
			items = rapid.SliceOfN(rapid.SampledFrom([]string{"x", "y"}), 0, 2).Draw(t, "items")
		}
		return plan.CheckResult{Verdict: verdict, Items: items}, true
	}
	return s
}

// most is more moves than any run of anyPlan makes: each task of the plan has its
// attempts and one more in each round; a round comes after progress or in a row of at most
// four; each splits at most once for each segment.
const most = 20_000

var _ = Describe("Any run", Label("P-08"), func() {
	It("ends, respects dependencies and retries, and reports how it ended", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := anyPlan(t)
			s := anySupervisor(t, p)
			end, err := s.run(most)
			if err != nil {
				t.Fatal(err)
			}
			consistent(t, s, end)
		})
	})

	It("goes on after an end that was not complete, and ends again", func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			s := anySupervisor(t, anyPlan(t))
			for range 4 {
				end, err := s.run(most)
				if err != nil {
					t.Fatal(err)
				}
				consistent(t, s, end)
				if err := s.put(state.Record{Kind: state.KindEnd, End: &end}); err != nil {
					t.Fatal(err)
				}
				if again := s.state.Next(); again.Kind != state.KindEnd || again.End != end {
					t.Fatalf("after the end comes %v", again)
				}
				if end.Status == "complete" {
					return
				}
				if err := s.put(state.Record{Kind: state.KindReopen}); err != nil {
					t.Fatal(err)
				}
			}
		})
	})

	It("is the same after a snapshot, and after any part of its records", Label("P-05"), func() {
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			p := anyPlan(t)
			s := anySupervisor(t, p)
			s.after = func() {
				if rapid.IntRange(0, 3).Draw(t, "snapshot") > 0 {
					return
				}
				data, err := s.state.Snapshot()
				if err != nil {
					t.Fatal(err)
				}
				restored, err := state.Restore(p, data)
				if err != nil {
					t.Fatal(err)
				}
				s.state = restored
			}
			if _, err := s.run(most); err != nil {
				t.Fatal(err)
			}
			replayed, err := state.New(p)
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range s.records {
				if err := replayed.Apply(r); err != nil {
					t.Fatal(err)
				}
			}
			expectSame(t, replayed, s.state)
			if a, b := fmt.Sprintf("%+v", replayed.Next()), fmt.Sprintf("%+v", s.state.Next()); a != b {
				t.Fatalf("%s\n≠\n%s", a, b)
			}
		})
	})
})

// consistent checks what holds for every run that ended.
func consistent(t *rapid.T, s *supervisor, end state.End) {
	done, failed, attempts, reopened := map[string]int{}, map[string]int{}, map[string]int{}, 0
	for _, r := range s.records {
		switch r.Kind {
		case state.KindIntent:
			task, _ := s.state.ByID(r.Task)
			for _, before := range task.After {
				if done[before] == 0 {
					t.Fatalf("%s began before %s was done", r.Task, before)
				}
			}
			if attempts[r.Task]++; attempts[r.Task] != r.Attempt || done[r.Task] > 0 {
				t.Fatalf("attempt %d at %s is the %d. one (done: %d)", r.Attempt, r.Task, attempts[r.Task], done[r.Task])
			}
		case state.KindReopen:
			reopened++
		case state.KindOutcome:
			switch r.Outcome.Grade {
			case "done":
				done[r.Task]++
			case "failed":
				failed[r.Task] += boolInt(!r.Outcome.Later)
			}
		default:
		}
	}
	for _, task := range s.state.Tasks() {
		if want := boolInt(task.Stage == "done"); done[task.ID] != want {
			t.Fatalf("%s is %s, with %d done outcomes", task.ID, task.Stage, done[task.ID])
		}
		if limit := (1+task.MaxRetries())*(1+reopened) + s.state.Counts.Rounds; failed[task.ID] > limit {
			t.Fatalf("%s failed %d times of at most %d", task.ID, failed[task.ID], limit)
		}
	}
	agrees(t, s, end)
}

// agrees checks the end against the tasks and the last check.
func agrees(t *rapid.T, s *supervisor, end state.End) {
	verdicts := map[plan.Verdict]int{}
	for _, c := range s.state.Results {
		verdicts[c.Verdict]++
	}
	stages := map[string]int{}
	for _, task := range s.state.Tasks() {
		stages[string(task.Stage)]++
	}
	delete(stages, "done")
	delete(stages, "dropped")
	signs := s.state.Look(s.now)
	var want string
	switch {
	case end.Guard == "outage":
		want = "blocked"
	case stages["escalated"] > 0:
		want = "escalated"
	case stages["failed"]+stages["blocked"] > 0:
		want = "blocked"
	case end.Guard == "segments":
		want = "capped"
	case stages["waiting"] > 0:
		want = "blocked"
	case verdicts[plan.Fail] > 0:
		want = "capped"
	case verdicts[plan.Unknown] > 0:
		want = "escalated"
	default:
		want = "complete"
	}
	if end.Status != want || !s.state.Fresh || len(s.state.Results) != len(plan.Checks()) {
		t.Fatalf("the run ended %s (%s) after fresh=%v %v and %v", end.Status, end.Details, s.state.Fresh, verdicts, maps.Collect(maps.All(stages)))
	}
	if complete := end.Status == "complete"; complete && len(signs) > 0 {
		t.Fatalf("the run is complete, and there are the signs %v", signs)
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}
