package loop

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
)

// Settings are the resolved Options of a run.
type Settings struct {
	Prompt             string            `json:"prompt"`
	System             string            `json:"system,omitempty"`
	Backend            string            `json:"backend"`
	Model              string            `json:"model,omitempty"`
	Stream             bool              `json:"stream"`
	Mode               Mode              `json:"mode"`
	Marker             string            `json:"marker"`
	BlockedMarker      string            `json:"blocked_marker"`
	History            History           `json:"history,omitempty"` // if empty, depends on Deps.Conversational
	ContinuePrompt     string            `json:"continue_prompt"`
	MaxIterations      int               `json:"max_iterations"`
	Timeout            quantity.Duration `json:"timeout"`
	CallTimeout        quantity.Duration `json:"call_timeout"`
	NoProgressLimit    int               `json:"no_progress_limit"`
	AlternationLimit   int               `json:"alternation_limit"`
	NearIdenticalLimit int               `json:"near_identical_limit"`
	RepeatedErrorLimit int               `json:"repeated_error_limit"`
	ErrorLimit         int               `json:"error_limit"`
	StopGuard          stop.Policy       `json:"stop_guard"`
	ContinuationLimit  int               `json:"continuation_limit"`
	Todos              TodoMode          `json:"todos,omitempty"`
	SameStepsLimit     int               `json:"same_steps_limit,omitempty"`
	Budget             llm.Caps          `json:"budget,omitzero"`
	Breaker            *BreakerOptions   `json:"breaker,omitempty"` // nil: off
}

// Defaults returns the default settings. They lack a prompt.
func Defaults() Settings { return merge(Options{}, Options{}) }

// Resolve merges options, a configuration file and the defaults, in this order of precedence.
// It returns all invalid fields at once, as FieldErrors.
func Resolve(option, file Options) (Settings, error) {
	s := merge(option, file)
	if err := s.validate(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

func merge(option, file Options) Settings {
	s := Settings{
		Prompt:             cmp.Or(option.Prompt, file.Prompt),
		System:             cmp.Or(option.System, file.System),
		Backend:            cmp.Or(option.Backend, file.Backend, "copilot"),
		Model:              cmp.Or(option.Model, file.Model),
		Stream:             *cmp.Or(option.Stream, file.Stream, new(false)),
		Mode:               cmp.Or(option.Mode, file.Mode, Marker),
		Marker:             cmp.Or(option.Marker, file.Marker, "DONE"),
		BlockedMarker:      cmp.Or(option.BlockedMarker, file.BlockedMarker, "BLOCKED:"),
		History:            cmp.Or(option.History, file.History),
		ContinuePrompt:     cmp.Or(option.ContinuePrompt, file.ContinuePrompt),
		MaxIterations:      *cmp.Or(option.MaxIterations, file.MaxIterations, new(10)),
		Timeout:            *cmp.Or(option.Timeout, file.Timeout, new(defaultTimeout)),
		CallTimeout:        *cmp.Or(option.CallTimeout, file.CallTimeout, new(quantity.Duration)),
		NoProgressLimit:    *cmp.Or(option.NoProgressLimit, file.NoProgressLimit, new(3)),
		AlternationLimit:   *cmp.Or(option.AlternationLimit, file.AlternationLimit, new(0)),
		NearIdenticalLimit: *cmp.Or(option.NearIdenticalLimit, file.NearIdenticalLimit, new(0)),
		RepeatedErrorLimit: *cmp.Or(option.RepeatedErrorLimit, file.RepeatedErrorLimit, new(0)),
		StopGuard:          cmp.Or(option.StopGuard, file.StopGuard, GuardOff),
		ContinuationLimit:  *cmp.Or(option.ContinuationLimit, file.ContinuationLimit, new(3)),
		Todos:              cmp.Or(option.Todos, file.Todos),
		SameStepsLimit:     *cmp.Or(option.SameStepsLimit, file.SameStepsLimit, new(0)),
		Budget:             mergeBudget(option.Budget, file.Budget),
		Breaker:            mergeBreaker(option.Breaker, file.Breaker),
	}
	errorLimit := 1
	if s.Breaker != nil || s.RepeatedErrorLimit > 0 {
		errorLimit = 0
	}
	s.ErrorLimit = *cmp.Or(option.ErrorLimit, file.ErrorLimit, &errorLimit)
	s.ContinuePrompt = cmp.Or(s.ContinuePrompt, s.defaultContinuePrompt())
	return s
}

const defaultTimeout = quantity.Duration(5 * time.Minute)

func mergeBudget(option, file *llm.Caps) llm.Caps {
	o, f := deref(option), deref(file)
	return llm.Caps{
		Calls:  cmp.Or(o.Calls, f.Calls),
		Tokens: cmp.Or(o.Tokens, f.Tokens),
		Cost:   cmp.Or(o.Cost, f.Cost),
	}
}

func mergeBreaker(option, file *BreakerOptions) *BreakerOptions {
	if option == nil && file == nil {
		return nil
	}
	o, f := deref(option), deref(file)
	return &BreakerOptions{
		Failures: cmp.Or(o.Failures, f.Failures),
		Cooldown: cmp.Or(o.Cooldown, f.Cooldown),
		MaxOpens: cmp.Or(o.MaxOpens, f.MaxOpens),
	}
}

func deref[T any](p *T) T { return *cmp.Or(p, new(T)) }

func (s *Settings) defaultContinuePrompt() string { return "Continue with the task. " + s.HowToEnd() }

// history returns the kind of history for a backend.
func (s *Settings) history(conversational bool) History {
	if s.History == "" && conversational {
		return Conversation
	}
	return cmp.Or(s.History, InSession)
}

// HowToEnd returns instructions for the agent: how to report that everything is finished, or
// that it needs a person. A prompt should contain them; Run does not add them.
func (s *Settings) HowToEnd() string {
	switch s.Mode {
	case Answer:
		return fmt.Sprintf("When everything is finished, say what was done. "+
			"If you need a person, write a line that begins with %s and say why.", s.BlockedMarker)
	case JSON:
		return `End your answer with a JSON object: ` +
			`{"status": "continue", "summary": "..."} while work is left, status "done" when everything ` +
			`is finished, or "blocked" if you need a person.`
	default:
		return fmt.Sprintf("When everything is finished, write %s on a line of its own. "+
			"If you need a person, write a line that begins with %s and say why.", s.Marker, s.BlockedMarker)
	}
}

// FieldError describes an invalid field.
type FieldError struct {
	// Field is the key in a configuration file, such as "budget.calls".
	Field string
	// Message has the value and the allowed values.
	Message string
}

// FieldErrors lists all invalid fields.
type FieldErrors []FieldError

// Error returns a line for each field.
func (e FieldErrors) Error() string {
	lines := make([]string, len(e))
	for i, f := range e {
		lines[i] = f.Field + ": " + f.Message
	}
	return strings.Join(lines, "\n")
}

// validate returns the invalid fields as FieldErrors, or nil.
func (s *Settings) validate() error {
	var errs FieldErrors
	add := func(field, format string, args ...any) {
		errs = append(errs, FieldError{field, fmt.Sprintf(format, args...)})
	}
	if strings.TrimSpace(s.Prompt) == "" {
		add("prompt", "is empty; say what the agent is to do")
	}
	if s.Mode != Marker && s.Mode != JSON && s.Mode != Answer {
		add("mode", `%q is not a completion mode; use "marker", "json" or "answer"`, s.Mode)
	}
	if s.History != "" && !slices.Contains([]History{InSession, Fresh, Conversation}, s.History) {
		add("history", `%q is not a kind of history; use "session", "fresh" or "conversation"`, s.History)
	}
	if s.StopGuard != GuardOff && !slices.Contains(stop.Policies(), s.StopGuard) {
		add("stop_guard", `%q is not a policy of the stop guard; use "off" or one of %q`, s.StopGuard, stop.Policies())
	}
	if s.Todos != "" && s.Todos != Together && s.Todos != OneByOne {
		add("todos", `%q is not a way to ask for todos; use "together" or "one-by-one"`, s.Todos)
	}
	s.validateMarkers(add)
	s.validateLimits(add)
	if len(errs) == 0 {
		return nil
	}
	return errs
}

func (s *Settings) validateMarkers(add func(field, format string, args ...any)) {
	for _, m := range []struct{ field, text string }{
		{"marker", s.Marker}, {"blocked_marker", s.BlockedMarker},
	} {
		switch {
		case m.text == "" || m.text != strings.TrimSpace(m.text) || strings.ContainsAny(m.text, "\r\n"):
			add(m.field, "%q can never be found; use text on one line without space around it", m.text)
		case strings.HasPrefix(m.text, "```") || strings.HasPrefix(m.text, "~~~"):
			add(m.field, "%q opens a code block, in which nothing is searched; use other text", m.text)
		}
	}
	if s.BlockedMarker != "" && strings.HasPrefix(s.Marker, s.BlockedMarker) {
		add("marker", "%q begins with the blocked_marker %q; make them differ", s.Marker, s.BlockedMarker)
	}
}

func (s *Settings) validateLimits(add func(field, format string, args ...any)) {
	for _, l := range []struct {
		field        string
		value, least int
	}{
		{"max_iterations", s.MaxIterations, 1},
		{"no_progress_limit", s.NoProgressLimit, 0},
		{"alternation_limit", s.AlternationLimit, 0},
		{"near_identical_limit", s.NearIdenticalLimit, 0},
		{"repeated_error_limit", s.RepeatedErrorLimit, 0},
		{"error_limit", s.ErrorLimit, 0},
		{"continuation_limit", s.ContinuationLimit, 0},
		{"same_steps_limit", s.SameStepsLimit, 0},
		{"budget.calls", s.Budget.Calls, 0},
		{"budget.tokens", s.Budget.Tokens, 0},
	} {
		if l.value < l.least {
			add(l.field, "%d is not allowed; use %d or more", l.value, l.least)
		}
	}
	if s.AlternationLimit == 1 {
		add("alternation_limit", "1 is not allowed, as any two answers are a cycle that came once; use 2 or more, or 0 for off")
	}
	if s.Timeout < 0 {
		add("timeout", "%s is negative; use 0s for off", s.Timeout)
	}
	if s.CallTimeout < 0 {
		add("call_timeout", "%s is negative; use 0s for off", s.CallTimeout)
	}
	s.validateCost(add)
	s.validateBreaker(add)
}

func (s *Settings) validateCost(add func(field, format string, args ...any)) {
	cost := s.Budget.Cost
	switch known := cost.Currency == quantity.EUR || cost.Currency == quantity.USD; {
	case cost.IsZero():
	case !known:
		add("budget.cost", "%s is in an unknown currency; use EUR or USD", cost)
	case math.IsNaN(cost.Amount) || cost.Amount <= 0:
		add("budget.cost", "%s is not allowed; use more than 0, or leave it out for no cap", cost)
	}
}

func (s *Settings) validateBreaker(add func(field, format string, args ...any)) {
	b := s.Breaker
	if b == nil {
		return
	}
	if b.Failures < 1 {
		add("breaker.failures", "%d is not allowed; use 1 or more", b.Failures)
	}
	if b.Cooldown <= 0 {
		add("breaker.cooldown", "%s is not allowed; use more than 0s", b.Cooldown)
	}
	if b.MaxOpens < 0 {
		add("breaker.max_opens", "%d is not allowed; use 0 or more", b.MaxOpens)
	}
}
