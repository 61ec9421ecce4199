// Package state is what a supervisor knows of a run, as a fold over the records of
// its journal, and the decision what to do next, as a pure function of it. It does
// no I/O and reads no clock: whoever replays the same records has the same state,
// and decides the same.
package state

import (
	"fmt"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/persist/check"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// State is where a run stands. It is not safe for concurrent use.
type State struct {
	facts
	plan   plan.Plan
	limits plan.Limits // with their defaults
	tasks  *tasks
}

// facts are what a State holds beside its tasks. They are for reading.
type facts struct {
	// Plan is the digest of the plan that was begun; empty before.
	Plan string `json:"plan"`
	// Records counts those that were applied; At is the time of the last one.
	Records int           `json:"records"`
	At      time.Duration `json:"at"`
	// Running is the index of the task that an attempt was begun at and not ended;
	// negative if there is none.
	Running int `json:"running"`

	Counts counts `json:"counts"`
	Spent  Spent  `json:"spent"`

	// Results are what each check found last, in the order of check.All; empty before the
	// first full check.
	Results []check.Result `json:"results,omitempty"`
	// Fresh says that nothing happened since the last full check.
	Fresh bool `json:"fresh,omitempty"`
	// Since counts the tasks that were done since then.
	Since int `json:"since,omitempty"`
	// Recheck says that a task of a round is through, and the failed checks were not
	// made again since.
	Recheck bool `json:"recheck,omitempty"`

	Round round `json:"round"`

	// Segment is the number of the segment, from 1; SegmentCalls its tool calls.
	Segment      int `json:"segment"`
	SegmentCalls int `json:"segment_calls"`
	// Split says that an attempt ended with the segment, so that another one begins.
	Split bool `json:"split,omitempty"`

	Signs []Sign `json:"signs,omitempty"`
	// Answer is the last answer.
	Answer string `json:"answer,omitempty"`
	// Deferrals are what answers announce and nobody has done or dismissed yet, in the
	// order of the answers.
	Deferrals []deferral `json:"deferrals,omitempty"`
	// Inert counts the tasks that were done by workers which cannot change anything.
	Inert int `json:"inert,omitempty"`

	Window *Window `json:"window"`
	// Looked is when the context was looked at last.
	Looked time.Duration `json:"looked"`

	// Outage counts the attempts in a row that failed as what they needed was not there.
	Outage int `json:"outage,omitempty"`
	// Down is what the last of them says of it, with its task.
	Down string `json:"down,omitempty"`
	// Progress is when a task was done last, or tried again after an outage.
	Progress time.Duration `json:"progress"`
	End      *End          `json:"end,omitempty"`
}

// counts are over the whole run.
type counts struct {
	Attempts int `json:"attempts"`
	Retries  int `json:"retries"`
	Checks   int `json:"checks"`
	Rounds   int `json:"rounds"`
	Derived  int `json:"derived"`
	// Stagnations are attempts that were ended as nothing happened.
	Stagnations int `json:"stagnations"`
	Calls       int `json:"calls"` // tool calls
	Evicted     int `json:"evicted"`
	Restored    int `json:"restored"`
	Split       int `json:"split"` // attempts that went on in another segment
}

// round is the work on failed checks.
type round struct {
	// InRow counts the rounds since a task of the plan was done outside of one.
	InRow int `json:"in_row,omitempty"`
	// Open is how many of its tasks are not through.
	Open int `json:"open,omitempty"`
	// Failures are those that the last round was made for; see failures.
	Failures string `json:"failures,omitempty"`
	// Moved says that a task of the plan was done outside of a round since then.
	Moved bool `json:"moved,omitempty"`
}

// New returns the state before anything was done. It refuses a plan whose tasks
// have the same id or depend on one that is not there.
func New(p plan.Plan) (*State, error) {
	p.Limits = p.Limits.WithDefaults()
	known := make(map[string]bool, len(p.Tasks))
	for _, t := range p.Tasks {
		if known[t.ID] {
			return nil, fmt.Errorf("the plan has the task %q twice; give each task an id of its own", t.ID)
		}
		known[t.ID] = true
	}
	for _, t := range p.Tasks {
		for _, id := range t.After {
			if !known[id] {
				return nil, fmt.Errorf("the task %q comes after %q, and the plan has no such task", t.ID, id)
			}
		}
	}
	return &State{
		facts: facts{Running: none, Segment: 1, Window: newWindow(p.Limits.ContextFiles)},
		plan:  p, limits: p.Limits, tasks: newTasks(p.Tasks),
	}, nil
}

// Limits returns the plan's, with their defaults.
func (s *State) Limits() plan.Limits { return s.limits }

// Task returns the task with an index, which is that of the plan, or after these of
// the derived tasks in their order.
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

// CountDone returns how many tasks are done.
func (s *State) CountDone() int { return s.tasks.stages[stageDone] }

// Len returns how many tasks there are.
func (s *State) Len() int { return len(s.tasks.all) }

// Begun reports whether there is anything in the journal.
func (s *State) Begun() bool { return s.Plan != "" }

// Essential returns the files that the task and those that come next name, each once.
func (s *State) Essential(i int) []string {
	const ahead = 5
	var files []string
	seen := map[string]bool{}
	add := func(t *Task) {
		for _, f := range t.Files {
			if !seen[f] {
				seen[f] = true
				files = append(files, f)
			}
		}
	}
	if i >= 0 {
		add(s.tasks.all[i])
	}
	for _, t := range s.tasks.peek(ahead) {
		add(t)
	}
	return files
}

// some returns the ids of the first tasks of given stages, with their details, as the
// items of a check.
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
		return left > 0 && len(items) < check.MaxItems
	})
	return items
}

func describe(t *Task) string {
	text := t.ID
	switch t.Stage {
	case stageWaiting:
	default:
		text += " (" + string(t.Stage) + ")"
	}
	return text
}
