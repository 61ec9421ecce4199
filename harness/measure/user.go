package measure

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// UserFacts describe a conversation from the side of a simulated user; zero without one.
type UserFacts struct {
	// Persona describes the user.
	Persona string `cel:"persona" json:"persona,omitempty"`
	// Turns counts the answered messages of the user, fixed ones included.
	Turns int `cel:"turns" json:"turns,omitempty"`
	// Goals is true for each goal that was reached, false for the others.
	Goals map[string]bool `cel:"goals" json:"goals,omitempty"`
	// Outcome is how the conversation ended: reached, gave-up, turn-limit, script-ended, succeeded or
	// failed; empty if the agent ended it by failing.
	Outcome string `cel:"outcome" json:"outcome,omitempty"`
	// Reason describes the outcome.
	Reason string `cel:"reason" json:"reason,omitempty"`
	// Given counts the facts that the user revealed, Asked the agent's questions for facts, and
	// Repeated those for facts that the agent had.
	Given    int `cel:"given" json:"given,omitempty"`
	Asked    int `cel:"asked" json:"asked,omitempty"`
	Repeated int `cel:"repeated" json:"repeated,omitempty"`
	// Contradictions counts the answers that contradict a fact. They are known if any fact declares
	// what contradicts it.
	Contradictions      int  `cel:"contradictions" json:"contradictions,omitempty"`
	ContradictionsKnown bool `cel:"contradictions_known" json:"contradictions_known,omitempty"`
	// Refusals counts answers that refuse. They are known if the user declares what refuses.
	Refusals      int  `cel:"refusals" json:"refusals,omitempty"`
	RefusalsKnown bool `cel:"refusals_known" json:"refusals_known,omitempty"`
	// Silent counts empty answers.
	Silent int `cel:"silent" json:"silent,omitempty"`

	// Model describes the model that puts the messages into words. Its extension shows it to expressions.
	Model UserModelFacts `cel:"-" json:"-"`
	// Wanted and Avoided are the ids of the goals, in their order.
	Wanted  []string `cel:"-" json:"-"`
	Avoided []string `cel:"-" json:"-"`
	// At is the path of the user, and Places are those of its goals; empty in earlier recordings.
	At     string            `cel:"-" json:"-"`
	Places map[string]string `cel:"-" json:"-"`
	// Step is the path of the step that ended the conversation; empty if none did.
	Step string `cel:"-" json:"-"`
}

// UserModelFacts count the calls of the model that puts the messages of a simulated user into words. They are
// not part of the agent's calls, tokens and cost. They are zero without such a model.
type UserModelFacts struct {
	Calls  int `cel:"calls" json:"calls"`
	Failed int `cel:"failed" json:"failed,omitempty"`
	// Replaced counts texts that lacked a fact, in place of which the user's own words were sent.
	Replaced int        `cel:"replaced" json:"replaced,omitempty"`
	Tokens   TokenFacts `cel:"tokens" json:"tokens"`
	Cost     CostFacts  `cel:"cost" json:"cost"`
}

// Simulated reports whether the conversation had a simulated user.
func (f *UserFacts) Simulated() bool { return f.Persona != "" }

// CountReached returns how many of the goals were reached.
func (f *UserFacts) CountReached(goals []string) (n int) {
	for _, id := range goals {
		if f.Goals[id] {
			n++
		}
	}
	return n
}

// userFacts reads what a simulated user noticed, and how the script of the conversation ended.
func userFacts(sc *record.Scenario, tr *record.Trial) UserFacts {
	var f UserFacts
	for i := range tr.Events {
		e := &tr.Events[i].Event
		if p, ok := event.Read[record.Persona](e); ok {
			f = UserFacts{
				Persona: e.Detail, Goals: map[string]bool{}, Wanted: p.Wanted, Avoided: p.Avoided, At: p.At, Places: map[string]string{},
				ContradictionsKnown: p.Contradictions, RefusalsKnown: p.Refusals,
			}
			for _, id := range slices.Concat(p.Wanted, p.Avoided) {
				f.Goals[id] = false
			}
			for i, id := range p.Goals {
				f.Places[id] = fmt.Sprintf("%s.goals[%d]", p.At, i)
			}
		}
		if heard, ok := event.Read[record.Heard](e); ok && f.Simulated() {
			f.hear(&heard)
		}
		if end, ok := event.Read[record.UserEnd](e); ok {
			f.Outcome, f.Reason, f.Step = end.Outcome, e.Detail, end.At
		}
	}
	f.Model = userModelFacts(sc, tr)
	return f
}

func userModelFacts(sc *record.Scenario, tr *record.Trial) (f UserModelFacts) {
	if sc.User == nil {
		return f
	}
	var calls []record.Call
	for i := range tr.Events {
		e := &tr.Events[i].Event
		of, ok := event.Read[record.UserCall](e)
		if !ok {
			continue
		}
		call := record.Call{N: e.N, Model: of.Model, Usage: of.Usage}
		if of.Error != "" {
			call.Error = &record.CallError{Message: of.Error}
			f.Failed++
		}
		if len(of.Lacks) > 0 {
			f.Replaced++
		}
		calls = append(calls, call)
	}
	f.Calls, f.Tokens = len(calls), tokenFacts(calls)
	f.Cost = costFacts(&record.Scenario{Model: sc.User.Model, Price: sc.User.Price}, calls)
	return f
}

// Spent returns the calls, tokens and cost of the agent and of the model of a simulated user together.
func (f *Facts) Spent() (calls, tokens int, cost CostFacts) {
	calls, tokens, cost = f.Calls.Total, f.Tokens.Total, f.Cost
	if m := &f.User.Model; m.Calls > 0 {
		calls, tokens = calls+m.Calls, tokens+m.Tokens.Total
		cost.EUR, cost.USD, cost.Most = cost.EUR+m.Cost.EUR, cost.USD+m.Cost.USD, max(cost.Most, m.Cost.Most)
		if cost.Known && !m.Cost.Known {
			cost.Known, cost.Why = false, "the model of the simulated user: "+m.Cost.Why
		}
	}
	return calls, tokens, cost
}

func (f *UserFacts) hear(h *record.Heard) {
	f.Turns++
	f.Given += len(h.Gave)
	f.Asked += len(h.Asked)
	f.Repeated += len(h.Repeated)
	for _, id := range h.Reached {
		f.Goals[id] = true
	}
	if len(h.Contradicted) > 0 {
		f.Contradictions++
	}
	if h.Refused {
		f.Refusals++
	}
	if h.Silent {
		f.Silent++
	}
}

// CheckFacts are the facts of a conversation up to a check of its script.
type CheckFacts struct {
	// At is the path of the expression, Expr its text.
	At, Expr string
	Facts    *Facts
}

// checkFacts returns the checks of a script, each with the facts of the trial before it.
func checkFacts(sc *record.Scenario, tr *record.Trial, timings []record.Timing, extensions []Extension) (all []CheckFacts) {
	for i := range tr.Events {
		e := &tr.Events[i]
		check, ok := event.Read[record.Check](&e.Event)
		if !ok {
			continue
		}
		before := trialBefore(tr, i, &check)
		calls := slices.DeleteFunc(slices.Clone(timings), func(t record.Timing) bool { return t.Call == 0 || t.Call > len(before.Calls) })
		f := Trial(*sc, before, calls, extensions)
		all = append(all, CheckFacts{At: check.At, Expr: e.Detail, Facts: &f})
	}
	return all
}

// trialBefore returns the part of a trial before the event of a check, without other checks. What is
// only known at the end, such as unused replies and files, is empty.
func trialBefore(tr *record.Trial, i int, check *record.Check) record.Trial {
	before := *tr
	before.Head.Golden = nil
	before.Calls = tr.Calls[:min(max(check.Calls, 0), len(tr.Calls))]
	before.Exchanges = tr.Exchanges[:min(max(check.Requests, 0), len(tr.Exchanges))]
	before.Script = record.Script{}
	before.Events = slices.DeleteFunc(slices.Clone(tr.Events[:i]), func(e record.Event) bool { return is[record.Check](&e.Event) })
	before.End = record.End{Iterations: tr.Events[i].N, Duration: tr.Events[i].At}
	for j := range before.Events {
		if e := &before.Events[j].Event; is[record.Turn](e) && e.N > 0 {
			before.End.Text = e.Detail
		}
	}
	return before
}
