package followup

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/event"
)

// State is where a todo stands.
type State string

// The states of a todo.
const (
	Pending    State = "pending"     // to be done, left again, or not spoken of
	InProgress State = "in-progress" // asked for and not answered
	Done       State = "done"        // the answer reports it as done
	Failed     State = "failed"      // the answer denies it, or the call failed
	Blocked    State = "blocked"     // one that it depends on failed
)

// Todo is a step that the agent is made to do.
type Todo struct {
	stop.Step
	State State `json:"state"`
	// Round is the last in which it was to be done, from 1.
	Round int `json:"round"`
}

// todos are all todos of a run, each known by the id of its step.
type todos struct {
	all  []Todo
	tell func(event.Event)
}

// get is the todo with an id, nil if there is none.
func (t *todos) get(id string) *Todo {
	i := slices.IndexFunc(t.all, func(todo Todo) bool { return todo.ID == id })
	if i < 0 {
		return nil
	}
	return &t.all[i]
}

// enter makes steps into the pending todos of a round.
func (t *todos) enter(round int, steps []stop.Step) {
	for _, s := range steps {
		if t.get(s.ID) == nil {
			t.all = append(t.all, Todo{Step: s})
		}
		t.get(s.ID).Round = round
		t.move(s.ID, Pending)
	}
}

// move changes the state of a todo and tells of it.
func (t *todos) move(id string, to State) {
	todo := t.get(id)
	from := todo.State
	if from == to {
		return
	}
	todo.State = to
	attrs := map[string]any{"id": id, "to": string(to)}
	if from != "" {
		attrs["from"] = string(from)
	}
	t.tell(event.Event{Kind: event.State, Name: "todo", N: todo.Round, Detail: stop.Clip(todo.Description, maxStep), Attrs: attrs})
}

// blocked reports whether a step depends on a todo that failed or is blocked
// itself. One of an earlier round is pending again or done by now.
func (t *todos) blocked(s stop.Step) bool {
	return slices.ContainsFunc(s.DependsOn, func(id string) bool {
		todo := t.get(id)
		return todo != nil && (todo.State == Failed || todo.State == Blocked)
	})
}
