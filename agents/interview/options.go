package interview

import (
	"cmp"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/llm"
)

// Options configures a Service. The zero value is usable.
type Options struct {
	// Model is the model to call; empty means the default of the backend.
	Model string
	// CallTimeout limits each call; default 60 s.
	CallTimeout time.Duration
	// TransportRetries and ValidationRetries are the numbers of retries for one message
	// after failed calls, and after texts that do not validate; default 2 and 1, and -1
	// means none.
	TransportRetries, ValidationRetries int
	// Backoff is the wait before the first retry of a failed call; default 1 s. It doubles
	// with each retry, up to 30 s. If the backend asks for a longer wait, that is used; if
	// it asks for more than 30 s, the call is not retried.
	Backoff time.Duration
	// History limits the history in a request.
	History prompt.Limits
	// MaxAnswer is the maximum length of an answer in bytes; default 64 KiB.
	MaxAnswer int
	// MaxCalls, MaxCost (in EUR) and MaxRetries limit one session: its calls, whatever their
	// outcome, their cost, and the number of times that the candidate may ask for an owed
	// message. The call that reaches MaxCost is finished and paid. Default 150, 1 EUR and
	// 30; -1 means no limit.
	MaxCalls   int
	MaxCost    float64
	MaxRetries int
	// PerDay limits all sessions of the store together, and PerAddress those calls that
	// submissions of one address cause; both for one day in UTC. The calls in progress when a
	// limit is reached are finished and paid.
	PerDay, PerAddress Budget
	// AddressKey is the key with which addresses are hashed before they are stored; required for
	// PerAddress. Servers of one store need the same one.
	AddressKey string
	// RequireInvitation refuses to begin interviews without an invitation.
	RequireInvitation bool
	// EURPerUSD converts prices for the limits; without it one USD counts as one EUR.
	EURPerUSD float64
	// Instance names this server; default a random name. A server that restarts under the
	// same name resumes its unfinished calls at once; others wait for the claim to end. Two
	// running servers must not share a name.
	Instance string
}

// Budget limits calls and their cost in EUR; 0 means no limit.
type Budget struct {
	Calls int
	Cost  float64
}

func (b Budget) valid() bool { return b.Calls >= 0 && b.Cost >= 0 }

// maxBackoff is the maximum wait between two attempts at one message.
const maxBackoff = 30 * time.Second

// The defaults of Options.CallTimeout and Options.TransportRetries.
const (
	DefaultCallTimeout      = time.Minute
	DefaultTransportRetries = 2
)

// The defaults of the limits of a session. The golden path takes 24 calls and
// about 0.09 EUR.
const (
	DefaultMaxCalls   = 150
	DefaultMaxCost    = 1.0
	DefaultMaxRetries = 30
)

// WithDefaults validates the options and fills in the defaults, once.
func (o Options) WithDefaults() (Options, error) {
	if o.CallTimeout < 0 || o.Backoff < 0 || o.MaxAnswer < 0 || o.TransportRetries < -1 || o.ValidationRetries < -1 {
		return o, fmt.Errorf("call timeout %s, backoff %s, maximum answer %d, retries %d and %d "+
			"must not be negative, except -1 for no retries",
			o.CallTimeout, o.Backoff, o.MaxAnswer, o.TransportRetries, o.ValidationRetries)
	}
	if o.MaxCalls < -1 || o.MaxRetries < -1 || o.MaxCost < 0 && o.MaxCost != -1 || math.IsNaN(o.MaxCost) || o.EURPerUSD < 0 {
		return o, fmt.Errorf("limits of a session: %d calls, %g EUR, %d retries, %g EUR per USD "+
			"must not be negative, except -1 for no limit", o.MaxCalls, o.MaxCost, o.MaxRetries, o.EURPerUSD)
	}
	if !o.PerDay.valid() || !o.PerAddress.valid() {
		return o, fmt.Errorf("limits of a day: %+v in total and %+v for each address must not be negative", o.PerDay, o.PerAddress)
	}
	if o.PerAddress != (Budget{}) && o.AddressKey == "" {
		return o, errors.New("limits of an address need a key for its hash")
	}
	o.MaxCalls = cmp.Or(o.MaxCalls, DefaultMaxCalls)
	o.MaxCost = cmp.Or(o.MaxCost, DefaultMaxCost)
	o.MaxRetries = cmp.Or(o.MaxRetries, DefaultMaxRetries)
	o.CallTimeout = cmp.Or(o.CallTimeout, DefaultCallTimeout)
	o.Backoff = cmp.Or(o.Backoff, time.Second)
	o.MaxAnswer = cmp.Or(o.MaxAnswer, 64<<10)
	o.History = o.History.WithDefaults()
	o.Instance = cmp.Or(o.Instance, rand.Text())
	o.TransportRetries = max(0, cmp.Or(o.TransportRetries, DefaultTransportRetries))
	o.ValidationRetries = max(0, cmp.Or(o.ValidationRetries, 1))
	return o, nil
}

// Deps are the dependencies of a Service. Store, Backend and Clock are required.
type Deps struct {
	// Store stores the interviews. It has to limit the time of its operations itself: their
	// context has no deadline, so that a disconnected client cannot interrupt a step.
	Store   session.Store
	Backend llm.Backend
	Clock   clock.Clock
	// Prompts replace the shipped ones, each in its language.
	Prompts []*prompt.Set
	// Jobs are the jobs that interviews may be about; default the shipped one. No two have the
	// same id and language.
	Jobs []session.Job
	// Sink receives the events, and Log lines for operators, without any text of the interview.
	// Both may be nil.
	Sink event.Sink
	Log  *slog.Logger
	// Count returns the number of tokens of a text for a model; nil counts none. It should
	// cache, because the texts of the prompts recur.
	Count func(model, text string) int
	// Check validates a text; default validate.Check. Another one must agree with it: rehearsals, in which the same texts
	// recur, pass one that remembers results.
	Check func(text string, want validate.Expected) validate.Result
	// Price returns the cost of usage; without it costs are unknown.
	Price llm.Pricer
	// Submissions counts the submissions for the numbers of their events; nil counts from 0.
	Submissions *atomic.Int64
	// NewID returns an id for a session: letters, digits, ".", "_" and "-". The default
	// returns random ids of 128 bits, which cannot be guessed.
	NewID func() string
}

// withDefaults fills in the optional fields, and fails if a required one is missing.
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
	if d.Check == nil {
		d.Check = validate.Check
	}
	if d.Submissions == nil {
		d.Submissions = new(atomic.Int64)
	}
	if d.NewID == nil {
		d.NewID = rand.Text
	}
	if len(d.Jobs) == 0 {
		d.Jobs = prompt.ShippedJobs()
	}
	for i, j := range d.Jobs {
		if slices.ContainsFunc(d.Jobs[:i], func(other session.Job) bool { return other.ID == j.ID && other.Language == j.Language }) {
			return d, fmt.Errorf("two jobs have the id %q and the language %s", j.ID, j.Language)
		}
	}
	return d, nil
}
