package react

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// handleReflection judges the reflection on the last observation and follows its decision.
func (r *runner) handleReflection() *ending {
	doc, bad := r.answer.takeReflection()
	if bad != nil {
		return r.refuse(bad)
	}
	r.entry.Reflection = doc.Reflection
	if bad = r.judge(doc); bad != nil {
		return r.refuse(bad)
	}
	return r.decide(doc)
}

// judge refuses a complacent reflection, unless it hands the task to a person.
func (r *runner) judge(doc *step.Document) *refusal {
	v := reflect.Judge(r.observed, doc.Reflection)
	r.emit(v.Reason, Reflected{Critical: v.Critical, Score: v.Score})
	if v.Critical {
		return nil
	}
	bad := refuseAt(doc.Pos, ruleComplacent, "%s", v.Reason)
	toPerson := doc.Trigger != "" || doc.Decision == step.Escalate || doc.Decision == step.Blocked
	if r.options.Reflection == Refuse && !toPerson {
		return bad
	}
	r.emit(bad.String(), Complacent{})
	return nil
}

// decide follows a decision.
func (r *runner) decide(doc *step.Document) *ending {
	r.entry.Reflection, r.entry.Decision, r.entry.Reason = doc.Reflection, string(doc.Decision), doc.Reason
	why := cmp.Or(strings.TrimSpace(doc.Reason), strings.TrimSpace(doc.Reflection), "the agent did not say why")
	switch {
	case doc.Trigger != "":
		return r.escalate(Trigger(doc.Trigger), why)
	case doc.Decision == step.Escalate:
		return r.escalate(triggerIn(why), why)
	case doc.Decision == step.Blocked:
		return toEnding(&run.Ending{Status: StatusBlocked, Details: oneLine(why)})
	case doc.Decision == step.Delegate:
		return r.handOver(doc)
	case doc.Decision == step.Done || doc.Decision == step.DonePartial:
		return r.conclude(doc)
	}
	return r.nextIteration()
}

// nextIteration ends the iteration, or the run if the agent is stuck.
func (r *runner) nextIteration() *ending {
	if why := r.stuck.reason; why != "" {
		return toEnding(&run.Ending{
			Status: StatusBlocked, Guard: guardStuck,
			Details: fmt.Sprintf("stopped after %s (stuck %d)", why, r.options.Stuck),
		})
	}
	r.phase, r.observed = phaseAct, ""
	r.close()
	if r.answer.empty() {
		r.dialogue.ask(r.wanted(), "")
	}
	return nil
}
