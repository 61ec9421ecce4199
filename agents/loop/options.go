package loop

import (
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Options are the settings of one source: a configuration file or the options of one run.
// Resolve takes a field that is nil or empty from the next source: options override the file,
// and the file overrides the defaults.
type Options struct {
	// Prompt is the task.
	Prompt string `yaml:"prompt,omitempty" json:"prompt,omitempty"`
	// System is a system message; none by default.
	System string `yaml:"system,omitempty" json:"system,omitempty"`
	// Backend is an adapter's id; default "copilot".
	Backend string `yaml:"backend,omitempty" json:"backend,omitempty"`
	// Model is passed to the backend; default: the backend's own.
	Model string `yaml:"model,omitempty" json:"model,omitempty"`
	// Stream asks the backend to stream its answers.
	Stream *bool `yaml:"stream,omitempty" json:"stream,omitempty"`
	// Mode is how a finished answer is recognised: by a marker, by a JSON object, or answer:
	// each answer that is not empty and not cut off counts as finished, and the stop guard
	// decides. Default marker.
	Mode Mode `yaml:"mode,omitempty" json:"mode,omitempty" jsonschema:"enum=marker,enum=json,enum=answer"`
	// Marker is the line that means done in marker mode; default "DONE".
	Marker string `yaml:"marker,omitempty" json:"marker,omitempty"`
	// BlockedMarker begins a line that hands over to a person in marker mode;
	// default "BLOCKED:". In json mode status "blocked" or "escalate" does.
	BlockedMarker string `yaml:"blocked_marker,omitempty" json:"blocked_marker,omitempty"`
	// History selects the messages that each call sends: session (the next prompt alone, in the
	// session that the command-line agent stores; as fresh if it cannot continue one), fresh (the
	// task, to an agent that starts anew) or conversation (everything said so far).
	// Default: conversation for API backends, session for command-line agents.
	History History `yaml:"history,omitempty" json:"history,omitempty" jsonschema:"enum=session,enum=fresh,enum=conversation"`
	// ContinuePrompt follows an unfinished answer unless History is fresh;
	// the default asks to go on and repeats the contract.
	ContinuePrompt string `yaml:"continue_prompt,omitempty" json:"continue_prompt,omitempty"`
	// Contract is appended to each prompt and explains how to report completion, remaining work and
	// the need for a person: a text, auto (the text for Mode and the markers) or off. Default auto;
	// in scenarios off, because a script needs no instructions.
	Contract string `yaml:"contract,omitempty" json:"contract,omitempty"`
	// Language is that of the automatic contract: en or fr; default: that of most of the prompt.
	Language Language `yaml:"language,omitempty" json:"language,omitempty" jsonschema:"enum=en,enum=fr"`
	// MaxIterations is at least 1; default 10.
	MaxIterations *int `yaml:"max_iterations,omitempty" json:"max_iterations,omitempty" jsonschema:"minimum=1"`
	// Timeout is for the whole run; default 0 (off); in scenarios 5m.
	Timeout *quantity.Duration `yaml:"timeout,omitempty" json:"timeout,omitempty"`
	// CallTimeout is for each call; default 0 (off).
	CallTimeout *quantity.Duration `yaml:"call_timeout,omitempty" json:"call_timeout,omitempty"`
	// IdleTimeout ends a call without an event of the backend for that long; default 10m, in scenarios
	// and in plans 0 (off). A backend that does not stream has that time for its answer.
	IdleTimeout *quantity.Duration `yaml:"idle_timeout,omitempty" json:"idle_timeout,omitempty"`
	// MaxTurns ends an iteration after that many turns of a command-line agent: calls of its model for
	// claude, tool calls for the others. The next iteration continues. Default 500, in scenarios 0 (off).
	MaxTurns *int `yaml:"max_turns,omitempty" json:"max_turns,omitempty" jsonschema:"minimum=0"`
	// DenialLimit ends an iteration in which the agent's permissions denied that many calls of one
	// tool; a second one in a row ends the run as blocked. Default 10, in scenarios 0 (off).
	DenialLimit *int `yaml:"denial_limit,omitempty" json:"denial_limit,omitempty" jsonschema:"minimum=0"`
	// FailureLimit ends an iteration in which that many tool calls of a command-line agent failed in a row; a
	// second one in a row ends the run as no-progress. Default 25, in scenarios 0 (off).
	FailureLimit *int `yaml:"failure_limit,omitempty" json:"failure_limit,omitempty" jsonschema:"minimum=0"`
	// NoProgressLimit stops after that many identical answers in a row; default
	// 3; 0 switches it off.
	NoProgressLimit *int `yaml:"no_progress_limit,omitempty" json:"no_progress_limit,omitempty" jsonschema:"minimum=0"`
	// AlternationLimit stops after a cycle of 2 to 4 answers, not all the same, has
	// come that many times in a row; at least 2; default 0 (off).
	AlternationLimit *int `yaml:"alternation_limit,omitempty" json:"alternation_limit,omitempty" jsonschema:"minimum=0"`
	// NearIdenticalLimit stops after that many answers in a row that differ only
	// in digits, timestamps and spacing; default 0 (off).
	NearIdenticalLimit *int `yaml:"near_identical_limit,omitempty" json:"near_identical_limit,omitempty" jsonschema:"minimum=0"`
	// UnchangedLimit stops after that many answers in a row that changed no file, however the answers
	// differ; default 5; 0 switches it off. It needs a git work tree. Where files are compared, an
	// answer that changed one begins every series of equal answers anew.
	UnchangedLimit *int `yaml:"unchanged_limit,omitempty" json:"unchanged_limit,omitempty" jsonschema:"minimum=0"`
	// RepeatedErrorLimit stops with no-progress after that many failed calls in a
	// row with the same error; default 0 (off).
	RepeatedErrorLimit *int `yaml:"repeated_error_limit,omitempty" json:"repeated_error_limit,omitempty" jsonschema:"minimum=0"`
	// ErrorLimit stops with status error after that many failed calls in a row; 0
	// never does. An error that a repetition cannot mend, such as a wrong key, stops at once unless it
	// is 0. Default 3, in scenarios and in plans 1; or 0 if Breaker or RepeatedErrorLimit is given,
	// which then decide.
	ErrorLimit *int `yaml:"error_limit,omitempty" json:"error_limit,omitempty" jsonschema:"minimum=0"`
	// Backoff is the wait after a failed call. It doubles with each further one, up to 5m. Default 5s,
	// in scenarios and in plans 0 (off).
	Backoff *quantity.Duration `yaml:"backoff,omitempty" json:"backoff,omitempty"`
	// WaitForLimits waits until a usage limit of the backend ends, if the backend names the time.
	// Otherwise the run ends with status limited. Default false.
	WaitForLimits *bool `yaml:"wait_for_limits,omitempty" json:"wait_for_limits,omitempty"`
	// StopGuard judges each completion by its text (package agents/stop) and, if
	// work is announced and not done, continues the run with it: balanced, strict,
	// careful or off. Default off.
	StopGuard stop.Policy `yaml:"stop_guard,omitempty" json:"stop_guard,omitempty" jsonschema:"enum=off,enum=balanced,enum=strict,enum=careful"` //nolint:lll // a tag is one line
	// ContinuationLimit is how often a refused completion is continued; default
	// 3; 0 means that the first refusal ends the run.
	ContinuationLimit *int `yaml:"continuation_limit,omitempty" json:"continuation_limit,omitempty" jsonschema:"minimum=0"`
	// Checks are shell commands that run in the working folder after an answer that completes. The
	// run is done only if all of them exit with status 0; otherwise the end of the output is the
	// next prompt. Default: none.
	Checks []string `yaml:"checks,omitempty" json:"checks,omitempty"`
	// CheckTimeout is for each check; default 10m; 0 switches it off.
	CheckTimeout *quantity.Duration `yaml:"check_timeout,omitempty" json:"check_timeout,omitempty"`
	// CheckLimit stops with status capped at that many completions that checks do not confirm;
	// default 5; 0 never does.
	CheckLimit *int `yaml:"check_limit,omitempty" json:"check_limit,omitempty" jsonschema:"minimum=0"`
	// Todos tracks the steps that the stop guard finds until answers report them as done; a
	// completion is refused while any is open. Each continuation asks for all of them
	// (together), or each call for one (one-by-one). Default: steps are not tracked.
	Todos TodoMode `yaml:"todos,omitempty" json:"todos,omitempty" jsonschema:"enum=together,enum=one-by-one"`
	// SameStepsLimit stops after that many refused completions in a row that leave the same
	// steps; default 0 (off).
	SameStepsLimit *int `yaml:"same_steps_limit,omitempty" json:"same_steps_limit,omitempty" jsonschema:"minimum=0"`
	// Budget caps the run; default: no caps. Option and file are merged cap by
	// cap, so that an option for one does not lift another.
	Budget *llm.Caps `yaml:"budget,omitempty" json:"budget,omitempty"`
	// Breaker pauses calls to a failing backend; default: off. Merged as Budget is.
	Breaker *BreakerOptions `yaml:"breaker,omitempty" json:"breaker,omitempty"`
}

// Mode selects how a finished answer is recognised.
type Mode string

// The completion modes.
const (
	Marker Mode = "marker"
	JSON   Mode = "json"
	Answer Mode = "answer"
)

// TodoMode selects how the agent is asked for the steps of a refused completion. They are not
// tracked if it is empty.
type TodoMode string

// The ways to ask for todos.
const (
	Together TodoMode = "together"
	OneByOne TodoMode = "one-by-one"
)

// GuardOff is the policy of a run without a stop guard.
const GuardOff stop.Policy = "off"

// History selects what each call sends.
type History string

// The kinds of history.
const (
	InSession    History = "session"
	Fresh        History = "fresh"
	Conversation History = "conversation"
)

// BreakerOptions configures the circuit breaker.
type BreakerOptions struct {
	// Failures in a row open the circuit; at least 1.
	Failures int `yaml:"failures" json:"failures" jsonschema:"minimum=1"`
	// Cooldown is how long it stays open before one call is tried.
	Cooldown quantity.Duration `yaml:"cooldown" json:"cooldown"`
	// MaxOpens ends the run with status error when the circuit has opened that
	// often; 0 means never.
	MaxOpens int `yaml:"max_opens,omitempty" json:"max_opens,omitempty" jsonschema:"minimum=0"`
}
