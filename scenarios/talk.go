package scenarios

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Talk is what a user says to somebody else's agent, and how long that may take.
type Talk struct {
	// Turns are what the user says, one after the other; each waits for the answer to
	// the one before.
	Turns []string `yaml:"turns" json:"turns" jsonschema:"minItems=1"`
	// Timeout is how long one turn may take, in real time unless the agent is a Go
	// function; default 30s.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// MaxCalls and MaxCost bound the agent's calls to its model, over all turns. A call
	// beyond is refused and ends the trial with the status "budget".
	MaxCalls int            `yaml:"max_calls,omitempty" json:"max_calls,omitempty" jsonschema:"minimum=1"`
	MaxCost  quantity.Money `yaml:"max_cost,omitempty" json:"max_cost,omitzero"`
	// Files are in the workspace at the beginning, by path.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	// InterruptAfter is when the user presses Ctrl-C, on the trial's clock.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// The end statuses of somebody else's agent.
const (
	AppDone        = "done"        // every turn was answered
	AppFailed      = "failed"      // the agent said itself that it failed
	AppCrashed     = "crashed"     // it went away in the middle of a turn
	AppTimeout     = "timeout"     // a turn took too long
	AppFlooded     = "flooded"     // it wrote more than it may
	AppBudget      = "budget"      // it made a call beyond its budget
	AppInterrupted = "interrupted" // the user pressed Ctrl-C
	AppError       = "error"       // it could not be driven at all
)

// Check reports what is wrong with what the user says; at is where it stands, such as
// "drive.command".
func (t *Talk) Check(c *Checker, at string) {
	if len(t.Turns) == 0 {
		c.Add(at, "", "the user says nothing; write turns: with at least one text")
	}
	c.Tree(at, "workspace", t.Files, nil)
}

// CheckRestart says why an agent cannot be perturbed at a turn. It can be killed and
// started again at most; lives says whether it lives, from one turn to the next, in a
// process that the harness starts.
func (t *Talk) CheckRestart(p perturb.Perturbation, lives bool) error {
	switch {
	case p.Do != perturb.Restart:
		return fmt.Errorf("somebody else's agent can be killed and started again at a turn (turn=%d:%s), and nothing else", p.N, perturb.Restart)
	case !lives:
		return errors.New("what is driven does not live from one turn to the next in a process that the harness starts, so it cannot be killed and started again")
	case p.N > len(t.Turns):
		return fmt.Errorf("there are %d turns, so there is none with the number %d", len(t.Turns), p.N)
	}
	return nil
}

// AppStatuses are the end statuses of somebody else's agent.
func AppStatuses() []string {
	return []string{AppDone, AppFailed, AppCrashed, AppTimeout, AppFlooded, AppBudget, AppInterrupted, AppError}
}
