package scenarios

import (
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/invopop/jsonschema"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
	"github.com/rehearse-dev/rehearse/scenarios/user"
)

// Talk contains the user's messages to an external agent, and their limits.
type Talk struct {
	// Turns are the user's messages; each waits for the answer to the previous one.
	Turns []string `yaml:"turns,omitempty" json:"turns,omitempty" jsonschema:"minItems=1"`
	// User is a simulated user, who answers the agent, in place of Turns.
	User *User `yaml:"user,omitempty" json:"user,omitempty"`
	// Script lists the steps of a conversation of simulated and fixed messages and checks. Without
	// one, a simulated user and the agent go on until the user leaves.
	Script []user.Step `yaml:"script,omitempty" json:"script,omitempty" jsonschema:"minItems=1"`
	// Timeout limits one turn, in real time unless the agent is a Go function; default 30s. It limits a call
	// of the model of a simulated user as well.
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// MaxCalls limits the number of the agent's calls to its model over all turns. A call beyond is
	// refused and ends the trial with the status "budget".
	MaxCalls int `yaml:"max_calls,omitempty" json:"max_calls,omitempty" jsonschema:"minimum=1"`
	// MaxCost limits the cost of these calls in the same way, such as "0.05 EUR".
	MaxCost quantity.Money `yaml:"max_cost,omitempty" json:"max_cost,omitzero"`
	// Files maps paths to the initial files of the workspace.
	Files map[string]string `yaml:"files,omitempty" json:"files,omitempty"`
	// Hosts are other machines that the agent may call without ending the trial; none of them is reached.
	Hosts Hosts `yaml:"hosts,omitempty" json:"hosts,omitzero"`
	// InterruptAfter is the time on the trial's clock at which the user presses Ctrl-C.
	InterruptAfter quantity.Duration `yaml:"interrupt_after,omitempty" json:"interrupt_after,omitempty"`
}

// User is a simulated user, and optionally a model that puts its messages into words.
type User struct {
	user.User `yaml:",inline"`
	// Backend is a model that puts the messages into the words of the persona: a scripted backend in process,
	// or a live one. What the messages are about is decided without it. The opening and the fixed messages
	// of a script are sent as they are written.
	Backend *Backend `yaml:"backend,omitempty" json:"backend,omitempty"`
}

// JSONSchemaExtend requires turns or a simulated conversation.
func (Talk) JSONSchemaExtend(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{{Required: []string{"turns"}}, {Required: []string{"user"}}, {Required: []string{"script"}}}
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

// Steps returns the steps of the conversation.
func (t *Talk) Steps() []user.Step {
	if t.User != nil && len(t.Script) == 0 {
		return []user.Step{{Proceed: new(0)}}
	}
	steps := slices.Clone(t.Script)
	for _, text := range t.Turns {
		steps = append(steps, user.Step{User: &text})
	}
	return steps
}

// UserBackend returns the model of the simulated user; nil without one.
func (t *Talk) UserBackend() *Backend {
	if t.User == nil {
		return nil
	}
	return t.User.Backend
}

// Texts returns the texts that the user may send, by their paths below the kind of agent.
func (t *Talk) Texts() iter.Seq2[string, string] {
	return func(yield func(path, text string) bool) {
		for i, text := range t.Turns {
			if !yield(fmt.Sprintf("turns[%d]", i), text) {
				return
			}
		}
		for i, step := range t.Script {
			if step.User != nil && !yield(fmt.Sprintf("script[%d].user", i), *step.User) {
				return
			}
		}
		if t.User == nil {
			return
		}
		for path, text := range t.User.Texts() {
			if !yield("user."+path, text) {
				return
			}
		}
	}
}

// Check reports problems of the turns; at is their path, such as "drive.command".
func (t *Talk) Check(c *Checker, at string) {
	switch {
	case len(t.Turns) > 0 && (t.User != nil || len(t.Script) > 0):
		c.Add(at+".turns", "", "turns cannot be combined with user or script; write each fixed turn as a step of script: - user: TEXT")
	case !slices.ContainsFunc(t.Steps(), func(s user.Step) bool { return s.User != nil || s.Proceed != nil }):
		c.Add(at, "", "there are no turns; write turns: with at least one text, or user: with a simulated user")
	}
	if t.User != nil {
		for _, p := range t.User.Validate() {
			c.Add(at+".user."+p.Path, p.Nearest, "%s", p.Message)
		}
		if t.User.Backend != nil {
			c.checkOther(t.User.Backend, at+".user", "the model of a simulated user", c.fsys, c.sum)
		}
	}
	t.checkScript(c, at+".script")
	c.Tree(at, "workspace", t.Files, nil)
	t.Hosts.check(c, at+".hosts")
}

// checkScript reports steps that cannot be carried out.
func (t *Talk) checkScript(c *Checker, at string) {
	ended, simulated := false, false
	for i, step := range t.Script {
		at := fmt.Sprintf("%s[%d]", at, i)
		simulated = simulated || step.Simulated()
		switch {
		case ended:
			c.Add(at, "", "the step is never reached, because the conversation has ended with the step before it")
		case step.Simulated() && t.User == nil:
			c.Add(at, "", "there is no simulated user; write user: beside script:, or the text of the message: - user: TEXT")
		case step.Agent != nil && (i == 0 || t.Script[i-1].User == nil):
			c.Add(at, "", "the agent only answers; write a user step before it")
		case step.Check != "" && c.opts.CheckExpr != nil:
			if err := c.opts.CheckExpr(step.Check); err != nil {
				c.Add(at+".check", "", "the expression cannot be used: %v", err)
			}
		}
		ended = step.Succeed != nil || step.Fail != nil
	}
	if t.User != nil && len(t.Script) > 0 && !simulated {
		c.Add(at, "", "the simulated user never writes a message; add a step user or proceed, or remove user:")
	}
}

// CheckRestart returns an error if an agent cannot be perturbed at a turn. It can only be killed
// and restarted; lives reports whether it lives from turn to turn in a process of the harness.
func (t *Talk) CheckRestart(p perturb.Perturbation, lives bool) error {
	switch {
	case p.Do != perturb.Restart:
		return fmt.Errorf("an external agent can only be killed and restarted at a turn (turn=%d:%s)", p.N, perturb.Restart)
	case !lives:
		return errors.New("the agent does not run in one process of the harness from turn to turn, so it cannot be killed and restarted")
	case t.User == nil && p.N > len(t.Turns) && len(t.Script) == 0:
		return fmt.Errorf("turn %d does not exist; there are %d turns", p.N, len(t.Turns))
	}
	return nil
}

// AppStatuses returns the end statuses of an external agent.
func AppStatuses() []string {
	return []string{AppDone, AppFailed, AppCrashed, AppTimeout, AppFlooded, AppBudget, AppInterrupted, AppError}
}
