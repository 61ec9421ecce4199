package state

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// Amend returns the state of the run with another plan. The tasks in changed have another text,
// dependencies or inputs than before. Tasks that are done stay done; the others keep their attempts, and
// those that failed, are blocked or wait for a person can be tried again. The error names a task that
// cannot be changed or removed, because it is done or has begun.
func (s *State) Amend(p plan.Plan, changed []string) (*State, error) {
	other := make(map[string]bool, len(changed))
	for _, id := range changed {
		other[id] = true
	}
	if err := s.amendable(p, other); err != nil {
		return nil, err
	}
	next, err := New(p)
	if err != nil {
		return nil, err
	}
	in := s.amendedSnapshot(p, other)
	if err := next.restore(in); err != nil {
		return nil, err
	}
	return next, nil
}

// amendable returns the reason why the plan cannot be replaced.
func (s *State) amendable(p plan.Plan, changed map[string]bool) error {
	kept := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		kept[t.ID] = true
		switch old, known := s.ByID(t.ID); {
		case !known:
		case old.From != "":
			return fmt.Errorf("the id %q is that of a task that was derived from the check %q; choose another one", t.ID, old.From)
		case old.Stage == stageDone && changed[t.ID]:
			return fmt.Errorf("the task %q is done, so it cannot be changed; restore it, and add a task for what is to be done now", t.ID)
		}
	}
	for _, t := range s.tasks.all[:s.tasks.planned] {
		if _, begun := s.AttemptOf(t.ID); !kept[t.ID] && (t.Attempts > 0 || begun) {
			return fmt.Errorf("the task %q has begun (%s), so it cannot be removed; restore it, and add skip: with the reason unless it is done",
				t.ID, t.Stage)
		}
	}
	return nil
}

// amendedSnapshot returns the snapshot of the state with another plan. The work on failed checks begins
// anew, and tasks are done in the order of the plan.
func (s *State) amendedSnapshot(p plan.Plan, changed map[string]bool) snapshot {
	in := snapshot{facts: s.facts, Front: s.tasks.front}
	in.Round, in.Recheck, in.Fresh, in.End = round{}, false, false, nil
	in.Outage, in.Down, in.Progress = 0, "", s.At
	in.Running = none
	in.Signs, in.Parallel = slices.Clone(s.Signs), nil
	over := s.overWith(p)
	for _, t := range p.Tasks {
		old, known := s.ByID(t.ID)
		fresh := !known || changed[t.ID]
		session := old.Session
		if fresh { // it is about another text
			session = nil
		}
		if known {
			ready := !fresh && t.Skip == "" && !slices.ContainsFunc(t.After, func(id string) bool { return !over[id] })
			old.Attempts += in.moveAttempt(s, old.ID, ready)
		}
		in.addAmended(Task{
			Task: t, Stage: old.Stage, Attempts: old.Attempts, Details: old.Details, Carry: old.Carry,
			Accepted: old.Accepted, Used: old.Used, Answers: old.Answers, Session: session, left: old.left,
		}, fresh)
		if known && !fresh && s.Running >= 0 && s.tasks.all[s.Running].ID == t.ID {
			in.Running = len(in.Stages) - 1
		}
	}
	for i, t := range s.tasks.all[s.tasks.planned:] {
		in.Derived = append(in.Derived, Derived{ID: t.ID, Do: t.Do, By: t.By, From: t.From, Of: t.of, Step: t.step})
		in.moveAttempt(s, t.ID, true)
		in.addAmended(*t, false)
		if s.Running == s.tasks.planned+i {
			in.Running = len(in.Stages) - 1
		}
	}
	if in.Running < 0 {
		in.Reported = nil
	}
	in.Back = len(in.Stages)
	return in
}

// overWith returns the ids of the tasks that are over if p replaces the plan.
func (s *State) overWith(p plan.Plan) map[string]bool {
	over := map[string]bool{}
	for _, t := range p.Tasks {
		old, known := s.ByID(t.ID)
		over[t.ID] = t.Skip != "" || known && old.Stage == stageDone
	}
	return over
}

// moveAttempt adds the parallel attempt at a task to the next task, if it is kept. Otherwise the attempt has
// ended without an outcome, and counts as one attempt.
func (in *snapshot) moveAttempt(s *State, id string, kept bool) (ended int) {
	a, begun := s.AttemptOf(id)
	switch {
	case !begun:
		return 0
	case !kept:
		in.Counts.Attempts++
		return 1
	}
	a.Task = len(in.Stages)
	in.Parallel = append(in.Parallel, a)
	return 0
}

// addAmended adds a task. A fresh one and one that could not be done has all its attempts.
func (in *snapshot) addAmended(t Task, fresh bool) {
	i := len(in.Stages)
	left := t.left
	switch {
	case t.Skip != "":
		t.Stage = stageSkipped
	case t.Stage == stageDone || t.Stage == stageDropped:
	case fresh || t.Stage != stageWaiting:
		t.Stage, left = stageWaiting, 1+t.MaxRetries()
	}
	in.Stages += string(letters[t.Stage])
	in.Attempts = append(in.Attempts, t.Attempts)
	if e := (extra{i, t.Accepted, t.Used, t.Session}); e != (extra{Task: i}) {
		in.Extra = append(in.Extra, e)
	}
	if t.Stage.over() {
		return
	}
	in.More = append(in.More, more{i, left, i, t.Details, t.Carry})
	if len(t.Answers) > 0 {
		in.Answers = append(in.Answers, answers{i, t.Answers})
	}
}

// amended replaces the plan and the state by those of a record. The State must be that of the new plan.
func (s *State) amended(r Record) error {
	if r.Amended == nil {
		return fmt.Errorf("%w: it has no plan", errRecord)
	}
	next, err := Restore(s.plan, r.Amended.State)
	if err != nil {
		return err
	}
	next.Plan = r.Plan
	*s = *next
	return nil
}
