package audit

import (
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/stat"
)

// Group sums up calls: all calls, or the calls of one purpose or one step.
type Group struct {
	Name string `json:"name"`
	// Calls is the number of calls that were begun, including attempts and repeats.
	Calls    int            `json:"calls"`
	Outcomes outcomes       `json:"outcomes"`
	Tokens   tokenUsage     `json:"tokens"`
	Cost     Cost           `json:"cost"`
	Latency  latencySummary `json:"latency"`
}

// outcomes counts calls by outcome.
type outcomes struct {
	Accepted int `json:"accepted"`
	Rejected int `json:"rejected"`
	Broken   int `json:"broken"`
	Lost     int `json:"lost"`
	Begun    int `json:"begun"` // no outcome yet
}

// tokenUsage sums the tokens of answered calls: Counted over all of them, and Reported over those
// for which the backend reported usage.
type tokenUsage struct {
	Counted  tokenSums `json:"counted"`
	Reported tokenSums `json:"reported"`
	// Billed sums the tokens that determine the cost, over calls with a known cost.
	Billed tokenSums `json:"billed"`
	// Difference is the reported minus the counted tokens, over the Compared calls with reported
	// usage. Differ of them have a difference, and for Unexplained it exceeds what the framing
	// of messages explains.
	Difference  tokenSums `json:"difference"`
	Compared    int       `json:"compared"`
	Differ      int       `json:"differ"`
	Unexplained int       `json:"unexplained"`
	// Unreported is the number of answered calls without reported usage.
	Unreported int `json:"unreported"`
}

// tokenSums are sums of tokens. Input includes cached tokens.
type tokenSums struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Cost is an amount in the currency of the audit.
type Cost struct {
	// Amount is nil if the cost of any call is unknown.
	Amount *float64 `json:"amount"`
	// AtLeast is the sum of the known costs, and Unknown the number of calls with unknown costs,
	// such as lost calls.
	AtLeast float64 `json:"at_least"`
	Unknown int     `json:"unknown"`
}

// latencySummary summarizes the latency of answered calls in seconds; without calls the figures
// are nil. P50 and P95 are quantiles of type 7 (see stat.Quantile).
type latencySummary struct {
	N    int      `json:"n"`
	Mean *float64 `json:"mean"`
	P50  *float64 `json:"p50"`
	P95  *float64 `json:"p95"`
	Max  *float64 `json:"max"`
	// Interval is the confidence interval of the mean; nil if N is too small.
	Interval *stat.Interval `json:"interval,omitempty"`
}

// Rate is a share of calls.
type Rate struct {
	Hits int `json:"hits"`
	Of   int `json:"of"`
	// Value is nil for 0 of 0.
	Value    *float64       `json:"value"`
	Interval *stat.Interval `json:"interval,omitempty"`
}

func rate(hits, of int) Rate {
	s := stat.Proportion(hits, of, stat.Level)
	r := Rate{Hits: hits, Of: of, Interval: s.Interval}
	if of > 0 {
		r.Value = &s.Value
	}
	return r
}

// answered reports whether the model answered a call.
func answered(c session.Call) bool {
	return c.Outcome == session.Accepted || c.Outcome == session.Rejected
}

// amount returns the cost of a call in the currency of the audit, or nil if it is unknown.
func amount(c session.Call, o Options) *float64 {
	if c.Cost == nil {
		return nil
	}
	cost := *c.Cost
	if o.Price != nil {
		if priced, ok := o.Price(c.Model, c.Billed()); ok {
			cost = priced
		}
	}
	v, ok := cost.In(o.Currency, o.EURPerUSD)
	if !ok {
		return nil
	}
	return &v
}

func input(u llm.Usage) int { return u.Input + u.CachedInput + u.CacheWrite }

// group sums up calls.
func group(name string, list []ledgerCall) Group {
	g := Group{Name: name, Calls: len(list)}
	var latency stat.Durations
	for _, c := range list {
		g.Outcomes.add(c.Outcome)
		g.Cost.add(c.Amount)
		if c.Amount != nil {
			g.Tokens.Billed = g.Tokens.Billed.plus(c.Billed)
		}
		if answered(c.Call) {
			g.Tokens.add(c)
			latency.Add(c.Latency.Seconds())
		}
	}
	g.Cost.close()
	g.Latency = summary(&latency)
	return g
}

func (o *outcomes) add(outcome session.Outcome) {
	switch outcome {
	case session.Accepted:
		o.Accepted++
	case session.Rejected:
		o.Rejected++
	case session.Broken:
		o.Broken++
	case session.Lost:
		o.Lost++
	case session.Begun:
		o.Begun++
	}
}

func (t *tokenUsage) add(c ledgerCall) {
	t.Counted.Input += input(c.Counted)
	t.Counted.Output += c.Counted.Output
	if c.Reported == nil {
		t.Unreported++
		return
	}
	t.Reported.Input += input(*c.Reported)
	t.Reported.Output += c.Reported.Output
	t.Compared++
	t.Difference = t.Difference.plus(*c.Difference)
	if *c.Difference != (tokenSums{}) {
		t.Differ++
	}
	if c.Unexplained {
		t.Unexplained++
	}
}

func (s tokenSums) plus(other tokenSums) tokenSums {
	return tokenSums{s.Input + other.Input, s.Output + other.Output}
}

func sums(u llm.Usage) tokenSums { return tokenSums{Input: input(u), Output: u.Output} }

// difference returns the reported minus the counted tokens of a call.
func difference(c session.Call) *tokenSums {
	if c.Reported == nil {
		return nil
	}
	return &tokenSums{Input: input(*c.Reported) - input(c.Counted), Output: c.Reported.Output - c.Counted.Output}
}

func (c *Cost) add(amount *float64) {
	if amount == nil {
		c.Unknown++
		return
	}
	c.AtLeast += *amount
}

func (c *Cost) close() {
	if c.Unknown == 0 {
		total := c.AtLeast
		c.Amount = &total
	}
}

func summary(d *stat.Durations) latencySummary {
	l := latencySummary{N: d.N()}
	if l.N == 0 {
		return l
	}
	mean := d.Mean(stat.Level)
	q := d.Quantiles(stat.Level, 0.5, 0.95)
	longest := d.Max()
	l.Mean, l.P50, l.P95, l.Max, l.Interval = &mean.Value, &q[0].Value, &q[1].Value, &longest, mean.Interval
	return l
}

// addUp fills in the fields that are computed from the ledger.
func (a *Audit) addUp(d Data) {
	a.Total = group("all", a.Calls)
	for _, p := range session.Purposes() {
		a.Purposes = append(a.Purposes, group(string(p), where(a.Calls, func(c ledgerCall) bool { return c.Purpose == p })))
	}
	for _, s := range session.Steps() {
		a.Steps = append(a.Steps, step(s, d, where(a.Calls, func(c ledgerCall) bool { return c.Step == s })))
	}
	o := a.Total.Outcomes
	a.Rejected = rate(o.Rejected, o.Accepted+o.Rejected)
	a.Broken = rate(o.Broken, o.Accepted+o.Rejected+o.Broken)
	a.Trimmed = rate(len(where(a.Calls, func(c ledgerCall) bool { return c.Trimmed > 0 })), len(a.Calls))
	a.Repeated, a.Warnings = []Repeat{}, []textWarning{}
	for _, c := range a.Calls {
		if c.Repeats > 0 {
			a.Repeated = append(a.Repeated, Repeat{Call: c.N, Repeats: c.Repeats, Purpose: c.Purpose, Step: c.Step})
		}
		for _, w := range c.Warnings {
			a.Warnings = append(a.Warnings, textWarning{Call: c.N, Purpose: c.Purpose, Step: c.Step, Text: w})
		}
	}
	a.Prompts = used(a.Calls, func(c ledgerCall) string { return c.Prompt })
	a.Models = used(a.Calls, func(c ledgerCall) string { return c.Model })
}

func where(list []ledgerCall, keep func(ledgerCall) bool) []ledgerCall {
	var out []ledgerCall
	for _, c := range list {
		if keep(c) {
			out = append(out, c)
		}
	}
	return out
}

// used lists the distinct names with their numbers of calls.
func used(list []ledgerCall, name func(ledgerCall) string) []Used {
	out := []Used{}
	for _, c := range list {
		if name(c) == "" {
			continue
		}
		i := slices.IndexFunc(out, func(u Used) bool { return u.Name == name(c) })
		if i < 0 {
			i, out = len(out), append(out, Used{Name: name(c)})
		}
		out[i].Calls++
	}
	return out
}

func step(s session.Step, d Data, list []ledgerCall) stepSummary {
	out := stepSummary{Step: s, Block: s.Block(), Part: s.Part(), Group: group(string(s), list)}
	for _, m := range d.Messages {
		if m.Step == s {
			out.span(m.At)
		}
	}
	for _, q := range d.Queues {
		if q.Step == s {
			out.Questions = len(q.Questions)
		}
	}
	for _, answer := range d.Answers {
		if answer.Step == s && answer.Index != session.Reflection {
			out.Answers++
		}
	}
	return out
}

// span extends the time of a step to t.
func (s *stepSummary) span(t time.Time) {
	t = t.UTC()
	if s.Began.IsZero() || t.Before(s.Began) {
		s.Began = t
	}
	if t.After(s.Ended) {
		s.Ended = t
	}
}
