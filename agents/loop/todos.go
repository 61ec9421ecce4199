package loop

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

// Todo is a step of a refused completion that the agent is asked to do.
type Todo struct {
	stop.Step
	State TodoState `json:"state"`

	asked int // the refusal after which it was last asked for
}

// TodoState is the state of a Todo.
type TodoState string

// The states of a todo.
const (
	TodoPending    TodoState = "pending"     // not asked for yet, or the answer leaves or omits it
	TodoInProgress TodoState = "in-progress" // asked for
	TodoDone       TodoState = "done"        // the answer reports it as done
	TodoFailed     TodoState = "failed"      // the answer says that it was not done
	TodoBlocked    TodoState = "blocked"     // a todo that it depends on failed
)

// todoList has the todos of a run in the order of their discovery. A todo that is not done is open.
type todoList struct {
	oneByOne bool
	emit     func(event.Event)
	refusals int
	all      []Todo
}

// settle updates the todos with an answer and returns the verdict on it. An answer that may stop is
// refused while todos are open, unless the agent was not asked for one of them yet or the answer asks
// for a decision of the user. An answer that announces only such todos may stop.
func (l *todoList) settle(answer string, v stop.Verdict) stop.Verdict {
	left, forUser := partition(v)
	if v.MayStop {
		left, forUser = nil, nil
	}
	waiting := l.steps(l.waits)
	announced := len(left) > 0
	left = slices.DeleteFunc(left, func(s stop.Step) bool { return contains(waiting, s) })
	if announced && len(left)+len(forUser) == 0 {
		v.MayStop, v.Reason = true, "what is announced is yet to be asked for"
	}
	l.update(answer, left)
	l.block()
	open := l.steps(isOpen)
	if v.MayStop && len(open) > 0 && len(l.steps(l.waits)) == 0 && v.Class != stop.Asks {
		v.MayStop, v.Reason = false, fmt.Sprintf("%d of %d todos are not reported as done", len(open), len(l.all))
	}
	v.Steps = nil
	if !v.MayStop {
		v.Steps = slices.Concat(open, forUser)
	}
	return v
}

// update updates the todos in progress with an answer that leaves some steps, and adds new steps.
func (l *todoList) update(answer string, left []stop.Step) {
	known := l.steps(isOpen)
	asked := l.steps(func(t *Todo) bool { return t.State == TodoInProgress })
	texts := stop.Texts(asked)
	denied, reported := stop.Denied(texts, answer), stop.Done(texts, answer)
	for i, s := range asked {
		to := TodoPending
		switch {
		case contains(left, s):
		case denied[i]:
			to = TodoFailed
		case reported[i]:
			to = TodoDone
		}
		l.move(l.get(s.ID), to)
	}
	for _, s := range left {
		if contains(known, s) {
			continue
		}
		if l.get(s.ID) == nil {
			l.all = append(l.all, Todo{Step: s, asked: l.refusals})
		}
		l.move(l.get(s.ID), TodoPending)
	}
}

// next returns the steps for the next call and marks them as in progress. After a refusal, every open
// todo is asked for again.
func (l *todoList) next(refused bool) []stop.Step {
	if refused {
		l.refusals++
		for i := range l.all {
			if isOpen(&l.all[i]) {
				l.move(&l.all[i], TodoPending)
			}
		}
	}
	var next []stop.Step
	for _, s := range stop.NewPlan(l.steps(l.waits)).Order {
		t := l.get(s.ID)
		t.asked = l.refusals
		l.move(t, TodoInProgress)
		next = append(next, s)
		if l.oneByOne {
			break
		}
	}
	return next
}

// waits reports whether the agent was not asked for a todo since the last refusal.
func (l *todoList) waits(t *Todo) bool { return t.State == TodoPending && t.asked < l.refusals }

// block marks the waiting todos that depend on a failed one.
func (l *todoList) block() {
	for _, s := range stop.NewPlan(l.steps(l.waits)).Order {
		if t := l.get(s.ID); l.blocked(t) {
			l.move(t, TodoBlocked)
		}
	}
}

// blocked reports whether a todo depends on one that failed or is blocked itself.
func (l *todoList) blocked(t *Todo) bool {
	return slices.ContainsFunc(t.DependsOn, func(id string) bool {
		other := l.get(id)
		return other != nil && (other.State == TodoFailed || other.State == TodoBlocked)
	})
}

// move changes the state of a todo and emits the change.
func (l *todoList) move(t *Todo, to TodoState) {
	from := t.State
	if from == to {
		return
	}
	t.State = to
	const maxStep = 300 // bytes
	l.emit(event.New(l.refusals, stop.Clip(t.Description, maxStep), TodoMoved{ID: t.ID, From: from, To: to}))
}

func (l *todoList) get(id string) *Todo {
	i := slices.IndexFunc(l.all, func(t Todo) bool { return t.ID == id })
	if i < 0 {
		return nil
	}
	return &l.all[i]
}

func (l *todoList) steps(match func(*Todo) bool) []stop.Step {
	var steps []stop.Step
	for i := range l.all {
		if match(&l.all[i]) {
			steps = append(steps, l.all[i].Step)
		}
	}
	return steps
}

func isOpen(t *Todo) bool { return t.State != TodoDone }

func contains(steps []stop.Step, s stop.Step) bool { return slices.ContainsFunc(steps, s.Same) }

// partition returns the steps for the agent and the steps on which only the user decides.
func partition(v stop.Verdict) (steps, forUser []stop.Step) {
	for _, s := range v.Steps {
		if s.NeedsUser {
			forUser = append(forUser, s)
		} else {
			steps = append(steps, s)
		}
	}
	return steps, forUser
}
