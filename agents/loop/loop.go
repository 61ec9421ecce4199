package loop

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Deps are the dependencies of a run. Only Backend is required.
type Deps struct {
	// Backend answers the prompts; see llm.FindAdapter.
	Backend llm.Backend
	// BackendID names the backend in the Result; default: Settings.Backend.
	BackendID string
	// Conversational is true for a backend without memory, such as an API, which needs the
	// whole conversation in each call. It is the default of Settings.History.
	Conversational bool
	// Clock is the clock of the run; default: the real clock.
	Clock clock.Clock
	// Sink receives each iteration, guard, state and the end; default: event.Discard.
	Sink event.Sink
	// OnIteration, if set, is called after each iteration.
	OnIteration func(Entry)
	// OnText, if set, receives each piece of an answer as it arrives.
	OnText func(delta string)
	// OnActivity, if set, is called for each action of an agent that works by itself; see
	// llm.Request.
	OnActivity func(tool string)
	// OnCall, if set, is called before each call with its iteration, from 1, and the time since the start of
	// the run: the usage of a call that has no Entry later is unknown.
	OnCall func(n int, at time.Duration)
	// OnSession, if set, is called with the id of each session that a command-line agent begins, before
	// its work: a run that is killed can be continued in it.
	OnSession func(id string)
	// Session, if set, is the session of a command-line agent that an earlier run began. The first call
	// continues it with the prompt Turn. If the agent cannot, or if History is not "session", Settings.Prompt
	// goes to a new session.
	Session *llm.Session
	Turn    string
	// ReadPrompt, if set, returns the prompt of the next iteration; an error ends the run.
	ReadPrompt func() (string, error)
	// Work, if set, returns the state of the files that the agent works on. It is called before the
	// first call and after each. Changed files are progress; see Settings.UnchangedLimit.
	Work func(context.Context) (Work, error)
	// Past, if set, is the part of the run that earlier processes recorded. The run continues it.
	Past *Past
	// OnWait, if set, is called repeatedly during a wait before a call with the reason and the rest of
	// the time, which is 0 at the end.
	OnWait func(why string, left time.Duration)
	// Check runs a command of Settings.Checks; required if there are any.
	Check CheckFunc
	// OnCheck, if set, is called after each check.
	OnCheck func(Check)
	// Checkpoint, if set, is called after each iteration, unless the end of ctx cut it off. Failure is
	// the reason if the call or a check failed, otherwise empty. It saves the files that the agent works
	// on, or restores them, and returns the event to emit, if its kind is not empty. An error ends the
	// run.
	Checkpoint func(n int, failure string) (e event.Event, restored bool, err error)
	// Price and EURPerUSD serve the cap on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Shared, if set, is a budget that this run shares with others, in addition to
	// Settings.Budget.
	Shared *llm.Budget

	judge func(request, answer string) stop.Verdict // replaces the stop guard in tests
}

// Entry is one iteration in the transcript.
type Entry struct {
	N int `json:"n"` // from 1
	// Prompt is the last message that was sent.
	Prompt string `json:"prompt"`
	// Answer is the text of the answer, or the part that arrived before a call failed.
	Answer string `json:"answer"`
	// Error is the error of a failed call; otherwise empty.
	Error     string           `json:"error,omitempty"`
	ErrorKind llm.ErrorKind    `json:"error_kind,omitempty"`
	Finish    llm.FinishReason `json:"finish,omitempty"`
	// Usage is nil if the backend did not report it.
	Usage *llm.Usage `json:"usage,omitempty"`
	// Model is the model that answered, and ReportedUSD the cost that the backend reported; empty and
	// nil if unknown.
	Model       string   `json:"model,omitempty"`
	ReportedUSD *float64 `json:"reported_usd,omitempty"`
	// Cost is the reported cost, or else that by the price table; nil if unknown.
	Cost *quantity.Money `json:"cost,omitempty"`
	// State identifies the state of the files after the iteration (see Work), and Changes what it
	// changed; empty and nil if unknown.
	State        string   `json:"state,omitempty"`
	StatePartial bool     `json:"state_partial,omitempty"`
	Changes      *Changes `json:"changes,omitempty"`
	// Session is the session of a command-line agent that answered, or that had begun when the call
	// failed; nil if the agent cannot continue sessions. Continued is true if an earlier iteration
	// began it: Prompt was then the only message.
	Session   *llm.Session `json:"session,omitempty"`
	Continued bool         `json:"continued,omitempty"`
	// Denials are tool calls that the agent's permissions refused in this iteration.
	Denials []llm.Denial `json:"denials,omitempty"`
	// At is the time from the start of the run to that of the call.
	At       time.Duration `json:"at_ns"`
	Duration time.Duration `json:"duration_ns"`
}

// Result describes how a run ended.
type Result struct {
	ExitCode int `json:"exit_code"`
	// Text is the last answer.
	Text    string `json:"text"`
	Backend string `json:"backend"`
	Status  Status `json:"status"`
	// Guard is the option whose limit ended the run, such as "no_progress_limit" or
	// "budget.cost"; otherwise empty.
	Guard      string        `json:"guard,omitempty"`
	Iterations int           `json:"iterations"`
	Duration   time.Duration `json:"duration_ns"` // on the run's clock
	Totals     Totals        `json:"totals"`
	Transcript []Entry       `json:"transcript"`
	// Summary is the last summary of the agent in json mode, or its message to a person if it
	// is blocked.
	Summary string `json:"summary,omitempty"`
	// Denials are the tool calls that the agent's permissions refused in all iterations, at
	// most llm.MaxDenials. A run with denials never ends with StatusDone.
	Denials []llm.Denial `json:"denials,omitempty"`
	// LimitedUntil is the time at which the usage limit of StatusLimited ends; otherwise zero.
	LimitedUntil time.Time `json:"limited_until,omitzero"`
	// Todos are the steps of refused completions in their order; nil if Settings.Todos is empty.
	Todos []Todo `json:"todos,omitempty"`
	// Details explain the end to a person.
	Details string `json:"details,omitempty"`
	// Prose is Text without the marker, or without the JSON object but with its summary.
	Prose string `json:"-"`
	// Completed is true if the last answer claims completion. If a limit took precedence, the
	// stop guard has not judged it.
	Completed bool `json:"-"`
	// Session is the session that a further call would continue, or nil. A session that may be the cause of
	// failed calls is left out.
	Session *llm.Session `json:"-"`
	// Err is the error that ended the run, if one did.
	Err error `json:"-"`
}

// Run runs the loop to its end. It never panics: a panic of the backend is a failed call, and a panic
// of a callback ends the run with StatusError. Invalid settings end it with StatusError before the
// first call.
//
// When ctx ends, the run ends with StatusInterrupted, or with StatusTimeout if
// its cause is context.DeadlineExceeded.
func Run(ctx context.Context, s Settings, d Deps) (result Result) {
	r := newRunner(s, d)
	defer func() {
		if p := recover(); p != nil {
			result = r.result
			result.Status, result.ExitCode = StatusError, StatusError.ExitCode()
			result.Iterations, result.Duration = len(result.Transcript), r.Elapsed()
			end := run.Panicked(p)
			result.Details, result.Err = end.Details, end.Err
		}
	}()
	if err := s.validate(); err != nil {
		return r.finish(run.Failed(fmt.Errorf("the settings are not valid: %w", err)))
	}
	if d.Backend == nil {
		return r.finish(run.Failed(errors.New("no backend is given")))
	}
	if len(s.Checks) > 0 && d.Check == nil {
		return r.finish(run.Failed(errors.New("checks cannot be run here")))
	}
	defer r.Enter(ctx)()
	if end := r.replay(d.Past); end != nil {
		return r.finish(end)
	}
	return r.finish(r.loop())
}
