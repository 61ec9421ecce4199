package react

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// maxObservation is what a model receives one observation, in characters.
const maxObservation = 16_000

// maxQuestion is what a person is asked, in characters.
const maxQuestion = 4_000

// takeAct takes a thought with its action and does the action.
func (r *runner) takeAct() *ending {
	doc, no := r.answer.act()
	if no != nil {
		return r.refuse(no)
	}
	if doc.Kind == step.Reflect {
		return r.decide(doc)
	}
	r.entry.Thought, r.entry.Action, r.entry.Input = doc.Thought, doc.Action, doc.Input
	if end := r.before("action"); end != nil {
		return end
	}
	res, end := r.do(doc)
	if end != nil && end.fatal() {
		return end
	}
	if end = cmp.Or(ended(r.Limits()), end); end != nil {
		return end
	}
	if res.Rule == action.RuleUnknownAction {
		return r.refuse(refuseAt(doc.Pos, action.RuleUnknownAction, "%s", line(res.Observation)))
	}
	r.saw(doc, res)
	return nil
}

// do does an action: the engine's own, or one of the set.
func (r *runner) do(doc *step.Document) (action.Result, *ending) {
	switch doc.Action {
	case action.RequestInfo:
		return r.requestInfo(doc)
	case action.Escalate:
		return r.escalateAction(doc)
	case action.Delegate:
		return r.delegateAction(doc)
	}
	res, err := r.set.Do(r.Context, doc.Action, doc.Input)
	if err != nil {
		err = fmt.Errorf("do the action %s for %s: %w", doc.Action, r.agent.ID, err)
		return res, ended(run.Failed(err))
	}
	return res, nil
}

// saw tells the agent and everybody else what an action came to.
func (r *runner) saw(doc *step.Document, res action.Result) {
	text := bounded(res.Observation, maxObservation)
	r.entry.Observation = text
	r.observed = text
	r.stuck.saw(doc.Action, doc.Input, text, res.Failed)
	touched := slices.Concat(res.Read, res.Written)
	r.seen = append(append(r.seen, text), touched...)
	r.written = append(r.written, res.Written...)
	if r.dep.Touched != nil && len(touched) > 0 {
		r.dep.Touched(touched...)
	}
	r.emit(line(text), Acted{Action: doc.Action, Failed: res.Failed, Rule: res.Rule, Read: len(res.Read), Written: len(res.Written)})
	r.phase = toReflect
	r.talk.ask(observed(r.n, doc.Action, res.Failed, text)+"\n\n"+r.wanted(), leftOut(r.n, doc.Action, text))
}

// requestInput is the input of request_info.
type requestInput struct {
	Question string `yaml:"question"`
	Context  string `yaml:"context,omitempty"`
}

// requestInfo asks a person; without an answer the agent escalates.
func (r *runner) requestInfo(doc *step.Document) (action.Result, *ending) {
	var in requestInput
	if bad := decode(doc.Input, &in); bad != nil {
		return *bad, nil
	}
	if strings.TrimSpace(in.Question) == "" {
		return action.Result{Failed: true, Rule: action.RuleBadInput, Observation: "the question is empty"}, nil
	}
	if r.dep.Person != nil {
		reply, ok := r.dep.Person.Ask(r.Context, in.Question, in.Context)
		if ok {
			r.emit(line(in.Question), AskedPerson{Trigger: string(Missing), Answered: true})
			return action.Result{Observation: "The person answered:\n" + reply}, nil
		}
	}
	return action.Result{}, r.escalate(Missing, withContext(in.Question, in.Context))
}

// escalateInput is the input of escalate.
type escalateInput struct {
	Reason  string `yaml:"reason"`
	Context string `yaml:"context,omitempty"`
}

func (r *runner) escalateAction(doc *step.Document) (action.Result, *ending) {
	var in escalateInput
	if bad := decode(doc.Input, &in); bad != nil {
		return *bad, nil
	}
	return action.Result{}, r.escalate(triggerOf(in.Reason), withContext(in.Reason, in.Context))
}

// escalate ends the agent with a question to a person.
func (r *runner) escalate(trigger Trigger, question string) *ending {
	r.entry.Decision = string(step.Escalate)
	question = bounded(question, maxQuestion)
	return &ending{
		Ending:  run.Ending{Status: StatusEscalate, Details: "handed over to a person: " + line(question)},
		trigger: trigger, question: question,
	}
}

func withContext(text, context string) string {
	if context == "" {
		return text
	}
	return text + "\n\nContext: " + context
}
