package scenarios

import (
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Talk contains the user's messages to an external agent, and their limits.
type Talk struct {
	// Turns are the user's messages; each waits for the answer to the previous one.
	Turns []string `yaml:"turns" json:"turns" jsonschema:"minItems=1"`
	// Timeout limits one turn, in real time unless the agent is a Go function; default 30s.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// MaxCalls limits the number of the agent's calls to its model over all turns. A call beyond is
	// refused and ends the trial with the status "budget".
	MaxCalls int `yaml:"max_calls,omitempty" json:"max_calls,omitempty" jsonschema:"minimum=1"`
	// MaxCost limits the cost of these calls in the same way, such as "0.05 EUR".
	MaxCost quantity.Money `yaml:"max_cost,omitempty" json:"max_cost,omitzero"`
	// Files maps paths to the initial files of the workspace.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	// InterruptAfter is the time on the trial's clock at which the user presses Ctrl-C.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// The end statuses of an external agent.
const (
	AppDone        = "done"        // every turn was answered
	AppFailed      = "failed"      // the agent reported a failure
	AppCrashed     = "crashed"     // it exited during a turn
	AppTimeout     = "timeout"     // a turn took too long
	AppFlooded     = "flooded"     // it exceeded its output limit
	AppBudget      = "budget"      // it made a call beyond its budget
	AppInterrupted = "interrupted" // the user pressed Ctrl-C
	AppError       = "error"       // it could not be driven at all
)

// Check reports problems of the turns; at is their path, such as "drive.command".
func (t *Talk) Check(c *Checker, at string) {
	if len(t.Turns) == 0 {
		c.Add(at, "", "there are no turns; write turns: with at least one text")
	}
	c.Tree(at, "workspace", t.Files, nil)
}

// CheckRestart returns an error if an agent cannot be perturbed at a turn. It can only be killed
// and restarted; lives reports whether it lives from turn to turn in a process of the harness.
func (t *Talk) CheckRestart(p perturb.Perturbation, lives bool) error {
	switch {
	case p.Do != perturb.Restart:
		return fmt.Errorf("an external agent can only be killed and restarted at a turn (turn=%d:%s)", p.N, perturb.Restart)
	case !lives:
		return errors.New("the agent does not run in one process of the harness from turn to turn, so it cannot be killed and restarted")
	case p.N > len(t.Turns):
		return fmt.Errorf("turn %d does not exist; there are %d turns", p.N, len(t.Turns))
	}
	return nil
}

// AppStatuses returns the end statuses of an external agent.
func AppStatuses() []string {
	return []string{AppDone, AppFailed, AppCrashed, AppTimeout, AppFlooded, AppBudget, AppInterrupted, AppError}
}
