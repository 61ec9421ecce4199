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
	"github.com/rehearse-dev/rehearse/llm"
)

// Deps are the dependencies of a run. Only Backend is required.
type Deps struct {
	// Backend answers the prompts; llm.FindAdapter finds one that is available.
	Backend llm.Backend
	// BackendID names the backend in the Result; default: Settings.Backend.
	BackendID string
	// Conversational is true for a backend without memory, such as an API, which needs the
	// whole conversation in each call. It is the default of Settings.History.
	Conversational bool
	// Clock is the run's time; default: the machine's.
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
	// Price and EURPerUSD serve the cap on cost; see llm.NewBudget.
	Price     llm.Pricer
	EURPerUSD float64
	// Shared, if set, is a budget that this run shares with others, beside its
	// own of Settings.Budget.
	Shared *llm.Budget

	judge func(said string) stop.Verdict // replaces the stop guard in tests
}

// Entry is one iteration in the transcript.
type Entry struct {
	N int `json:"n"` // from 1
	// Prompt is the last message that was sent.
	Prompt string `json:"prompt"`
	// Answer is the text of the answer; of a failed call, what had arrived.
	Answer string `json:"answer"`
	// Error is the error of a failed call; empty if it was answered.
	Error     string           `json:"error,omitempty"`
	ErrorKind llm.ErrorKind    `json:"error_kind,omitempty"`
	Finish    llm.FinishReason `json:"finish,omitempty"`
	// Usage is nil where the backend reported none.
	Usage *llm.Usage `json:"usage,omitempty"`
	// Denials are tool calls that the agent's permissions refused in this iteration.
	Denials []llm.Denial `json:"denials,omitempty"`
	// At is when the call began, since the start of the run.
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
	// Guard is the option whose limit ended the run, such as
	// "no_progress_limit" or "budget.cost"; empty if none did.
	Guard      string        `json:"guard,omitempty"`
	Iterations int           `json:"iterations"`
	Duration   time.Duration `json:"duration_ns"` // on the run's clock
	Transcript []Entry       `json:"transcript"`
	// Summary is the last that the agent gave: in json mode its own, of a blocked
	// run what a person should know.
	Summary string `json:"summary,omitempty"`
	// Denials are the tool calls that the agent's permissions refused, of all
	// iterations, at most llm.MaxDenials. A run that has any is never StatusDone.
	Denials []llm.Denial `json:"denials,omitempty"`
	// Todos are the steps of refused completions, in the order in which they came up; nil
	// unless Settings.Todos tracks them.
	Todos []Todo `json:"todos,omitempty"`
	// Details is the reason of the end, for a person.
	Details string `json:"details,omitempty"`
	// Prose is the last answer without its claim of completion: Text without the marker, or
	// without the JSON object and with its summary.
	Prose string `json:"-"`
	// Completed is true if the last answer claims that the work is done, even if a limit took
	// precedence. No stop guard judged it then.
	Completed bool `json:"-"`
	// Err is the error behind the end; nil where no error was.
	Err error `json:"-"`
}

// Run runs the loop to its end. It never panics: a panic of the backend is a
// failed call, and one of a callback ends the run with StatusError. Settings that Resolve would
// refuse end it with StatusError before the first call.
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
	defer r.Enter(ctx)()
	return r.finish(r.loop())
}
