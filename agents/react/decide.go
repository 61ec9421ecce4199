package react

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/reflect"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// takeReflection takes the reflection on the last observation and decides.
func (r *runner) takeReflection() *ending {
	doc, no := r.answer.reflection()
	if no != nil {
		return r.refuse(no)
	}
	r.entry.Reflection = doc.Reflection
	if no := r.judge(doc); no != nil {
		return r.refuse(no)
	}
	return r.decide(doc)
}

// judge judges a reflection. What hands the task to a person is not kept back,
// however little it says.
func (r *runner) judge(doc *step.Document) *refusal {
	v := reflect.Judge(r.observed, doc.Reflection)
	r.emit(v.Reason, Reflected{Critical: v.Critical, Score: v.Score})
	if v.Critical {
		return nil
	}
	no := refuseAt(doc.Pos, ruleComplacent, "%s", v.Reason)
	person := doc.Trigger != "" || doc.Decision == step.Escalate || doc.Decision == step.Blocked
	if r.opt.Reflection == Refuse && !person {
		return no
	}
	r.emit(no.String(), Complacent{})
	return nil
}

// decide follows the decision of a reflection.
func (r *runner) decide(doc *step.Document) *ending {
	r.entry.Reflection, r.entry.Decision, r.entry.Reason = doc.Reflection, string(doc.Decision), doc.Reason
	why := cmp.Or(strings.TrimSpace(doc.Reason), strings.TrimSpace(doc.Reflection), "the agent did not say why")
	switch {
	case doc.Trigger != "":
		return r.escalate(Trigger(doc.Trigger), why)
	case doc.Decision == step.Escalate:
		return r.escalate(triggerOf(why), why)
	case doc.Decision == step.Blocked:
		return ended(&run.Ending{Status: StatusBlocked, Details: line(why)})
	case doc.Decision == step.Delegate:
		return r.handOver(doc)
	case doc.Decision == step.Done || doc.Decision == step.DonePartial:
		return r.conclude(doc)
	}
	return r.goOn()
}

// goOn ends an iteration after which another one is needed.
func (r *runner) goOn() *ending {
	if what := r.stuck.found(); what != "" {
		return ended(&run.Ending{
			Status: StatusBlocked, Guard: guardStuck,
			Details: fmt.Sprintf("stopped after %s (stuck %d)", what, r.opt.Stuck),
		})
	}
	r.phase, r.observed = toAct, ""
	r.close()
	if r.answer.empty() {
		r.talk.ask(r.wanted(), "")
	}
	return nil
}
