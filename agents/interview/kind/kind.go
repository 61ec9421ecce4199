// Package kind runs interviews in scenarios: the whole service behind its HTTP interface, with a
// real store and a client that follows the scenario. It also renders audits as documents.
package kind

import (
	"cmp"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/kind"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Kind returns the kind "interview".
func Kind() kind.Kind {
	return kind.Kind{
		Kind: scenarios.Kind{
			Name: "interview", Title: "an interview", Writes: true,
			Statuses:  []string{statusFinished, statusFailed, statusLeft, statusError},
			Options:   func() any { return new(Options) },
			Complete:  func(c *scenarios.Checker, _ any, sc *scenarios.Scenario) { addCast(c, &sc.Backend) },
			Check:     func(c *scenarios.Checker, opts any) { opts.(*Options).check(c) },
			CheckTurn: func(any, perturb.Perturbation) error { return nil },
		},
		Extensions: []measure.Extension{extension()},
		Invariants: invariants(),
		New:        newDriver,
	}
}

// rehearsed is an interview under test, with its persona and prompts.
type rehearsed struct {
	opts    Options
	model   string
	persona Persona
	prompts *prompt.Set
	jobs    []session.Job
}

func newDriver(sc scenarios.Scenario, env *drive.Env) (drive.Driver, error) {
	r := &rehearsed{opts: *sc.Drive.Options.(*Options), model: sc.Backend.Model}
	var err error
	if r.persona, err = LoadPersona(r.opts.Persona); err != nil {
		return nil, err
	}
	if r.prompts, err = prompt.Load(r.persona.Language); err != nil {
		return nil, err
	}
	if r.prompts, err = r.prompts.With(r.opts.Prompts); err != nil {
		return nil, err
	}
	r.jobs = prompt.ShippedJobs()
	about := r.prompts.For(shippedJob(r.persona.Language))
	if r.opts.Job != nil {
		r.jobs, about = []session.Job{*r.opts.Job}, r.prompts.For(*r.opts.Job)
	}
	service, err := r.options().WithDefaults()
	if err != nil {
		return nil, err
	}
	return drive.NewAgent(sc, env, drive.Agent{
		Limits: struct {
			Options
			Language session.Language `json:"language"`
			Prompts  string           `json:"prompts"`
			Hash     string           `json:"prompts_hash"`
			Service  inForce          `json:"in_force"`
		}{r.opts, r.persona.Language, about.Version, about.Hash, limitsOf(&service)},
		Points: r.points,
		Run:    r.run,
		Forks:  r.forks(),
	})
}

// inForce are the limits of the service that apply, whether a scenario sets them or not.
type inForce struct {
	CallTimeout       quantity.Duration `json:"call_timeout"`
	Backoff           quantity.Duration `json:"backoff"`
	TransportRetries  int               `json:"transport_retries"`
	ValidationRetries int               `json:"validation_retries"`
	HistoryMessages   int               `json:"history_messages"`
	HistoryTokens     int               `json:"history_tokens"`
	MaxCalls          int               `json:"max_calls"`
	MaxCostEUR        float64           `json:"max_cost_eur"`
	MaxRetries        int               `json:"max_retries"`
}

func limitsOf(o *interview.Options) inForce {
	return inForce{
		CallTimeout: quantity.Duration(o.CallTimeout), Backoff: quantity.Duration(o.Backoff),
		TransportRetries: o.TransportRetries, ValidationRetries: o.ValidationRetries,
		HistoryMessages: o.History.Messages, HistoryTokens: o.History.Tokens,
		MaxCalls: o.MaxCalls, MaxCostEUR: o.MaxCost, MaxRetries: o.MaxRetries,
	}
}

// points sets the perturbation points: every commit is a write, every submission a turn.
func (r *rehearsed) points(p *drive.Points) {
	p.NoWrites, p.NoTurns = "", ""
	call := cmp.Or(r.opts.CallTimeout.Std(), interview.DefaultCallTimeout)
	p.Timeouts = map[string]time.Duration{"call_timeout": call}
	if r.opts.TransportRetries == nil {
		p.Attempts *= 1 + interview.DefaultTransportRetries
	} else {
		p.Attempts *= 1 + *r.opts.TransportRetries
	}
	p.Attempts *= 1 + r.opts.Retries
}
