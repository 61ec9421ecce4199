package measure

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/stat"
)

// Trial measures a trial of a scenario. It is pure. Timings are used only if the scenario ran
// in real time; those of other trials are ignored.
func Trial(sc record.Scenario, tr record.Trial, timings []record.Timing, extensions []Extension) Facts {
	f := Facts{
		Run: RunFacts{
			Status:     tr.End.Status,
			ExitCode:   tr.End.ExitCode,
			Iterations: tr.End.Iterations,
			Writes:     tr.End.Writes,
			Text:       tr.End.Text,
			Summary:    tr.End.Summary,
			Details:    tr.End.Details,
			Silent:     tr.End.Silent,
			Error:      tr.End.HarnessError,
			AgentError: tr.End.AgentError,
			Skipped:    tr.End.Skipped,
			Perturbed:  perturbed(&tr),
			Struck:     struck(&tr),
			Cause:      cause(&tr),
			Resumed:    resumed(&tr),
			Denied:     denied(&tr),
			Hidden:     hiddenFailures(&tr),
			Violations: violations(&tr),
		},
		Calls:  callFacts(&tr),
		Tokens: tokenFacts(tr.Calls),
		Cost:   costFacts(&sc, tr.Calls),
		Script: scriptFacts(&tr),
		Scores: scoreFacts(&tr),
		Turns:  turnFacts(&tr),
		MCP:    toolFacts(&tr),
		User:   userFacts(&sc, &tr),
		Checks: checkFacts(&sc, &tr, timings, extensions),
		Files:  fileFacts(&tr),
		Last:   lastCall(&tr),
		Log:    logFact(&tr),
	}
	f.Run.Recalled, f.Run.Forgot = recalledTurns(&tr)
	f.Snapshots = snapshotFacts(&sc, &tr, f.Turns)
	latencies := make([]float64, 0, len(tr.Calls))
	if sc.RealTime {
		latencies = f.Run.readTimings(tr.Head, timings, latencies)
	} else {
		f.Run.Duration, f.Run.DurationKnown = tr.End.Duration.Seconds(), true
		for i := range tr.Calls {
			if c := &tr.Calls[i]; returned(c) {
				latencies = append(latencies, c.Latency.Seconds())
			}
		}
	}
	f.Latency = latencyFacts(latencies)
	f.readGolden(tr.Head.Golden, extensions)
	f.Events = make([]event.Event, len(tr.Events))
	for i := range tr.Events {
		f.Events[i] = tr.Events[i].Event
	}
	for i := range tr.Calls {
		if m, ok := tr.Message(tr.Calls[i].Reply); ok {
			f.Answers = append(f.Answers, m.Content)
		}
	}
	for i := range extensions {
		if i == 0 {
			f.Extensions = make(map[string]any, len(extensions))
		}
		f.Extensions[extensions[i].Name] = extensions[i].Of(&sc, &tr, &f)
	}
	return f
}

// denied returns the refused tool calls that turns and iterations report.
func denied(tr *record.Trial) (all []string) {
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if turn, ok := event.Read[record.Turn](e); ok && turn.Denied != "" {
			all = append(all, turn.Denied)
		}
		if iteration, ok := event.Read[record.Iteration](e); ok && iteration.Denied != "" {
			all = append(all, iteration.Denied)
		}
	}
	return all
}

// violations returns the invariant violations that the driver reported.
func violations(tr *record.Trial) (all []string) {
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if v, ok := event.Read[record.Violation](e); ok && !v.Kept {
			all = append(all, e.Detail)
		}
	}
	return all
}

// scoreFacts returns the scores of the last answer.
func scoreFacts(tr *record.Trial) map[string]bool {
	var all map[string]bool
	for i := range tr.Events {
		score, ok := event.Read[record.Score](&tr.Events[i].Event)
		if !ok || score.Name == "" {
			continue
		}
		if all == nil {
			all = map[string]bool{}
		}
		all[score.Name] = score.Pass
	}
	return all
}

// perturbed counts the injected failures.
func perturbed(tr *record.Trial) (n int) {
	for i := range tr.Exchanges {
		if tr.Exchanges[i].Fired {
			n++
		}
	}
	for i := range tr.Script.Storage {
		if tr.Script.Storage[i].Fired {
			n++
		}
	}
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if c, ok := event.Read[record.ToolCall](e); is[record.Perturbed](e) || ok && c.Fault != "" {
			n++
		}
	}
	return n
}

// struck counts the injected failures of writes and turns, by their text forms.
func struck(tr *record.Trial) (by map[string]int) {
	for i := range tr.Events {
		if e := &tr.Events[i].Event; is[record.Perturbed](e) {
			Increment(&by, e.Detail)
		}
	}
	return by
}

// cause returns the kind of error that the run ended with.
func cause(tr *record.Trial) string {
	if tr.End.ExitCode == 0 || len(tr.Calls) == 0 {
		return ""
	}
	last := tr.Calls[len(tr.Calls)-1].Error
	if last == nil || last.Kind == record.Cancelled {
		return ""
	}
	return string(last.Kind)
}

// resumed returns the status with which the run ended after it was resumed.
func resumed(tr *record.Trial) (status string) {
	for i := range tr.Events {
		if end, ok := event.Read[record.Resumed](&tr.Events[i].Event); ok {
			status = end.Status
		}
	}
	return status
}

// readGolden reads the facts of the unperturbed run from the trial's head. Unreadable facts
// are an error of the run, since the trial cannot be compared without them.
func (f *Facts) readGolden(recorded json.RawMessage, extensions []Extension) {
	if recorded == nil {
		return
	}
	err := json.Unmarshal(recorded, &f.Golden)
	if err == nil {
		err = f.Golden.decode(extensions)
	}
	if err != nil && f.Run.Error == "" {
		f.Run.Error = "the recorded facts of the golden run cannot be read: " + err.Error()
	}
}

// returned reports whether a call returned. A call that had not returned when the trial ended
// was recorded as cancelled with a latency of 0.
func returned(c *record.Call) bool {
	return c.Error == nil || c.Error.Kind != record.Cancelled || c.Latency > 0
}

// readTimings sets the duration from the trial's timings, and appends the latencies in the
// order of the calls.
func (r *RunFacts) readTimings(head record.TrialHead, timings []record.Timing, latencies []float64) []float64 {
	var calls []record.Timing
	for _, t := range timings {
		switch {
		case t.Trial != head.N || t.Scenario != head.Scenario:
		case t.Call == 0:
			r.Duration, r.DurationKnown = t.Latency.Seconds(), true
		default:
			calls = append(calls, t)
		}
	}
	slices.SortStableFunc(calls, func(a, b record.Timing) int { return cmp.Compare(a.Call, b.Call) })
	for _, t := range calls {
		latencies = append(latencies, t.Latency.Seconds())
	}
	return latencies
}

func callFacts(tr *record.Trial) CallFacts {
	f := CallFacts{Total: len(tr.Calls), InARow: inARow(tr.Exchanges)}
	for i := range tr.Exchanges {
		if tr.Exchanges[i].Retry {
			f.Retries++
		}
		if tr.Exchanges[i].Early {
			f.EarlyRetries++
		}
	}
	for i := range tr.Script.Storage {
		if tr.Script.Storage[i].Early {
			f.EarlyRetries++
		}
	}
	for i := range tr.Calls {
		c := &tr.Calls[i]
		Increment(&f.By, c.Purpose)
		f.LastError = ""
		if c.Error != nil {
			f.Failed++
			f.LastError = string(c.Error.Kind)
			Increment(&f.Errors, f.LastError)
		} else {
			f.Finish = string(c.Finish)
		}
		f.Retries += len(c.Retries)
		for _, r := range c.Retries {
			Increment(&f.Errors, string(r.Kind))
		}
	}
	return f
}

// usable reports whether a usage can be counted: it is not nil, and no count is negative.
func usable(u *llm.Usage) bool {
	return u != nil && min(u.Input, u.CachedInput, u.CacheWrite, u.Output, u.Reasoning) >= 0
}

func tokenFacts(calls []record.Call) TokenFacts {
	f := TokenFacts{Known: true}
	for i := range calls {
		c := &calls[i]
		if !usable(c.Usage) {
			f.Known = f.Known && c.Error != nil && c.Usage == nil
			continue
		}
		// Tokens that were written to the cache are input as well.
		f.Input += c.Usage.Input + c.Usage.CacheWrite
		f.Cached += c.Usage.CachedInput
		f.Output += c.Usage.Output
		f.Reasoning += c.Usage.Reasoning
		f.Total += c.Usage.Total()
	}
	return f
}

// costFacts adds up the cost of the calls: usage times price if both are known, else
// the cost that the backend reported. A failed call without usage counts as free;
// an answered one does not.
func costFacts(sc *record.Scenario, calls []record.Call) CostFacts {
	f := CostFacts{Known: true}
	var rate float64
	if sc.Price != nil {
		rate = sc.Price.EURPerUSD
	}
	for i := range calls {
		c := &calls[i]
		if free(c) {
			continue
		}
		spent, why := costOf(sc, c)
		if why == "" {
			why = f.add(spent, rate)
		}
		if why != "" && f.Known {
			f.Known, f.Why = false, fmt.Sprintf("call %d: %s", c.N, why)
		}
	}
	return f
}

func free(c *record.Call) bool { return c.Error != nil && c.Usage == nil && c.ReportedUSD == nil }

// CallCost returns the cost of one call of a scenario in EUR, by the rules of CostFacts,
// or the reason why it is unknown.
func CallCost(sc *record.Scenario, c *record.Call) (eur float64, why string) {
	f := callCost(sc, c)
	return f.EUR, f.Why
}

// CallCostUSD returns the cost of one call in USD, as CallCost does in EUR.
func CallCostUSD(sc *record.Scenario, c *record.Call) (usd float64, why string) {
	f := callCost(sc, c)
	return f.USD, f.Why
}

func callCost(sc *record.Scenario, c *record.Call) CostFacts {
	f := costFacts(sc, []record.Call{*c})
	_, f.Why, _ = strings.Cut(f.Why, ": ") // without the call's number
	return f
}

// costOf returns the cost of one call, or the reason why it is unknown.
func costOf(sc *record.Scenario, c *record.Call) (spent quantity.Money, why string) {
	switch {
	case !usable(c.Usage):
		why = "the backend reported no token usage"
	case sc.Price == nil:
		why = fmt.Sprintf("the price of model %q is unknown", cmp.Or(c.Model, sc.Model))
	case c.Model != "" && !price.SameModel(c.Model, sc.Model) && !price.SameModel(c.Model, sc.Price.Model):
		why = fmt.Sprintf("model %q answered, and the recorded price is that of %q", c.Model, sc.Price.Model)
	default:
		return sc.Price.Cost(*c.Usage), ""
	}
	if c.ReportedUSD != nil && *c.ReportedUSD >= 0 {
		return quantity.Money{Amount: *c.ReportedUSD, Currency: quantity.USD}, ""
	}
	return quantity.Money{}, why
}

// add adds an amount in both currencies, or returns the reason why it cannot.
func (f *CostFacts) add(m quantity.Money, eurPerUSD float64) (why string) {
	usd, okUSD := m.In(quantity.USD, eurPerUSD)
	eur, okEUR := m.In(quantity.EUR, eurPerUSD)
	f.USD += usd
	f.EUR += eur
	f.Most = max(f.Most, usd)
	if !okUSD || !okEUR {
		return fmt.Sprintf("no exchange rate is recorded for its %s", m)
	}
	return ""
}

func latencyFacts(all []float64) LatencyFacts {
	f := LatencyFacts{N: len(all), All: all}
	if f.N == 0 {
		return f
	}
	sorted := slices.Sorted(slices.Values(all))
	var m stat.Moments
	for _, x := range sorted {
		m.Add(x)
	}
	at := func(i int) float64 { return sorted[i] }
	f.Mean = m.Sum() / float64(f.N)
	f.P50 = stat.QuantileValue(f.N, at, 0.50)
	f.P95 = stat.QuantileValue(f.N, at, 0.95)
	f.Max = sorted[f.N-1]
	return f
}

func scriptFacts(tr *record.Trial) ScriptFacts {
	f := ScriptFacts{
		Requests:   len(tr.Exchanges),
		Unused:     tr.Script.Unused,
		Unexpected: tr.Script.Unexpected,
		Invalid:    tr.Script.Invalid,
		Unfired:    tr.Script.Unfired,
		Warnings:   tr.Script.Warnings,

		Strays: tr.Script.Strays, InvalidTools: tr.Script.InvalidTools, UnofferedTools: tr.Script.UnofferedTools, Perturbed: tr.Script.Perturbed,
	}
	for i := range tr.Exchanges {
		x := &tr.Exchanges[i]
		if x.Fired {
			Increment(&f.Fired, x.Fault)
		}
		if x.HungUp {
			f.HungUp++
		}
	}
	for i := range tr.Script.Storage {
		if r := &tr.Script.Storage[i]; r.Fired {
			Increment(&f.Fired, r.Fault)
		}
	}
	return f
}
