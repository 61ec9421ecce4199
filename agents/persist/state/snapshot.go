package state

import (
	"container/heap"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

// snapshot is the JSON form of a State. It omits the plan and has only a letter and a number for each
// task that is over, so that it takes a few kilobytes for thousands of tasks.
type snapshot struct {
	facts
	// Stages has a letter for each task, Attempts a number.
	Stages   string    `json:"stages"`
	Attempts []int     `json:"attempts"`
	Derived  []Derived `json:"derived,omitempty"`
	// More has further fields of some tasks, in the order of their indices.
	More []more `json:"more,omitempty"`
	// Answers has the answers to tasks that are not over.
	Answers []answers `json:"answers,omitempty"`
	// Extra has those of the tasks that have any, over or not.
	Extra []extra `json:"extra,omitempty"`
	Front int     `json:"front"`
	Back  int     `json:"back"`
}

// more has the fields of a task that is not over and has changed.
type more struct {
	Task    int    `json:"task"`
	Left    int    `json:"left"`
	Order   int    `json:"order"`
	Details string `json:"details,omitempty"`
	Carry   string `json:"carry,omitempty"`
}

// answers has the answers to a task.
type answers struct {
	Task    int      `json:"task"`
	Answers []Answer `json:"answers"`
}

// extra has the fields of a task that it keeps when it is over.
type extra struct {
	Task     int          `json:"task"`
	Accepted plan.Verdict `json:"accepted,omitempty"`
	Used     Used         `json:"used,omitzero"`
	Session  *Session     `json:"session,omitempty"`
}

// letters encode the stages in a snapshot.
var letters = map[Stage]byte{
	stageWaiting: 'w', stageDone: 'd', stageFailed: 'f', stageBlocked: 'b', stageEscalated: 'e',
	stageDropped: 'x', stageSkipped: 's',
}

var stageOf = func() map[byte]Stage {
	stages := map[byte]Stage{}
	for stage, letter := range letters {
		stages[letter] = stage
	}
	return stages
}()

// Snapshot returns the state as JSON on one line. It takes a few nanoseconds per task.
func (s *State) Snapshot() ([]byte, error) {
	t := s.tasks
	out := snapshot{facts: s.facts, Attempts: make([]int, len(t.all)), Front: t.front, Back: t.back}
	stages := make([]byte, len(t.all))
	for i, task := range t.all {
		stages[i], out.Attempts[i] = letters[task.Stage], task.Attempts
		if i >= t.planned {
			d := Derived{ID: task.ID, Do: task.Do, By: task.By, From: task.From, Of: task.of, Step: task.step}
			out.Derived = append(out.Derived, d)
		}
	}
	for i, task := range t.all {
		if e := (extra{i, task.Accepted, task.Used, task.Session}); e != (extra{Task: i}) {
			out.Extra = append(out.Extra, e)
		}
	}
	for i := t.first; i != none; i = t.all[i].next {
		task := t.all[i]
		if m := (more{i, task.left, task.order, task.Details, task.Carry}); m != (more{Task: i, Left: 1 + task.MaxRetries(), Order: i}) {
			out.More = append(out.More, m)
		}
		if len(task.Answers) > 0 {
			out.Answers = append(out.Answers, answers{i, task.Answers})
		}
	}
	out.Stages = string(stages)
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("writing a snapshot of the state: %w", err)
	}
	return data, nil
}

// errSnapshot is the error for a snapshot that does not belong to the plan.
var errSnapshot = errors.New("the snapshot does not belong to this plan")

// Restore returns the state in a snapshot of a plan.
func Restore(p plan.Plan, data []byte) (*State, error) {
	s, err := New(p)
	if err != nil {
		return nil, err
	}
	// The limit of the window is that of the current plan.
	in := snapshot{facts: facts{Window: s.Window}}
	if err := json.Unmarshal(data, &in); err != nil {
		return nil, fmt.Errorf("reading the snapshot of the state: %w", err)
	}
	if err := s.restore(in); err != nil {
		return nil, fmt.Errorf("reading the snapshot of the state: %w", err)
	}
	return s, nil
}

func (s *State) restore(in snapshot) error {
	n := len(s.tasks.all) + len(in.Derived)
	if len(in.Stages) != n || len(in.Attempts) != n || in.Running >= n || in.Window == nil || in.Segment < 1 {
		return fmt.Errorf("%w: it has %d tasks instead of %d", errSnapshot, len(in.Stages), n)
	}
	t := s.tasks
	for _, d := range in.Derived {
		if _, known := t.byID[d.ID]; known {
			return fmt.Errorf("%w: the task %q is in it twice", errSnapshot, d.ID)
		}
		t.add(derived(d))
	}
	t.ready.heap = t.ready.heap[:0]
	for i, task := range t.all {
		task.at, task.order = none, i
		task.Attempts = in.Attempts[i]
		stage, ok := stageOf[in.Stages[i]]
		if !ok {
			return fmt.Errorf("%w: it has a stage %q", errSnapshot, in.Stages[i])
		}
		switch {
		case (stage == stageSkipped) != (task.Skip != ""):
			return fmt.Errorf("%w: the task %q is %s", errSnapshot, task.ID, stage)
		case stage != stageWaiting && stage != stageSkipped:
			t.move(i, stage)
		}
	}
	for _, m := range in.More {
		if m.Task < 0 || m.Task >= n {
			return fmt.Errorf("%w: it has a task %d", errSnapshot, m.Task)
		}
		task := t.all[m.Task]
		task.left, task.order, task.Details, task.Carry = m.Left, m.Order, m.Details, m.Carry
	}
	for _, a := range in.Answers {
		if a.Task < 0 || a.Task >= n {
			return fmt.Errorf("%w: it has a task %d", errSnapshot, a.Task)
		}
		t.all[a.Task].Answers = a.Answers
	}
	for _, e := range in.Extra {
		if e.Task < 0 || e.Task >= n {
			return fmt.Errorf("%w: it has a task %d", errSnapshot, e.Task)
		}
		t.all[e.Task].Accepted, t.all[e.Task].Used, t.all[e.Task].Session = e.Accepted, e.Used, e.Session
	}
	if in.Reported != nil && in.Running < 0 {
		return fmt.Errorf("%w: it has an outcome without an attempt", errSnapshot)
	}
	if in.Running >= 0 && t.all[in.Running].Stage != stageWaiting {
		return fmt.Errorf("%w: the task in progress is over", errSnapshot)
	}
	s.facts = in.facts
	t.front, t.back = in.Front, in.Back
	t.refill(s.Running)
	return s.checkParallel()
}

// refill rebuilds the queue and the list of tasks of the round.
func (t *tasks) refill(running int) {
	t.ready.heap = t.ready.heap[:0]
	for i := t.first; i != none; i = t.all[i].next {
		task := t.all[i]
		task.at = none
		if task.order < 0 {
			t.round = append(t.round, i)
		}
		if task.Stage == stageWaiting && task.waits == 0 && i != running {
			heap.Push(&t.ready, i)
		}
	}
}

// Clone returns a copy that does not change with s.
func (s *State) Clone() (*State, error) {
	data, err := s.Snapshot()
	if err != nil {
		return nil, err
	}
	return Restore(s.plan, data)
}
