// Package react runs one agent by thought, action, observation and reflection: it
// refuses actions without a thought, verifies before it answers, and escalates
// instead of guessing.
//
// Run asks for a step, does its action, sends what the action came to and asks for the
// reflection on it, whose decision says how it goes on. An answer may hold several
// documents (see package step), and no call is made for one that is there already; but
// nothing may follow an action, which has not been done yet. A step that is malformed or
// breaks a rule is not followed: it uses up the iteration, and is asked for again with
// what was wrong and where. So an agent with n iterations makes at most 2n+1 calls,
// two in each and one for the end of the last.
//
// After the decision done, the chain of verification (see package verify) and the
// contract's JSON Schema judge the output. An output that fails is revised once, in an iteration
// of its own, and is a partial one then.
//
// Of several reasons to end, the first of these is told: interrupted, budget,
// timeout, error, what the agent decides, stuck, and the iterations.
package react

import (
	"context"
	"encoding/json"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Task is what an agent is asked for.
type Task struct {
	// Do is the task in words; optional where the inputs say all.
	Do string `yaml:"do,omitempty" json:"do,omitempty"`
	// Input are the contract's inputs by name.
	Input map[string]any `yaml:"input,omitempty" json:"input,omitempty"`
}

// Reflection says what happens to a complacent reflection.
type Reflection string

// The policies on reflections.
const (
	// Refuse asks for it again; the iteration counts. The default.
	Refuse Reflection = "refuse"
	// Flag reports it and goes on.
	Flag Reflection = "flag"
)

// DefaultCallTimeout is that of Options.
const DefaultCallTimeout = 5 * time.Minute

// Options are the limits of a run; the zero value is the documented default.
type Options struct {
	// MaxIterations overrides the agent's (default 5).
	MaxIterations int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1"`
	// Reflection is refuse or flag; default refuse.
	Reflection Reflection `yaml:"reflection,omitempty" json:"reflection,omitempty" jsonschema:"enum=refuse,enum=flag"`
	// Revisions is how often an output that does not verify is asked for again; default
	// 1; negative means never.
	Revisions int `yaml:"revisions,omitempty" json:"revisions,omitempty"`
	// Stuck is how many equal rounds in a row (same action and observation, same error, or a cycle of up to
	// four) end the run; default 3; negative means never.
	Stuck int `yaml:"stuck,omitempty" json:"stuck,omitempty"`
	// Depth is how deep delegations may go; default 3.
	Depth int `yaml:"depth,omitempty" json:"depth,omitempty" jsonschema:"minimum=1"`
	// CallTimeout is for each call; default 5m, so that a backend that never answers
	// does not hold the run for ever.
	CallTimeout quantity.Duration `yaml:"call_timeout,omitempty" json:"call_timeout,omitempty"`
	// Timeout is for the whole run; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Budget caps the run, what it delegates included.
	Budget llm.Caps `yaml:"budget,omitempty" json:"budget,omitzero"`
	// Model overrides the agent's.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
}

// Deps are what a run is given. Backend and Actions are required.
type Deps struct {
	Backend llm.Backend
	// BackendID names the backend in errors.
	BackendID string
	// Clock is the run's time; default: the machine's.
	Clock clock.Clock
	// Sink receives iterations, guards, verdicts, actions and the end; default: nobody.
	Sink event.Sink
	// Actions do the standard and custom actions of an agent.
	Actions func(*agentfile.Agent) (action.Set, error)
	// Agents are those that may be delegated to, by id.
	Agents map[string]*agentfile.Agent
	// Person answers questions; nil: nobody does, and a question escalates.
	Person Person
	// Before, if set, is asked before each call of the backend and each action; an error ends the
	// run with it. A supervisor counts tool calls by it.
	Before func(kind string) error
	// Touched, if set, receives of files that actions read and wrote.
	Touched func(paths ...string)
	// OnIteration, if set, is called when an iteration is over, also one whose step was refused and one
	// of an agent that was delegated to, before the next call.
	OnIteration func(Entry)
	// Price and EURPerUSD serve the cap on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Shared, if set, is a budget that this run shares with others, beside its own.
	Shared *llm.Budget
}

// Person is somebody to ask.
type Person interface {
	// Ask returns an answer, or false if there is none.
	Ask(ctx context.Context, question, context string) (answer string, ok bool)
}

// Status is how a run ended. It is text in JSON.
type Status = run.Status

// The statuses.
const (
	StatusDone        = run.Done
	StatusError       = run.Error
	StatusTimeout     = run.Timeout
	StatusBlocked     = run.Blocked
	StatusBudget      = run.Budget
	StatusEscalate    = run.Escalate
	StatusPartial     = run.Partial
	StatusDelegate    = run.Delegate
	StatusInterrupted = run.Interrupted
)

// Statuses lists all statuses with their exit codes, which are stable.
func Statuses() []run.StatusInfo {
	return []run.StatusInfo{
		StatusDone.Info("the output is there, and its verification holds"),
		StatusError.Info("a call to the backend failed, or the agent or task is not valid"),
		StatusTimeout.Info("the time for the run was up"),
		StatusBlocked.Info("the agent cannot go on, or is stuck"),
		StatusBudget.Info("a cap on calls, tokens or cost was reached"),
		StatusEscalate.Info("a person must decide or give what is missing"),
		StatusPartial.Info("a part is done, and what is missing is named"),
		StatusDelegate.Info("handed over to an agent that is not here"),
		StatusInterrupted.Info("the user interrupted the run"),
	}
}

// Trigger is a reason to escalate instead of guessing.
type Trigger string

// The five triggers of document 003.
const (
	Ambiguity  Trigger = "ambiguity"           // that the context does not resolve
	Decision   Trigger = "business-decision"   // or a strategic one
	Security   Trigger = "security-risk"       // one was identified
	Conflict   Trigger = "constraint-conflict" // with constraints that there are
	Missing    Trigger = "missing-information" // that is critical
	Iterations Trigger = "max-iterations"      // not of the five: the iterations are used up
)

// Result is how a run ended.
type Result struct {
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"`
	// Agent is the agent that ended with this status: another one after a delegation by decision.
	Agent string `json:"agent"`
	// Output is the final output; as JSON in Value where the contract has a schema for it.
	Output string          `json:"output,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	// Trigger and Question are of an escalation: what a person is asked.
	Trigger  Trigger `json:"trigger,omitempty"`
	Question string  `json:"question,omitempty"`
	// Missing is what a partial output lacks.
	Missing []string `json:"missing,omitempty"`
	// Next says what is to be done next, by the table of end states.
	Next    string `json:"next"`
	Details string `json:"details,omitempty"`
	Guard   string `json:"guard,omitempty"`
	// Iterations are those of all agents: one for each entry of the transcript.
	Iterations   int                `json:"iterations"`
	Verification *step.Verification `json:"verification,omitempty"`
	// Verified is true if every part of the verification holds, and what it names was
	// found in the contract and the context. False means that a part does not hold, or
	// holds by the agent's word alone, or that there is no verification.
	Verified   bool          `json:"verified"`
	Transcript []Entry       `json:"transcript"`
	Duration   time.Duration `json:"duration_ns"` // on the run's clock
	// Err is the error behind the end; nil where no error was.
	Err error `json:"-"`
}

// Entry is one iteration of one agent. Where an agent delegates by an action, the
// other's entries follow that of the action.
type Entry struct {
	N       int    `json:"n"` // from 1 for each agent
	Agent   string `json:"agent"`
	Thought string `json:"thought,omitempty"`
	Action  string `json:"action,omitempty"`
	Input   string `json:"input,omitempty"`
	// Observation is what the action came to.
	Observation string `json:"observation,omitempty"`
	Reflection  string `json:"reflection,omitempty"`
	Decision    string `json:"decision,omitempty"`
	Reason      string `json:"reason,omitempty"`
	// Refused is the rule for which the step was not accepted, such as "thought-required", and
	// Fault what was wrong, with its place in the answer.
	Refused string `json:"refused,omitempty"`
	Fault   string `json:"fault,omitempty"`
	// Depth is 0 for the agent that was run, 1 for one that it delegated to.
	Depth int `json:"depth,omitempty"`
	// At is when the iteration began, since the start of the run.
	At time.Duration `json:"at_ns"`
}
