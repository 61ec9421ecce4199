// Package react runs an agent in a loop of thought, action, observation and reflection. It
// refuses actions without a thought, verifies the output, and escalates instead of guessing.
//
// Run asks the backend for a step, runs its action, sends the observation and asks for a
// reflection with a decision. An answer may contain several documents (see package step), which are
// used without a further call; but no document may follow an action, which has not been run yet. A
// step that is malformed or breaks a rule counts as an iteration, and the agent is asked again with
// the error and its position. An agent with n iterations makes at most 2n+1 calls: two in each
// iteration, and one for the end.
//
// After the decision done, the verification (see step.JudgeVerification) and the contract's
// JSON Schema judge the output. An output that fails is revised once, in a further iteration,
// and is partial if it fails again.
//
// If a run could end for several reasons, the first of these is reported: interruption,
// budget, timeout, error, the agent's decision, stuck, and the number of iterations.
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

// Task describes the work for an agent.
type Task struct {
	// Do is the task in words; optional if there are inputs.
	Do string `yaml:"do,omitempty" json:"do,omitempty"`
	// Input are the contract's inputs by name.
	Input map[string]any `yaml:"input,omitempty" json:"input,omitempty"`
}

// Reflection is the policy on complacent reflections.
type Reflection string

// The policies on complacent reflections.
const (
	// Refuse asks for another reflection, in a new iteration. It is the default.
	Refuse Reflection = "refuse"
	// Flag emits an event and goes on.
	Flag Reflection = "flag"
)

// DefaultCallTimeout is the default of Options.CallTimeout.
const DefaultCallTimeout = 5 * time.Minute

// Options are the limits of a run; the zero value is the documented default.
type Options struct {
	// Interface is "tools" or "yaml"; default: "tools" if Deps.TakesTools, otherwise "yaml".
	Interface Interface `yaml:"interface,omitempty" json:"interface,omitempty" jsonschema:"enum=tools,enum=yaml"`
	// MaxIterations overrides the agent's (default 5).
	MaxIterations int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1"`
	// Reflection is "refuse" or "flag"; default "refuse".
	Reflection Reflection `yaml:"reflection,omitempty" json:"reflection,omitempty" jsonschema:"enum=refuse,enum=flag"`
	// Revisions is the largest number of revisions of an output that fails its verification;
	// default 1; negative: none.
	Revisions int `yaml:"revisions,omitempty" json:"revisions,omitempty"`
	// Stuck is the number of equal rounds in a row (same action and observation, same error, or
	// a cycle of up to four) that end the run; default 3; negative: off.
	Stuck int `yaml:"stuck,omitempty" json:"stuck,omitempty"`
	// Depth is the largest depth of delegations; default 3.
	Depth int `yaml:"depth,omitempty" json:"depth,omitempty" jsonschema:"minimum=1"`
	// CallTimeout limits each call; default 5m.
	CallTimeout quantity.Duration `yaml:"call_timeout,omitempty" json:"call_timeout,omitempty"`
	// Timeout limits the whole run; default 0 (off).
	Timeout quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// Budget caps the run with its delegations.
	Budget llm.Caps `yaml:"budget,omitempty" json:"budget,omitzero"`
	// Model overrides the agent's.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
}

// Deps are the dependencies of a run. Backend and Actions are required.
type Deps struct {
	Backend llm.Backend
	// BackendID names the backend in errors.
	BackendID string
	// TakesTools reports that the backend passes llm.Request.Tools to its model. If its server rejects
	// them at the first call, because the model has no tools, the agent writes YAML.
	TakesTools bool
	// Clock defaults to the real clock.
	Clock clock.Clock
	// Sink receives the events; default: event.Discard.
	Sink event.Sink
	// Actions returns the standard and custom actions of an agent.
	Actions func(*agentfile.Agent) (action.Set, error)
	// Agents are the agents to delegate to, by id.
	Agents map[string]*agentfile.Agent
	// Person answers questions; without one, a question escalates.
	Person Person
	// Answer, if set, is asked for a person's answer before a run ends with StatusEscalate or
	// StatusBlocked. With an answer, the run goes on, with as many iterations as at its beginning.
	Answer func(ctx context.Context, question string) (answer string, ok bool)
	// Before, if set, is called before each call of the backend and each action. An error ends
	// the run.
	Before func(kind string) error
	// Touched, if set, receives the paths of the files that actions read and wrote.
	Touched func(paths ...string)
	// OnIteration, if set, is called after each iteration and before the next call, including
	// refused steps and delegates.
	OnIteration func(Entry)
	// Price and EURPerUSD are needed for a cap on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Shared, if set, is a second budget, which this run shares with others.
	Shared *llm.Budget
}

// Person answers questions of an agent.
type Person interface {
	// Ask returns an answer, or false if nobody answers.
	Ask(ctx context.Context, question, context string) (answer string, ok bool)
}

// Status is the outcome of a run.
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
		StatusDone.Info("there is an output, and its verification holds"),
		StatusError.Info("a call to the backend failed, or the agent or task is not valid"),
		StatusTimeout.Info("the time limit of the run was reached"),
		StatusBlocked.Info("the agent cannot continue, or is stuck"),
		StatusBudget.Info("a cap on calls, tokens or cost was reached"),
		StatusEscalate.Info("a person must decide or provide missing information"),
		StatusPartial.Info("a part is done, and the missing parts are listed"),
		StatusDelegate.Info("handed over to an agent that is not available"),
		StatusInterrupted.Info("the user interrupted the run"),
	}
}

// Trigger is a reason to escalate instead of guessing.
type Trigger string

// The five triggers of document 003.
const (
	Ambiguity Trigger = "ambiguity"           // the context does not resolve it
	Decision  Trigger = "business-decision"   // or a strategic one
	Security  Trigger = "security-risk"       // a risk was identified
	Conflict  Trigger = "constraint-conflict" // the task contradicts a constraint
	Missing   Trigger = "missing-information" // critical information is missing

	// Iterations is the engine's own trigger: the iterations are used up.
	Iterations Trigger = "max-iterations"
)

// Result describes the end of a run.
type Result struct {
	Status   Status `json:"status"`
	ExitCode int    `json:"exit_code"`
	// Agent is the agent that ended with this status; after a decision to delegate, the other
	// agent.
	Agent string `json:"agent"`
	// Output is the final output; Value is the output as JSON if the contract has a schema.
	Output string          `json:"output,omitempty"`
	Value  json.RawMessage `json:"value,omitempty"`
	// Trigger and Question are set with StatusEscalate; Question is for a person.
	Trigger  Trigger `json:"trigger,omitempty"`
	Question string  `json:"question,omitempty"`
	// Missing is the work that a partial output lacks.
	Missing []string `json:"missing,omitempty"`
	// Next recommends the next action.
	Next    string `json:"next"`
	Details string `json:"details,omitempty"`
	Guard   string `json:"guard,omitempty"`
	// Iterations counts the iterations of all agents, one for each entry of the transcript.
	Iterations   int                `json:"iterations"`
	Verification *step.Verification `json:"verification,omitempty"`
	// Verified reports whether every part of the verification holds on more evidence than the
	// claim of the agent.
	Verified   bool          `json:"verified"`
	Transcript []Entry       `json:"transcript"`
	Duration   time.Duration `json:"duration_ns"` // on the run's clock
	// Err is the error that ended the run, or nil.
	Err error `json:"-"`
}

// Entry is one iteration of one agent. The entries of a delegate follow the entry of the action that
// delegated to it.
type Entry struct {
	N       int    `json:"n"` // from 1 for each agent
	Agent   string `json:"agent"`
	Thought string `json:"thought,omitempty"`
	Action  string `json:"action,omitempty"`
	Input   string `json:"input,omitempty"`
	// Observation is the result of the action.
	Observation string `json:"observation,omitempty"`
	Reflection  string `json:"reflection,omitempty"`
	Decision    string `json:"decision,omitempty"`
	Reason      string `json:"reason,omitempty"`
	// Answer is a person's answer to the escalation or the obstacle that this iteration ended with.
	Answer string `json:"answer,omitempty"`
	// Refused is the rule that the step broke, such as "thought-required", and Fault the
	// error with its position in the answer.
	Refused string `json:"refused,omitempty"`
	Fault   string `json:"fault,omitempty"`
	// Skipped counts the tool calls behind the first one of an answer, which were not used.
	Skipped int `json:"skipped,omitempty"`
	// Depth is 0 for the agent that was run, 1 for one that it delegated to.
	Depth int `json:"depth,omitempty"`
	// At is the time from the start of the run to that of the iteration.
	At time.Duration `json:"at_ns"`
}
