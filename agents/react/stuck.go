package react

import (
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

// stuck detects an agent that makes no progress: the same action with the same observation,
// the same error whatever it tries, or a cycle of up to four actions.
type stuck struct {
	limit  int    // rounds; 0 or less: never stuck
	reason string // how the agent is stuck; empty if it is not

	same   run.Repeats
	cycle  run.Cycle
	errors run.Repeats
}

// add adds the result of an action. Observations that differ only in numbers, times and
// spacing are equal.
func (s *stuck) add(action, input, observation string, failed bool) {
	s.reason = ""
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
		s.errors = run.Repeats{}
	}
	switch {
	case same >= s.limit:
		s.reason = fmt.Sprintf("%d times the same action with the same observation", same)
	case wrong >= s.limit:
		s.reason = fmt.Sprintf("%d times the same error", wrong)
	case times > 1 && times >= s.limit:
		s.reason = fmt.Sprintf("a cycle of %d actions that came %d times", period, times)
	}
}
