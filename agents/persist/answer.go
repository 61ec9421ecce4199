package persist

import (
	"errors"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/agents/persist/state"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// ErrRefused is the error for an answer or an amendment that does not fit the stored state. Then nothing
// is written.
var ErrRefused = errors.New("it does not fit the state of the plan")

// Answer records a person's answer to a task, which later attempts at it get. A task that is escalated,
// failed or blocked gets all its attempts again. The error wraps ErrRefused if the run has not begun,
// the task does not exist or is over, or the text is empty or longer than state.MaxAnswer; it wraps a
// *PlanChanged if the store belongs to another plan.
func Answer(p plan.Plan, store journal.Store, task, text string) error {
	f, _, err := fold(p, store)
	if err != nil {
		return err
	}
	if err := answerable(f.state, task, text); err != nil {
		return fmt.Errorf("answer the task %q: %w: %w", task, ErrRefused, err)
	}
	record := state.Record{Kind: state.KindAnswer, At: f.state.At, Task: task, Text: text}
	return appendRecord(store, f.state, record)
}

// answerable returns the reason why a task cannot be answered.
func answerable(s *state.State, id, text string) error {
	t, known := s.ByID(id)
	switch {
	case !s.Begun():
		return errors.New("the plan has not begun")
	case !known:
		var ids []string
		for _, t := range s.Tasks() {
			ids = append(ids, t.ID)
		}
		if near := suggest.Nearest(id, ids); near != "" {
			return fmt.Errorf("there is no such task; did you mean %q?", near)
		}
		return errors.New("there is no such task")
	case t.Over():
		return fmt.Errorf("it is %s", t.Stage)
	case strings.TrimSpace(text) == "":
		return errors.New("the answer is empty")
	case len(text) > state.MaxAnswer:
		return fmt.Errorf("the answer has %d bytes; at most %d are allowed", len(text), state.MaxAnswer)
	}
	return nil
}

// appendRecord applies a record and writes it.
func appendRecord(store journal.Store, s *state.State, record state.Record) error {
	if err := s.Apply(record); err != nil {
		return err
	}
	data, err := record.Encode()
	if err != nil {
		return err
	}
	return store.Append(data)
}

// ask asks a person the question of an escalated task, if there is one. The caller holds the lock, which
// is released meanwhile.
func (r *supervisor) ask(t state.Task, question string) *ending {
	if r.Ask == nil || clock.Err(r.ctx) != nil {
		return nil
	}
	if err := r.flush(); err != nil {
		return r.saveFailure(err)
	}
	r.mu.Unlock()
	answer, ok := r.Ask(r.ctx, t.ID, question)
	r.mu.Lock()
	if !ok || strings.TrimSpace(answer) == "" || clock.Err(r.ctx) != nil {
		return nil // endEarly returns the reason if the run ends
	}
	if err := r.put(state.Record{Kind: state.KindAnswer, Task: t.ID, Text: answer}.Bounded()); err != nil {
		return r.saveFailure(err)
	}
	if err := r.flush(); err != nil { // an answer is not asked for twice
		return r.saveFailure(err)
	}
	r.emit(t.Attempts, "", Answered{Task: t.ID})
	return nil
}
