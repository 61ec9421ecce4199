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

// maxObservation is the largest observation that is sent to the model, in characters.
const maxObservation = 16_000

// maxQuestion is the largest question to a person, in characters.
const maxQuestion = 4_000

// handleAct runs the action of a step.
func (r *runner) handleAct() *ending {
	doc, bad := r.answer.takeAct()
	if bad != nil {
		return r.refuse(bad)
	}
	if doc.Kind == step.Reflect {
		return r.decide(doc)
	}
	r.entry.Thought, r.entry.Action, r.entry.Input = doc.Thought, doc.Action, doc.Input
	if end := r.askBefore("action"); end != nil {
		return end
	}
	res, end := r.runAction(doc)
	if end != nil && end.fatal() {
		return end
	}
	if end = cmp.Or(toEnding(r.Limits()), end); end != nil {
		return end
	}
	if res.Rule == action.RuleUnknownAction {
		return r.refuse(refuseAt(doc.Pos, action.RuleUnknownAction, "%s", oneLine(res.Observation)))
	}
	r.addObservation(doc, res)
	return nil
}

// runAction runs an action of the engine or of the agent's set.
func (r *runner) runAction(doc *step.Document) (action.Result, *ending) {
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
		return res, toEnding(run.Failed(err))
	}
	if r.tools != nil { // an MCP server may have changed its tools
		r.tools = newToolset(r.set.Declare(), r.agent.Contract.Output)
	}
	return res, nil
}

// addObservation records the result of an action and sends it to the agent.
func (r *runner) addObservation(doc *step.Document, res action.Result) {
	text := bounded(res.Observation, maxObservation)
	r.entry.Observation = text
	r.observed = text
	r.stuck.add(doc.Action, doc.Input, text, res.Failed)
	touched := slices.Concat(res.Read, res.Written)
	r.seen = append(append(r.seen, text), touched...)
	r.written = append(r.written, res.Written...)
	if !res.Failed && !action.ReportsFiles(doc.Action) {
		r.seen = append(r.seen, doc.Input)
	}
	if r.deps.Touched != nil && len(touched) > 0 {
		r.deps.Touched(touched...)
	}
	r.emit(oneLine(text), Acted{Action: doc.Action, Failed: res.Failed, Rule: res.Rule, Read: len(res.Read), Written: len(res.Written)})
	r.phase = phaseReflect
	r.dialogue.ask(observationPrompt(r.n, doc.Action, res.Failed, text)+"\n\n"+r.wanted(), omittedPrompt(r.n, doc.Action, text))
}

// requestInput is the input of request_info.
type requestInput struct {
	Question string `yaml:"question"`
	Context  string `yaml:"context,omitempty"`
}

// requestInfo asks a person, and escalates if there is no answer.
func (r *runner) requestInfo(doc *step.Document) (action.Result, *ending) {
	var in requestInput
	if failed := decodeInput(doc.Input, &in); failed != nil {
		return *failed, nil
	}
	if strings.TrimSpace(in.Question) == "" {
		return action.Result{Failed: true, Rule: action.RuleBadInput, Observation: "the question is empty"}, nil
	}
	if r.deps.Person != nil {
		reply, ok := r.deps.Person.Ask(r.Context, in.Question, in.Context)
		if ok {
			r.emit(oneLine(in.Question), AskedPerson{Trigger: string(Missing), Answered: true})
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
	if failed := decodeInput(doc.Input, &in); failed != nil {
		return *failed, nil
	}
	return action.Result{}, r.escalate(triggerIn(in.Reason), withContext(in.Reason, in.Context))
}

func (r *runner) escalate(trigger Trigger, question string) *ending {
	r.entry.Decision = string(step.Escalate)
	question = bounded(question, maxQuestion)
	return &ending{
		Ending:  run.Ending{Status: StatusEscalate, Details: "handed over to a person: " + oneLine(question)},
		trigger: trigger, question: question,
	}
}

func withContext(text, context string) string {
	if context == "" {
		return text
	}
	return text + "\n\nContext: " + context
}
