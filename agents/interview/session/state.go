package session

import (
	"errors"
	"fmt"
	"slices"
)

// checkState returns an error for a state that no interview can reach. From all other states
// every transition succeeds.
func checkState(s Session) error {
	if !slices.Contains(Steps(), s.Step) {
		return fmt.Errorf("unknown step %q", s.Step)
	}
	if q := s.Queue; q != nil && (q.Step != s.Step || !asks(s.Step)) {
		return fmt.Errorf("step %s has the queue of %s", s.Step, q.Step)
	}
	var ok bool
	switch s.Phase {
	case Asking:
		if asks(s.Step) {
			return checkQueue(s)
		}
		ok = s.Step == Identity || s.Step == Tone
	case Reflecting:
		ok = mirrors(s.Step)
	case Waiting:
		ok = s.Step == Preamble || s.Step == Block10
	case Owing:
		return checkOwed(s)
	case Finished:
		ok = s.Step == Matching
	default:
		return fmt.Errorf("unknown phase %q", s.Phase)
	}
	if !ok {
		return fmt.Errorf("step %s cannot be %s", s.Step, s.Phase)
	}
	return nil
}

// asks reports whether a step has questions, and mirrors whether a mirror follows them.
func asks(s Step) bool    { return s.Block() > 0 && s.Block() < 10 }
func mirrors(s Step) bool { return slices.Contains(s.Calls(), PurposeMirror) }

// checkQueue checks the queue of a shown question.
func checkQueue(s Session) error {
	q := s.Queue
	switch {
	case q == nil:
		return fmt.Errorf("step %s is %s without a queue", s.Step, s.Phase)
	case q.Cursor < 0 || q.Cursor >= len(q.Questions):
		return fmt.Errorf("step %s shows question %d of %d", s.Step, q.Cursor, len(q.Questions))
	case q.Complete:
		return fmt.Errorf("step %s shows question %d of a complete queue", s.Step, q.Cursor)
	case s.Step == Block2A && (len(q.Questions) != q.Cursor+1 || len(q.Questions) > adaptiveQuestions):
		return fmt.Errorf("step %s shows question %d of %d; its questions come one at a time, at most %d",
			s.Step, q.Cursor, len(q.Questions), adaptiveQuestions)
	}
	return nil
}

// checkOwed checks the owed message against the step and its queue.
func checkOwed(s Session) error {
	if s.Owed == nil {
		return errors.New("a message is owed but not described")
	}
	queued := 0
	if s.Queue != nil {
		queued = len(s.Queue.Questions)
	}
	var ok bool
	switch s.Owed.Purpose {
	case PurposeMirror:
		ok = mirrors(s.Step) && queued > 0 && s.Queue.Complete
	case PurposeAdaptive:
		ok = s.Step == Block2A && s.Owed.Index == queued && queued < adaptiveQuestions &&
			(s.Queue == nil || s.Queue.Cursor == queued)
	default:
		calls := s.Step.Calls()
		ok = len(calls) > 0 && s.Owed.Purpose == calls[0] && s.Queue == nil
	}
	if !ok {
		return fmt.Errorf("step %s cannot owe %s %d after %d questions", s.Step, s.Owed.Purpose, s.Owed.Index, queued)
	}
	return nil
}
