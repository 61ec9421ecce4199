package state_test

import (
	"fmt"
	"testing"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
)

func TestState(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "agents/persist/state")
}

// supervisor carries a plan out by what a state says, without any I/O: what a worker
// and the probes would say is asked of functions.
type supervisor struct {
	plan    plan.Plan
	state   *state.State
	records []state.Record
	now     time.Duration
	// work is how an attempt ends, probe what a check finds that has a probe.
	work  func(t state.Task) state.Outcome
	probe func(name plan.Check) (plan.CheckResult, bool)
	// after is called after each record.
	after func()
}

func newSupervisor(p plan.Plan) (*supervisor, error) {
	s, err := state.New(p)
	return &supervisor{
		plan: p, state: s,
		work:  func(state.Task) state.Outcome { return state.Outcome{Grade: "done", Answer: "Done."} },
		probe: func(plan.Check) (plan.CheckResult, bool) { return plan.CheckResult{}, false },
		after: func() {},
	}, err
}

func (s *supervisor) put(r state.Record) error {
	r.At = s.now
	data, err := r.Encode()
	if err != nil {
		return err
	}
	if r, err = state.Decode(data); err != nil {
		return err
	}
	if err := s.state.Apply(r); err != nil {
		return err
	}
	s.records = append(s.records, r)
	s.after()
	return nil
}

// run goes on to an end, in at most so many moves.
func (s *supervisor) run(most int) (state.End, error) {
	if !s.state.Begun() {
		if err := s.put(state.Record{Kind: state.KindBegin, Plan: "digest"}); err != nil {
			return state.End{}, err
		}
	}
	for range most {
		move := s.state.Next()
		if move.Kind == state.KindEnd {
			return move.End, nil
		}
		if err := s.move(move); err != nil {
			return state.End{}, fmt.Errorf("%s: %w", move.Kind, err)
		}
	}
	return state.End{}, fmt.Errorf("no end after %d moves", most)
}

func (s *supervisor) move(m state.Move) error {
	switch m.Kind {
	case state.KindIntent:
		if !m.Again {
			t := s.state.Task(m.Task)
			if err := s.put(state.Record{Kind: state.KindIntent, Task: t.ID, Attempt: t.Attempts + 1, Context: use(t.Files)}); err != nil {
				return err
			}
		}
		t := s.state.Task(m.Task)
		out := s.work(t)
		s.now += time.Minute
		return s.put(state.Record{Kind: state.KindOutcome, Task: t.ID, Attempt: t.Attempts, Outcome: &out})
	case state.KindCheck:
		return s.put(state.Record{Kind: state.KindCheck, N: s.state.Counts.Checks + 1, Why: m.Why, Results: s.check(m.Why)})
	case state.KindDerive:
		return s.put(state.Record{Kind: state.KindDerive, N: s.state.Counts.Rounds + 1, Tasks: m.Tasks})
	default:
		return s.put(state.Record{Kind: state.KindSegment, N: s.state.Segment + 1})
	}
}

func use(files []string) *state.Change {
	if len(files) == 0 {
		return nil
	}
	return &state.Change{Used: files}
}

func (s *supervisor) check(why state.Why) []plan.CheckResult {
	failed := map[plan.Check]bool{}
	for _, c := range s.state.Results {
		failed[c.Name] = c.Verdict == plan.Fail
	}
	var results []plan.CheckResult
	for _, info := range plan.Checks() {
		if why.FailedOnly() && !failed[info.Name] {
			continue
		}
		result, ok := s.probe(info.Name)
		if !ok {
			if result, ok = s.state.Own(info.Name, false, true); !ok {
				result = plan.CheckResult{Verdict: plan.None}
			}
		}
		result.Name = info.Name
		results = append(results, result)
	}
	return results
}
