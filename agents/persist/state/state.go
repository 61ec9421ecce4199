// Package state folds the records of a supervisor's journal into the state of its run, and derives the
// next move from that state. It does no I/O and reads no clock, so the same records always lead to the
// same state and the same move.
package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// State is the state of a run. It is not safe for concurrent use.
type State struct {
	facts
	plan   plan.Plan
	limits plan.Limits // with their defaults
	tasks  *tasks
}

// facts are the exported fields of a State. They are read-only.
type facts struct {
	// Plan is the digest of the plan; empty before the run has begun.
	Plan string `json:"plan"`
	// Records is the number of applied records, At the time of the last one.
	Records int           `json:"records"`
	At      time.Duration `json:"at"`
	// Running is the index of the task whose attempt is in progress, or negative.
	Running int `json:"running"`
	// Reported is the outcome of this attempt if its work is accepted; nil unless the attempt has
	// ended and the task's acceptance commands are next.
	Reported *Outcome `json:"reported,omitempty"`
	// Parallel are the parallel attempts without a recorded outcome, in the order of their begins.
	Parallel []Attempt `json:"parallel,omitempty"`

	Counts counts `json:"counts"`
	Spent  Spent  `json:"spent"`
	// Used is the usage of all attempts.
	Used Used `json:"used,omitzero"`

	// Results are the last results of all checks, in the order of plan.Checks; empty before the
	// first full check.
	Results []plan.CheckResult `json:"results,omitempty"`
	// Fresh is true if nothing has happened since the last full check.
	Fresh bool `json:"fresh,omitempty"`
	// Since counts the tasks done since the last full check.
	Since int `json:"since,omitempty"`
	// Recheck is true if a task of a round has ended and the failed checks must be repeated.
	Recheck bool `json:"recheck,omitempty"`

	Round round `json:"round"`

	// Segment is the number of the segment, from 1, and SegmentCalls the number of its tool calls.
	Segment      int `json:"segment"`
	SegmentCalls int `json:"segment_calls"`
	// Split is true if an attempt ended with the segment, so that another segment begins.
	Split bool `json:"split,omitempty"`

	Signs []Sign `json:"signs,omitempty"`
	// Answer is the last answer.
	Answer string `json:"answer,omitempty"`
	// Deferrals are the announced steps that are still open, in the order of the answers.
	Deferrals []deferral `json:"deferrals,omitempty"`
	// Inert counts the tasks done by workers that cannot change anything.
	Inert int `json:"inert,omitempty"`

	Window *Window `json:"window"`
	// Looked is the time of the last eviction of unused files.
	Looked time.Duration `json:"looked"`

	// Outage counts the attempts in a row that failed because a resource was unavailable.
	Outage int `json:"outage,omitempty"`
	// Down describes the last of these failures, with its task.
	Down string `json:"down,omitempty"`
	// Progress is the time when a task was last done, or tried again after an outage.
	Progress time.Duration `json:"progress"`
	End      *End          `json:"end,omitempty"`
}

// counts are the totals of the run.
type counts struct {
	Attempts int `json:"attempts"`
	Retries  int `json:"retries"`
	Checks   int `json:"checks"`
	Rounds   int `json:"rounds"`
	Derived  int `json:"derived"`
	// Stagnations are attempts that were ended for lack of activity.
	Stagnations int `json:"stagnations"`
	Calls       int `json:"calls"` // tool calls
	Evicted     int `json:"evicted"`
	Restored    int `json:"restored"`
}

// round is the state of the work on failed checks.
type round struct {
	// InRow counts the rounds since a task of the plan was done outside of one.
	InRow int `json:"in_row,omitempty"`
	// Open is the number of its tasks that have not ended.
	Open int `json:"open,omitempty"`
	// Failures identifies the failures that began the last round.
	Failures string `json:"failures,omitempty"`
	// Moved is true if a task of the plan was done outside of a round since then.
	Moved bool `json:"moved,omitempty"`
}

// New returns the initial state of a plan. It returns an error if two tasks have the same id or
// a task depends on an unknown one.
func New(p plan.Plan) (*State, error) {
	p.Limits = p.Limits.WithDefaults()
	known := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		if known[t.ID] {
			return nil, fmt.Errorf("the plan has the task %q twice; give each task its own id", t.ID)
		}
		known[t.ID] = true
	}
	for _, t := range p.Tasks {
		for _, id := range t.After {
			if !known[id] {
				return nil, fmt.Errorf("the task %q comes after %q, which is not in the plan", t.ID, id)
			}
		}
	}
	return &State{
		facts: facts{Running: none, Segment: 1, Window: newWindow(p.Limits.ContextFiles)},
		plan:  p, limits: p.Limits, tasks: newTasks(p.Tasks),
	}, nil
}

// Task returns the task with an index: first the tasks of the plan, then the derived ones.
func (s *State) Task(i int) Task { return *s.tasks.all[i] }

// ByID returns the task with an id.
func (s *State) ByID(id string) (Task, bool) {
	i, ok := s.tasks.byID[id]
	if !ok {
		return Task{}, false
	}
	return *s.tasks.all[i], true
}

// Tasks returns a copy of all tasks.
func (s *State) Tasks() []Task {
	all := make([]Task, len(s.tasks.all))
	for i, t := range s.tasks.all {
		all[i] = *t
	}
	return all
}

// CountDone returns the number of tasks that are done.
func (s *State) CountDone() int { return s.tasks.stages[stageDone] }

// Len returns the number of tasks.
func (s *State) Len() int { return len(s.tasks.all) }

// Begun reports whether the journal has a record.
func (s *State) Begun() bool { return s.Plan != "" }

// Essential returns the files of a task and of the next tasks.
func (s *State) Essential(i int) []string {
	const ahead = 5
	var files []string
	if i >= 0 {
		files = append(files, s.tasks.all[i].Files...)
	}
	for _, t := range s.tasks.peek(ahead) {
		files = append(files, t.Files...)
	}
	return files
}

// some returns the first tasks of the given stages as items of a check.
func (s *State) some(stages ...Stage) []string {
	var items []string
	left := 0
	for _, stage := range stages {
		left += s.tasks.stages[stage]
	}
	s.tasks.open(func(t *Task) bool {
		if slices.Contains(stages, t.Stage) {
			items = append(items, describe(t))
			left--
		}
		return left > 0 && len(items) < plan.MaxFindings
	})
	return items
}

func describe(t *Task) string {
	if t.Stage == stageWaiting {
		return t.ID
	}
	return t.ID + " (" + string(t.Stage) + ")"
}
