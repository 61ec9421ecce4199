package state

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Attempt is an attempt that is made in parallel with others. Its intent and its outcome are recorded when
// its outcome is due.
type Attempt struct {
	// Task is the index of the task. Number counts its attempts from 1.
	Task   int `json:"task"`
	Number int `json:"number"`
	// Began is the time of its start, and Outage the number of failures of the outage at that time.
	Began  time.Duration `json:"began"`
	Outage int           `json:"outage,omitempty"`
	// Outcome is nil while it is in progress.
	Outcome *Outcome `json:"outcome,omitempty"`
	// Files are the files that it used.
	Files []string `json:"files,omitempty"`
}

// AttemptAt returns the parallel attempt at a task that has no recorded outcome.
func (s *State) AttemptAt(task int) (Attempt, bool) {
	i := s.attemptIndex(task)
	if i < 0 {
		return Attempt{}, false
	}
	return s.Parallel[i], true
}

// AttemptOf is AttemptAt for the id of a task, which may be unknown.
func (s *State) AttemptOf(id string) (Attempt, bool) {
	i, known := s.tasks.byID[id]
	if !known {
		return Attempt{}, false
	}
	return s.AttemptAt(i)
}

// attemptIndex returns the index of the parallel attempt at a task, or a negative number.
func (s *State) attemptIndex(task int) int {
	return slices.IndexFunc(s.Parallel, func(a Attempt) bool { return a.Task == task })
}

// Startable returns the tasks at which attempts can begin while at most n are in progress. Live reports
// whether an attempt at a task is in progress in this process. Attempts that a killed process began come
// first, then the ready tasks in the order of the queue. During an outage, tasks are attempted one at a time.
// So are the tasks of a round, because the failed checks are repeated after each of them.
func (s *State) Startable(n int, live func(task int) bool) (tasks []int) {
	inProgress := 0
	for _, a := range s.Parallel {
		switch {
		case a.Outcome != nil:
		case live(a.Task):
			inProgress++
		default:
			tasks = append(tasks, a.Task)
		}
	}
	tasks = tasks[:max(0, min(len(tasks), n-inProgress))]
	room := n - inProgress - len(tasks)
	if s.outspent() || room <= 0 || s.Outage > 0 && room < n {
		return tasks
	}
	next := room + len(s.Parallel)
	if s.Outage > 0 || s.Round.Open > 0 {
		next = 1
	}
	for _, t := range s.tasks.peek(next) {
		if i := s.tasks.byID[t.ID]; s.attemptIndex(i) < 0 && room > 0 && !live(i) {
			tasks = append(tasks, i)
			room--
		}
	}
	return tasks
}

// outspent reports whether no attempt can begin, because the resources of the run are used up.
func (s *State) outspent() bool {
	return s.End != nil || s.Outage >= maxOutage || s.Split || s.SegmentCalls >= s.limits.HardCalls
}

// Due returns the task whose parallel attempt is recorded next. An attempt that did not do its task is due at
// once, because nothing of it is merged. The others are due in the order of the queue, in which they are
// merged, or when no further attempt can begin.
func (s *State) Due() (task int, ok bool) {
	ended := make([]int, 0, len(s.Parallel))
	for _, a := range s.Parallel {
		if a.Outcome != nil {
			ended = append(ended, a.Task)
		}
	}
	slices.SortFunc(ended, func(a, b int) int {
		return cmp.Or(cmp.Compare(s.tasks.all[a].order, s.tasks.all[b].order), cmp.Compare(a, b))
	})
	for _, i := range ended {
		if a, _ := s.AttemptAt(i); a.Outcome.Grade != gradeDone {
			return i, true
		}
	}
	if len(ended) > 0 && (s.outspent() || s.tasks.ready.heap[0] == ended[0]) {
		return ended[0], true
	}
	return none, false
}

// start begins a parallel attempt.
func (s *State) start(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || s.tasks.all[i].at == none || s.attemptIndex(i) >= 0 || r.Attempt != s.tasks.all[i].Attempts+1 {
		return fmt.Errorf("%w: no attempt at the task %q can begin", errRecord, r.Task)
	}
	s.Parallel = append(slices.Clip(s.Parallel), Attempt{Task: i, Number: r.Attempt, Began: r.At, Outage: s.Outage})
	return nil
}

// finish stores how a parallel attempt ended, until it is due.
func (s *State) finish(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	at := -1
	if ok {
		at = s.attemptIndex(i)
	}
	if at < 0 || s.Parallel[at].Outcome != nil || r.Outcome == nil {
		return fmt.Errorf("%w: no attempt at the task %q is in progress", errRecord, r.Task)
	}
	if _, known := stageAfter[r.Outcome.Grade]; !known {
		return fmt.Errorf("%w: there is no grade %q", errRecord, r.Outcome.Grade)
	}
	s.Parallel = slices.Clone(s.Parallel)
	s.Parallel[at].Outcome, s.Parallel[at].Files = r.Outcome, r.Files
	s.Spent = r.Outcome.Spent
	s.use(i, r.Outcome.Used)
	return nil
}

// turn reports whether an attempt at a task may be recorded now: the task is the first of the queue, or its
// parallel attempt has ended.
func (s *State) turn(i int) bool {
	if s.tasks.all[i].at == none {
		return false
	}
	a, parallel := s.AttemptAt(i)
	return s.tasks.ready.heap[0] == i && !parallel || parallel && a.Outcome != nil
}

// checkParallel returns an error unless the parallel attempts fit the tasks.
func (s *State) checkParallel() error {
	seen := map[int]bool{}
	for _, a := range s.Parallel {
		if a.Task < 0 || a.Task >= len(s.tasks.all) || seen[a.Task] {
			return fmt.Errorf("%w: it has an attempt at a task %d", errSnapshot, a.Task)
		}
		seen[a.Task] = true
		if s.Running != a.Task && s.tasks.all[a.Task].at == none {
			return fmt.Errorf("%w: it has an attempt at the task %q, which is not ready", errSnapshot, s.tasks.all[a.Task].ID)
		}
		if a.Outcome != nil {
			if _, known := stageAfter[a.Outcome.Grade]; !known {
				return fmt.Errorf("%w: it has a grade %q", errSnapshot, a.Outcome.Grade)
			}
		} else if s.Running == a.Task {
			return fmt.Errorf("%w: it has no outcome of the task %q", errSnapshot, s.tasks.all[a.Task].ID)
		}
	}
	return nil
}
