package state

import (
	"container/heap"
	"fmt"
)

// Answer is the answer of a person to a task.
type Answer struct {
	// Question has the details of the attempt before; empty if there was none.
	Question string `json:"question,omitempty"`
	Text     string `json:"text"`
}

// maxAnswers is the largest number of answers to a task that later attempts get.
const maxAnswers = 5

// answer gives an answer to a task that is not over. A task that waits for a person, failed or is
// blocked gets all its attempts again.
func (s *State) answer(r Record) error {
	i, ok := s.tasks.byID[r.Task]
	if !ok || r.Text == "" {
		return fmt.Errorf("%w: no task %q can be answered", errRecord, r.Task)
	}
	t := s.tasks.all[i]
	if t.Stage.over() {
		return fmt.Errorf("%w: the task %q is %s", errRecord, r.Task, t.Stage)
	}
	t.Answers = append(t.Answers[max(0, len(t.Answers)-maxAnswers+1):len(t.Answers):len(t.Answers)],
		Answer{Question: clip(t.Details, maxDetails), Text: r.Text})
	s.Fresh = false
	if t.Stage == stageWaiting {
		return nil
	}
	s.tasks.move(i, stageWaiting)
	t.left, t.order = 1+t.MaxRetries(), i
	if t.waits == 0 {
		heap.Push(&s.tasks.ready, i)
	}
	return nil
}
