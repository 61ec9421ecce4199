package state

import (
	"container/heap"
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// errRecord is the error for a record that contradicts the records before it: the journal was changed,
// or belongs to another plan.
var errRecord = errors.New("the record does not fit the journal before it")

// Apply applies the next record. After an error the state is unchanged.
func (s *State) Apply(r Record) error {
	if err := s.apply(r); err != nil {
		return fmt.Errorf("taking a %s record: %w", r.Kind, err)
	}
	s.Records++
	s.At = max(s.At, r.At)
	s.context(r)
	return nil
}

func (s *State) apply(r Record) error {
	if r.Kind == KindAmend {
		return s.amended(r)
	}
	if s.Begun() == (r.Kind == KindBegin) {
		return fmt.Errorf("%w: a journal begins once", errRecord)
	}
	switch r.Kind {
	case KindBegin:
		s.Plan = r.Plan
	case KindIntent:
		return s.intent(r)
	case KindSession:
		return s.session(r)
	case KindStart:
		return s.start(r)
	case KindFinish:
		return s.finish(r)
	case KindReport:
		return s.report(r)
	case KindOutcome:
		return s.outcome(r)
	case KindAnswer:
		return s.answer(r)
	case KindCheck:
		s.check(r)
	case KindDerive:
		return s.derive(r)
	case KindSigns:
		s.Signs = r.Signs
	case KindContext:
	case KindSegment:
		s.Segment, s.SegmentCalls, s.Split = r.N, 0, false
	case KindEnd:
		if r.End == nil {
			return fmt.Errorf("%w: it says no end", errRecord)
		}
		s.End, s.Spent = r.End, r.End.Spent
		s.use(s.Running, r.End.Used)
		for _, cut := range r.Cut {
			if i, ok := s.tasks.byID[cut.Task]; ok {
				s.use(i, &cut.Used)
			}
		}
	case KindReopen:
		s.reopen()
	default:
		return fmt.Errorf("%w: no record is of the kind %q", errRecord, r.Kind)
	}
	return nil
}

func (s *State) intent(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || s.Running >= 0 || !s.turn(i) {
		return fmt.Errorf("%w: it is not the turn of the task %q", errRecord, r.Task)
	}
	heap.Remove(&s.tasks.ready, s.tasks.all[i].at)
	s.Running, s.Fresh = i, false
	if s.Outage > 0 { // the wait does not count as activity without progress
		s.Progress = r.At
	}
	s.tasks.all[i].Attempts++
	s.Counts.Attempts++
	return nil
}

// report stores the outcome that the attempt in progress has if its work is accepted.
func (s *State) report(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || s.Running != i || r.Outcome == nil || r.Outcome.Grade != gradeDone {
		return fmt.Errorf("%w: no attempt at the task %q reports that it is done", errRecord, r.Task)
	}
	s.Reported = r.Outcome
	return nil
}

func (s *State) outcome(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || s.Running != i || r.Outcome == nil {
		return fmt.Errorf("%w: no attempt at the task %q is under way", errRecord, r.Task)
	}
	o, t := r.Outcome, s.tasks.all[i]
	to, ok := stageAfter[o.Grade]
	if !ok {
		return fmt.Errorf("%w: there is no grade %q", errRecord, o.Grade)
	}
	later := to == stageFailed && o.Later
	if to == stageFailed && (later || t.left > 1) {
		to = stageWaiting
	}
	parallel := s.attemptIndex(i)
	if later {
		s.Outage++
		if parallel >= 0 { // failures at the same time count once
			s.Outage = max(s.Outage-1, s.Parallel[parallel].Outage+1)
		}
		s.Down = fmt.Sprintf("task %q: %s", t.ID, clip(o.Details, maxItem))
	} else {
		s.Outage, s.Down = 0, ""
	}
	s.Running, s.Reported, s.Fresh, s.Spent = none, nil, false, o.Spent
	if parallel >= 0 { // its usage is counted already
		s.Parallel = slices.Delete(slices.Clone(s.Parallel), parallel, parallel+1)
	} else {
		s.use(i, o.Used)
	}
	s.SegmentCalls += o.Calls
	s.Counts.Calls += o.Calls
	if o.Answer != "" {
		s.Answer = o.Answer
		if to == stageDone {
			s.judged(t, o)
		}
	}
	if to == stageDone && o.Inert {
		s.Inert++
	}
	if o.Cause == CauseStagnation {
		s.Counts.Stagnations++
	}
	t.Details, t.Carry, t.Accepted, t.Session = o.Details, o.Carry, lastVerdict(o.Accept), sessionAfter(o)
	s.settle(i, to, o)
	if to == stageDone {
		s.Since++
	}
	if to == stageDone || o.Cause == CauseNoProgress {
		s.Progress = r.At
	}
	return nil
}

// use adds the usage of an attempt at a task.
func (s *State) use(task int, used *Used) {
	s.Used = s.Used.Plus(used)
	if task >= 0 {
		t := s.tasks.all[task]
		t.Used = t.Used.Plus(used)
	}
}

// stageAfter is the stage of a task after an attempt with each grade. A failed task may be retried.
var stageAfter = map[string]Stage{
	gradeDone: stageDone, gradeFailed: stageFailed, gradeBlocked: stageBlocked, gradeEscalated: stageEscalated,
	gradeSplit: stageWaiting, GradePaused: stageWaiting,
}

// settle moves a task to its stage after an attempt.
func (s *State) settle(i int, to Stage, o *Outcome) {
	t := s.tasks.all[i]
	inRound := t.order < 0
	switch o.Grade {
	case gradeSplit:
		s.Split = true
	case gradeFailed:
		if !o.Later {
			t.left--
		}
		if to == stageWaiting {
			s.Counts.Retries++
		}
	}
	if to == stageWaiting {
		s.tasks.requeue(i, o.Cause != "")
		return
	}
	s.tasks.move(i, to)
	switch {
	case inRound:
		s.Round.Open--
		s.Recheck = true
	case to == stageDone:
		s.Round.InRow, s.Round.Moved = 0, true
	}
}

// check applies the results of checks. Tasks derived from a check that passes now are dropped, except
// for announced steps, because each step needs its own answer.
func (s *State) check(r Record) {
	s.Counts.Checks++
	s.Recheck = false
	if r.Why == whyAfterTask {
		for _, found := range r.Results {
			if i := slices.IndexFunc(s.Results, func(c plan.CheckResult) bool { return c.Name == found.Name }); i >= 0 {
				s.Results[i] = found
			}
		}
	} else {
		s.Results, s.Fresh, s.Since = slices.Clone(r.Results), true, 0
	}
	if s.Round.Open == 0 {
		return
	}
	passed := map[plan.Check]bool{}
	for _, found := range r.Results {
		passed[found.Name] = found.Verdict == plan.Pass && found.Name != plan.CheckStopGuard
	}
	dropped := s.tasks.drop(func(t *Task) bool { return passed[t.From] && s.attemptIndex(s.tasks.byID[t.ID]) < 0 })
	s.Round.Open -= dropped
	if dropped > 0 { // the same check reported them as open
		s.Fresh = false
	}
}

// derive begins a round.
func (s *State) derive(r Record) error {
	twice := map[string]bool{}
	for _, d := range r.Tasks {
		i, known := s.tasks.byID[d.ID]
		again := d.Do == ""
		if twice[d.ID] || again != known || again && s.tasks.all[i].Stage != stageFailed {
			return fmt.Errorf("%w: the task %q cannot be part of a round", errRecord, d.ID)
		}
		twice[d.ID] = true
	}
	s.Round = round{InRow: s.Round.InRow + 1, Open: len(r.Tasks), Failures: s.failures()}
	s.Counts.Rounds++
	s.tasks.round = s.tasks.round[:0]
	for _, d := range r.Tasks {
		i, known := s.tasks.byID[d.ID]
		if known {
			s.tasks.move(i, stageWaiting)
			s.tasks.all[i].left = 1
		} else {
			i = s.tasks.add(derived(d))
			s.inherit(s.tasks.all[i])
			s.Counts.Derived++
		}
		s.tasks.addToRound(i)
	}
	return nil
}

func (s *State) context(r Record) {
	if r.Context == nil {
		return
	}
	s.Window.Apply(*r.Context)
	s.Counts.Evicted += len(r.Context.Evicted)
	s.Counts.Restored += len(r.Context.Restored)
	if r.Context.Look {
		s.Looked = r.At
	}
}

// reopen continues after an end. Failed tasks get all their retries again, and the run all its rounds.
func (s *State) reopen() {
	s.End, s.Fresh, s.Recheck, s.Outage, s.Down = nil, false, false, 0, ""
	s.Round.InRow, s.Round.Moved, s.Round.Failures = 0, false, ""
	s.Progress = s.At
	var again []int
	for i := s.tasks.first; i != none; i = s.tasks.all[i].next {
		switch s.tasks.all[i].Stage {
		case stageFailed, stageBlocked, stageEscalated:
			again = append(again, i)
		default:
		}
	}
	for _, i := range again {
		t := s.tasks.all[i]
		s.tasks.move(i, stageWaiting)
		t.left = 1 + t.MaxRetries()
		t.order = i
		if t.waits == 0 {
			heap.Push(&s.tasks.ready, i)
		}
	}
}
