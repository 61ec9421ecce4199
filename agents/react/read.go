package react

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/llm"
)

// answer has the unused documents of an answer, and the error after them.
type answer struct {
	docs []step.Document
	bad  *refusal
}

func (a *answer) empty() bool { return len(a.docs) == 0 && a.bad == nil }

// The rules of refused steps, in addition to those of package step and action.RuleUnknownAction.
const (
	ruleThought    = "thought-required"
	ruleComplacent = "complacent-reflection"
	ruleInvented   = "invented-observation"
	ruleReflection = "reflection-required"
	ruleNoStep     = "no-step"
	ruleCutOff     = "cut-off"
	ruleEarly      = "too-early"
	ruleEnded      = "already-ended"
	ruleIncomplete = "incomplete-end"
	ruleUnverified = "unverified"
	ruleDelegate   = "delegate-not-allowed"
)

// The rules of failed delegations.
const (
	ruleUnknownTo   = "unknown-agent"
	ruleDelegateEnd = "delegate-ended"
)

// The guards. Some rules have a guard of the same name; see refusal.guard.
const (
	guardMalformed = "malformed"
	guardCycle     = "delegation-cycle"
	guardDepth     = "delegation-depth"
	guardStuck     = "stuck"
	guardNoTools   = "no-tools"
)

// refusal is the reason why a step is not accepted.
type refusal struct {
	step.Pos // in the answer; zero for the whole answer
	rule     string
	message  string
}

func refuseAt(at step.Pos, rule, format string, args ...any) *refusal {
	return &refusal{Pos: at, rule: rule, message: fmt.Sprintf(format, args...)}
}

// refusalOf returns the refusal for an error in a text whose positions locate converts.
func refusalOf(err error, locate func(step.Pos) step.Pos) *refusal {
	syntax, ok := errors.AsType[*step.Error](err)
	if !ok {
		return &refusal{rule: guardMalformed, message: err.Error()}
	}
	return &refusal{Pos: locate(syntax.Pos), rule: syntax.Rule, message: syntax.Message}
}

// String returns the position, the message and the rule.
func (r *refusal) String() string {
	text := fmt.Sprintf("%s (rule %s)", r.message, r.rule)
	if at := r.Where(); at != "" {
		return at + ": " + text
	}
	return text
}

// guard returns the name of the event that reports a refusal.
func (r *refusal) guard() string {
	if slices.Contains([]string{ruleThought, ruleComplacent, ruleInvented, action.RuleUnknownAction}, r.rule) {
		return r.rule
	}
	return guardMalformed
}

// read parses a reply to this agent.
func (r *runner) read(reply llm.Reply) answer {
	verified := r.phase.final() && r.final.verified
	if r.tools != nil && len(reply.ToolCalls) > 0 && !isCutOff(reply) {
		return r.readCall(reply.ToolCalls[0], reply.Text)
	}
	a := readReply(reply, verified)
	switch {
	case a.bad == nil || a.bad.rule != ruleNoStep:
	case r.tools != nil:
		a.bad = &refusal{rule: ruleNoStep, message: "the answer calls no tool; call an action with its thought, or a decision"}
	case len(reply.ToolCalls) > 0:
		a.bad = &refusal{rule: ruleNoStep, message: fmt.Sprintf("the answer calls the tool %q, and no tools are offered here; "+
			"write the action as a step: thought:, action: and action_input:", oneLine(reply.ToolCalls[0].Name))}
	}
	return a
}

// readCall parses a tool call. It drops the parts that the phase does not ask for: a reflection before the
// first action, and a repeated decision to end.
func (r *runner) readCall(c llm.ToolCall, beside string) answer {
	docs, err := r.tools.call(c, beside).Documents()
	if err != nil {
		return answer{bad: refusalOf(err, func(at step.Pos) step.Pos { return at })}
	}
	first := &docs[0]
	ends := first.Decision == step.Done || first.Decision == step.DonePartial
	if first.Kind == step.Reflect && len(docs) > 1 && (r.phase == phaseAct && first.Decision == step.Continue || r.phase.final() && ends) {
		docs = docs[1:]
	}
	return answer{docs: docs}
}

func isCutOff(reply llm.Reply) bool {
	return reply.Finish == llm.FinishLength || reply.Finish == llm.FinishContentFilter
}

// readReply parses the text of a reply, and refuses one that was cut off. After the verification, only
// the output is expected, which may be any text.
func readReply(reply llm.Reply, verified bool) answer {
	if isCutOff(reply) {
		return answer{bad: &refusal{rule: ruleCutOff, message: "the answer was cut off (finish reason " +
			string(reply.Finish) + "); write a shorter one"}}
	}
	parse := step.Parse
	if verified {
		parse = step.Final
	}
	docs, err := parse(reply.Text)
	a := answer{docs: docs}
	switch {
	case err != nil:
		a.bad = refusalOf(err, step.Pos{Line: 1, Column: 1}.In)
	case len(docs) == 0:
		a.bad = &refusal{rule: ruleNoStep, message: "the answer has no document"}
	}
	return a
}

// takeTrigger takes the first document and drops the others if it is a step with an
// escalation trigger; otherwise it returns nil.
func (a *answer) takeTrigger() *step.Document {
	if len(a.docs) == 0 || a.docs[0].Kind != step.Act || a.docs[0].Trigger == "" {
		return nil
	}
	d := &a.docs[0]
	*a = answer{}
	return d
}

// takeAct takes a step, which must be the last document, or a decision that needs no
// observation.
func (a *answer) takeAct() (*step.Document, *refusal) {
	if len(a.docs) == 0 {
		return nil, a.bad
	}
	switch d := &a.docs[0]; {
	case d.Kind == step.Act && len(a.docs) > 1:
		return nil, refuseAt(a.docs[1].Pos, ruleInvented,
			"the answer goes on after the action %q, which has not been done yet; end the answer with the action", d.Action)
	case d.Kind == step.Act && a.bad != nil:
		return nil, a.bad
	case d.Kind == step.Act:
		a.docs = nil
		return d, nil
	case d.Kind == step.Reflect && (d.Trigger != "" || withoutObservation(d.Decision)):
		*a = answer{}
		return d, nil
	case d.Kind == step.Reflect:
		return nil, refuseAt(d.Pos, ruleEarly,
			"there is no observation to reflect on, and nothing was done that the decision %q could rest on; "+
				"write a thought and an action", d.Decision)
	default:
		return nil, refuseAt(d.Pos, ruleEarly,
			"the decision to end has not been taken; write a thought and an action, or a reflection with its decision")
	}
}

// withoutObservation reports whether a decision needs no action before it, because it hands over the
// task.
func withoutObservation(d step.Decision) bool {
	return d == step.Escalate || d == step.Blocked || d == step.Delegate
}

// takeReflection takes the reflection; the documents after it stay.
func (a *answer) takeReflection() (*step.Document, *refusal) {
	if len(a.docs) == 0 {
		return nil, a.bad
	}
	d := &a.docs[0]
	if d.Kind != step.Reflect && d.Call != "" {
		return nil, refuseAt(d.Pos, ruleReflection, "the last result has not been reflected on; give the argument reflection")
	}
	if d.Kind != step.Reflect {
		return nil, refuseAt(d.Pos, ruleReflection, "the observation has not been reflected on; write the reflection with its decision first")
	}
	a.docs = a.docs[1:]
	return d, nil
}

// takeEnd takes all documents after the decision to end.
func (a *answer) takeEnd() ([]step.Document, *refusal) {
	for i := range a.docs {
		d := &a.docs[i]
		if d.Kind == step.Act || d.Kind == step.Reflect && !withoutObservation(d.Decision) && d.Trigger == "" {
			return nil, refuseAt(d.Pos, ruleEnded, "the decision to end was taken; write the verification and the output")
		}
	}
	docs, bad := a.docs, a.bad
	*a = answer{}
	return docs, bad
}
