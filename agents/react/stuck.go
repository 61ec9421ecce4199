package react

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// stuck sees that an agent goes round in circles: the same action with the same
// observation, the same error whatever was tried, or a cycle of up to four.
type stuck struct {
	limit int // 0 or less is never

	same   run.Repeats
	cycle  run.Cycle
	errors run.Repeats
	why    string
}

// saw takes what an action came to. Observations and errors that differ only in
// numbers, times and spacing are the same.
func (s *stuck) saw(action, input, observation string, failed bool) {
	s.why = ""
	if s.limit < 1 {
		return
	}
	near := run.Near(observation)
	round := action + "\x00" + input + "\x00" + near
	same := s.same.Next(round)
	period, times := s.cycle.Next(round)
	wrong := 0
	if failed {
		wrong = s.errors.Next(near)
	} else {
		s.errors.Reset()
	}
	switch {
	case same >= s.limit:
		s.why = fmt.Sprintf("%d times the same action with the same observation", same)
	case wrong >= s.limit:
		s.why = fmt.Sprintf("%d times the same error", wrong)
	case times > 1 && times >= s.limit:
		s.why = fmt.Sprintf("a cycle of %d actions that came %d times", period, times)
	}
}

// found returns how the agent is stuck; empty if it is not.
func (s *stuck) found() string { return s.why }
