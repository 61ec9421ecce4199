package loop

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
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
	Contract           string            `json:"contract,omitempty"` // the text; empty: none
	Language           Language          `json:"language,omitempty"` // empty: English
	MaxIterations      int               `json:"max_iterations"`
	Timeout            quantity.Duration `json:"timeout"`
	CallTimeout        quantity.Duration `json:"call_timeout"`
	IdleTimeout        quantity.Duration `json:"idle_timeout,omitzero"`
	MaxTurns           int               `json:"max_turns"`
	DenialLimit        int               `json:"denial_limit"`
	FailureLimit       int               `json:"failure_limit"`
	NoProgressLimit    int               `json:"no_progress_limit"`
	AlternationLimit   int               `json:"alternation_limit"`
	NearIdenticalLimit int               `json:"near_identical_limit"`
	UnchangedLimit     int               `json:"unchanged_limit,omitempty"`
	RepeatedErrorLimit int               `json:"repeated_error_limit"`
	ErrorLimit         int               `json:"error_limit"`
	Backoff            quantity.Duration `json:"backoff,omitzero"`
	WaitForLimits      bool              `json:"wait_for_limits,omitempty"`
	StopGuard          stop.Policy       `json:"stop_guard"`
	ContinuationLimit  int               `json:"continuation_limit"`
	Checks             []string          `json:"checks,omitempty"`
	CheckTimeout       quantity.Duration `json:"check_timeout,omitzero"`
	CheckLimit         int               `json:"check_limit,omitempty"`
	Todos              TodoMode          `json:"todos,omitempty"`
	SameStepsLimit     int               `json:"same_steps_limit,omitempty"`
	Budget             llm.Caps          `json:"budget,omitzero"`
	Breaker            *BreakerOptions   `json:"breaker,omitempty"` // nil: off
}

// Defaults returns the default settings. They lack a prompt.
func Defaults() Settings { return withDefaults(Options{}) }

// FailFast merges options with those of a caller that handles failed calls by itself: ErrorLimit is 1, or 0
// with a breaker or RepeatedErrorLimit, and there is no backoff and no idle timeout unless they are given.
func FailFast(sources ...Options) Options {
	var o Options
	for _, next := range sources {
		o = o.or(next)
	}
	usual := Options{Backoff: new(quantity.Duration), IdleTimeout: new(quantity.Duration), ErrorLimit: new(1)}
	if o.Breaker != nil || valueOr(o.RepeatedErrorLimit, 0) > 0 {
		usual.ErrorLimit = nil
	}
	return o.or(usual)
}

// Resolve merges options in their order of precedence, such as those of a command line and those of a
// configuration file, and then the defaults. It returns all invalid fields at once, as FieldErrors.
func Resolve(sources ...Options) (Settings, error) {
	var o Options
	for _, next := range sources {
		o = o.or(next)
	}
	s := withDefaults(o)
	if err := s.validate(); err != nil {
		return Settings{}, err
	}
	return s, nil
}

// or returns o with the fields of next where it has none. Budget and Breaker are merged by their fields.
func (o Options) or(next Options) Options {
	out, other := reflect.ValueOf(&o).Elem(), reflect.ValueOf(next)
	budget, breaker := mergeBudget(o.Budget, next.Budget), mergeBreaker(o.Breaker, next.Breaker)
	for i := range out.NumField() {
		if out.Field(i).IsZero() {
			out.Field(i).Set(other.Field(i))
		}
	}
	o.Budget, o.Breaker = budget, breaker
	return o
}

func withDefaults(o Options) Settings {
	s := Settings{
		Prompt:             o.Prompt,
		System:             o.System,
		Backend:            cmp.Or(o.Backend, "copilot"),
		Model:              o.Model,
		Stream:             valueOr(o.Stream, false),
		Mode:               cmp.Or(o.Mode, Marker),
		Marker:             cmp.Or(o.Marker, "DONE"),
		BlockedMarker:      cmp.Or(o.BlockedMarker, "BLOCKED:"),
		History:            o.History,
		Contract:           cmp.Or(o.Contract, AutoContract),
		Language:           o.Language,
		MaxIterations:      valueOr(o.MaxIterations, 10),
		Timeout:            valueOr(o.Timeout, 0),
		CallTimeout:        valueOr(o.CallTimeout, 0),
		IdleTimeout:        valueOr(o.IdleTimeout, quantity.Duration(10*time.Minute)),
		Backoff:            valueOr(o.Backoff, quantity.Duration(5*time.Second)),
		WaitForLimits:      valueOr(o.WaitForLimits, false),
		MaxTurns:           valueOr(o.MaxTurns, 500),
		DenialLimit:        valueOr(o.DenialLimit, 10),
		FailureLimit:       valueOr(o.FailureLimit, 25),
		NoProgressLimit:    valueOr(o.NoProgressLimit, 3),
		AlternationLimit:   valueOr(o.AlternationLimit, 0),
		NearIdenticalLimit: valueOr(o.NearIdenticalLimit, 0),
		UnchangedLimit:     valueOr(o.UnchangedLimit, 5),
		RepeatedErrorLimit: valueOr(o.RepeatedErrorLimit, 0),
		StopGuard:          cmp.Or(o.StopGuard, GuardOff),
		ContinuationLimit:  valueOr(o.ContinuationLimit, 3),
		Checks:             o.Checks,
		CheckTimeout:       valueOr(o.CheckTimeout, quantity.Duration(10*time.Minute)),
		CheckLimit:         valueOr(o.CheckLimit, 5),
		Todos:              o.Todos,
		SameStepsLimit:     valueOr(o.SameStepsLimit, 0),
		Budget:             valueOr(o.Budget, llm.Caps{}),
		Breaker:            o.Breaker,
	}
	if len(s.Checks) == 0 {
		s.CheckTimeout, s.CheckLimit = valueOr(o.CheckTimeout, 0), valueOr(o.CheckLimit, 0)
	}
	errorLimit := 3
	if s.Breaker != nil || s.RepeatedErrorLimit > 0 {
		errorLimit = 0
	}
	s.ErrorLimit = valueOr(o.ErrorLimit, errorLimit)
	contract, goOn := s.resolveContract()
	s.Contract, s.ContinuePrompt = contract, cmp.Or(o.ContinuePrompt, goOn)
	return s
}

// mergeBudget returns nil if both are nil.
func mergeBudget(option, file *llm.Caps) *llm.Caps {
	if option == nil && file == nil {
		return nil
	}
	o, f := valueOr(option, llm.Caps{}), valueOr(file, llm.Caps{})
	return &llm.Caps{
		Calls:  cmp.Or(o.Calls, f.Calls),
		Tokens: cmp.Or(o.Tokens, f.Tokens),
		Cost:   cmp.Or(o.Cost, f.Cost),
	}
}

// mergeBreaker returns nil if both are nil.
func mergeBreaker(option, file *BreakerOptions) *BreakerOptions {
	if option == nil && file == nil {
		return nil
	}
	o, f := valueOr(option, BreakerOptions{}), valueOr(file, BreakerOptions{})
	return &BreakerOptions{
		Failures: cmp.Or(o.Failures, f.Failures),
		Cooldown: cmp.Or(o.Cooldown, f.Cooldown),
		MaxOpens: cmp.Or(o.MaxOpens, f.MaxOpens),
	}
}

// history returns the kind of history for a backend.
func (s *Settings) history(conversational bool) History {
	if s.History == "" && conversational {
		return Conversation
	}
	return cmp.Or(s.History, InSession)
}

// valueOr returns the value of p, or usual if it is nil.
func valueOr[T any](p *T, usual T) T {
	if p == nil {
		return usual
	}
	return *p
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
	if s.Language != "" && s.Language != English && s.Language != French {
		add("language", `%q is not a language of the instructions; use "en" or "fr"`, s.Language)
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
		{"max_turns", s.MaxTurns, 0},
		{"denial_limit", s.DenialLimit, 0},
		{"failure_limit", s.FailureLimit, 0},
		{"no_progress_limit", s.NoProgressLimit, 0},
		{"alternation_limit", s.AlternationLimit, 0},
		{"near_identical_limit", s.NearIdenticalLimit, 0},
		{"unchanged_limit", s.UnchangedLimit, 0},
		{"repeated_error_limit", s.RepeatedErrorLimit, 0},
		{"error_limit", s.ErrorLimit, 0},
		{"continuation_limit", s.ContinuationLimit, 0},
		{"same_steps_limit", s.SameStepsLimit, 0},
		{"check_limit", s.CheckLimit, 0},
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
	for _, l := range []struct {
		field string
		value quantity.Duration
	}{
		{"timeout", s.Timeout},
		{"call_timeout", s.CallTimeout},
		{"idle_timeout", s.IdleTimeout},
		{"check_timeout", s.CheckTimeout},
		{"backoff", s.Backoff},
	} {
		if l.value < 0 {
			add(l.field, "%s is negative; use 0s for off", l.value)
		}
	}
	for i, command := range s.Checks {
		if strings.TrimSpace(command) == "" || strings.ContainsRune(command, 0) {
			add(fmt.Sprintf("checks[%d]", i), "%q is not a command", command)
		}
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
