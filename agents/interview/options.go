package interview

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Options configures a Service. The zero value is usable.
type Options struct {
	// Model is the model to ask; empty means the backend's default.
	Model string
	// CallTimeout is for each call; default 60 s.
	CallTimeout time.Duration
	// TransportRetries and ValidationRetries are how often one message is tried
	// again after a failed call, and after a text that does not validate; default
	// 2 and 1, and -1 means never.
	TransportRetries, ValidationRetries int
	// Backoff is the wait before the first retry of a failed call; it doubles, to
	// at most 30 s; default 1 s. A backend that asks for a longer wait gets it; one that
	// asks for more than 30 s has failed.
	Backoff time.Duration
	// History bounds what goes along with a request.
	History prompt.Limits
	// MaxAnswer is the longest answer in bytes; default 64 KiB.
	MaxAnswer int
	// MaxCalls, MaxCost (in EUR) and MaxRetries bound what one session may use: calls
	// of all outcomes, what they cost, and how often the candidate may ask for a
	// message that is owed. The call that is under way when MaxCost is reached is
	// finished and paid. Default 150, 1 EUR and 30; -1 means no limit.
	MaxCalls   int
	MaxCost    float64
	MaxRetries int
	// EURPerUSD converts prices for MaxCost; without it one USD counts as one EUR.
	EURPerUSD float64
	// Instance names this server. One that starts again under the same name goes
	// on at once with what it left; another waits for the claim to end. No two that
	// run at once may share it. Default: a random one.
	Instance string
}

// maxBackoff is the longest wait between two attempts at one message.
const maxBackoff = 30 * time.Second

// The defaults of Options.CallTimeout and Options.TransportRetries.
const (
	DefaultCallTimeout      = time.Minute
	DefaultTransportRetries = 2
)

// The other defaults of Options.
const (
	defaultValidationRetries = 1
	defaultBackoff           = time.Second
	defaultMaxAnswer         = 64 << 10
)

// The defaults of the limits of a session. The golden path takes 24 calls and
// about 0.09 EUR.
const (
	DefaultMaxCalls   = 150
	DefaultMaxCost    = 1.0
	DefaultMaxRetries = 30
)

// withDefaults fills in the defaults, or says what is wrong.
func (o Options) withDefaults() (Options, error) {
	if o.CallTimeout < 0 || o.Backoff < 0 || o.MaxAnswer < 0 || o.TransportRetries < -1 || o.ValidationRetries < -1 {
		return o, fmt.Errorf("call timeout %s, backoff %s, longest answer %d, retries %d and %d: "+
			"none may be negative, but for -1 retries, which means never",
			o.CallTimeout, o.Backoff, o.MaxAnswer, o.TransportRetries, o.ValidationRetries)
	}
	if o.MaxCalls < -1 || o.MaxRetries < -1 || o.MaxCost < 0 && o.MaxCost != -1 || math.IsNaN(o.MaxCost) || o.EURPerUSD < 0 {
		return o, fmt.Errorf("limits of a session: %d calls, %g EUR, %d retries, %g EUR per USD: "+
			"none may be negative, but for -1, which means no limit", o.MaxCalls, o.MaxCost, o.MaxRetries, o.EURPerUSD)
	}
	o.MaxCalls = cmp.Or(o.MaxCalls, DefaultMaxCalls)
	o.MaxCost = cmp.Or(o.MaxCost, DefaultMaxCost)
	o.MaxRetries = cmp.Or(o.MaxRetries, DefaultMaxRetries)
	if o.CallTimeout == 0 {
		o.CallTimeout = DefaultCallTimeout
	}
	if o.Backoff == 0 {
		o.Backoff = defaultBackoff
	}
	if o.MaxAnswer == 0 {
		o.MaxAnswer = defaultMaxAnswer
	}
	if o.Instance == "" {
		o.Instance = rand.Text()
	}
	o.TransportRetries = retries(o.TransportRetries, DefaultTransportRetries)
	o.ValidationRetries = retries(o.ValidationRetries, defaultValidationRetries)
	return o, nil
}

// retries reads a number of retries, where 0 is the default and -1 none.
func retries(n, byDefault int) int {
	if n == 0 {
		return byDefault
	}
	return max(n, 0)
}

// Deps is what a Service works with. Store, Backend and Clock are required.
type Deps struct {
	// Store keeps the interviews. Its operations get a context without a deadline,
	// so that a client who leaves cannot tear a step: it bounds them itself.
	Store   session.Store
	Backend llm.Backend
	Clock   clock.Clock
	// Prompts take the place of the shipped ones, each in its language.
	Prompts []*prompt.Set
	// Sink is told what is decided; Log gets the lines for operators, without a
	// word of what was said. Nil is silent.
	Sink event.Sink
	Log  *slog.Logger
	// Count counts the tokens of a text for a model; nil counts none. It should
	// remember what it counted, as the texts of prompts come again and again.
	Count func(model, text string) int
	// Price returns what usage costs; nil knows no cost.
	Price llm.Pricer
	// NewID returns an id for a session: letters, digits, ".", "_" and "-". Nil
	// makes random ones of 128 bits that nobody can guess.
	NewID func() string
}

// withDefaults fills in what is optional, or says what is missing.
func (d Deps) withDefaults() (Deps, error) {
	if d.Store == nil || d.Backend == nil || d.Clock == nil {
		return d, errors.New("an interview service needs a store, a backend and a clock")
	}
	if d.Sink == nil {
		d.Sink = event.Discard
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Count == nil {
		d.Count = func(string, string) int { return 0 }
	}
	if d.NewID == nil {
		d.NewID = rand.Text
	}
	return d, nil
}
