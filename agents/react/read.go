package react

import (
	"errors"
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/llm"
)

// answer is what is left of an answer: the documents that were not used yet, and
// what is wrong after them.
type answer struct {
	docs []step.Document
	bad  *refusal
}

func (a *answer) empty() bool { return len(a.docs) == 0 && a.bad == nil }

// The rules for which a step is refused. Others are those of package step and
// package verify, and action.RuleUnknownAction.
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

// The rules of delegations that failed.
const (
	ruleUnknownTo   = "unknown-agent"
	ruleDelegateEnd = "delegate-ended"
)

// The guards. Those of rules that have their own guard are named as the rule.
const (
	guardMalformed = "malformed"
	guardCycle     = "delegation-cycle"
	guardDepth     = "delegation-depth"
	guardStuck     = "stuck"
)

// refusal is why a step is not accepted.
type refusal struct {
	step.Pos // in the answer; zero if the whole of it is meant
	rule     string
	message  string
}

func refuseAt(at step.Pos, rule, format string, args ...any) *refusal {
	return &refusal{Pos: at, rule: rule, message: fmt.Sprintf(format, args...)}
}

// refusalOf returns the refusal of what a reader found wrong in a text that begins at a
// place.
func refusalOf(err error, begin step.Pos) *refusal {
	wrong, ok := errors.AsType[*step.Error](err)
	if !ok {
		return &refusal{rule: guardMalformed, message: err.Error()}
	}
	return &refusal{Pos: begin.In(wrong.Pos), rule: wrong.Rule, message: wrong.Message}
}

// String has the place, the rule and the message.
func (r *refusal) String() string {
	if r.Line == 0 {
		return fmt.Sprintf("%s (rule %s)", r.message, r.rule)
	}
	return fmt.Sprintf("line %d, column %d: %s (rule %s)", r.Line, r.Column, r.message, r.rule)
}

// guard returns the name of the event that reports a refusal.
func (r *refusal) guard() string {
	if slices.Contains([]string{ruleThought, ruleComplacent, ruleInvented, action.RuleUnknownAction}, r.rule) {
		return r.rule
	}
	return guardMalformed
}

// read reads a reply. An answer that was cut off cannot be trusted to say what it
// was going to say.
//
// Once the verification is there, only the output is waited for, which may be any text.
func read(reply llm.Reply, verified bool) answer {
	if reply.Finish == llm.FinishLength || reply.Finish == llm.FinishContentFilter {
		return answer{bad: &refusal{rule: ruleCutOff, message: "the answer was cut off (finish reason " + string(reply.Finish) + "); write a shorter one"}}
	}
	parse := step.Parse
	if verified {
		parse = step.Final
	}
	docs, err := parse(reply.Text)
	a := answer{docs: docs}
	switch {
	case err != nil:
		a.bad = refusalOf(err, step.Pos{Line: 1, Column: 1})
	case len(docs) == 0:
		a.bad = &refusal{rule: ruleNoStep, message: "the answer has no document"}
	}
	return a
}

// alarm takes a step that names a trigger, which goes before everything else that an
// answer says; nil if it does not begin with one.
func (a *answer) alarm() *step.Document {
	if len(a.docs) == 0 || a.docs[0].Kind != step.Act || a.docs[0].Trigger == "" {
		return nil
	}
	d := &a.docs[0]
	*a = answer{}
	return d
}

// act takes the step of an answer while an action is waited for: a thought with
// an action (package step lets none pass without), and nothing after it, or a
// decision that needs no observation.
func (a *answer) act() (*step.Document, *refusal) {
	if len(a.docs) == 0 {
		return nil, a.bad
	}
	switch d := &a.docs[0]; {
	case d.Kind == step.Act && len(a.docs) > 1:
		return nil, refuseAt(a.docs[1].Pos, ruleInvented, "the answer goes on after the action %q, which has not been done yet; end the answer with the action", d.Action)
	case d.Kind == step.Act && a.bad != nil:
		return nil, a.bad
	case d.Kind == step.Act:
		a.docs = nil
		return d, nil
	case d.Kind == step.Reflect && (d.Trigger != "" || withoutObservation(d.Decision)):
		*a = answer{}
		return d, nil
	case d.Kind == step.Reflect:
		return nil, refuseAt(d.Pos, ruleEarly, "there is no observation to reflect on, and nothing was done that the decision %q could rest on; write a thought and an action", d.Decision)
	default:
		return nil, refuseAt(d.Pos, ruleEarly, "the decision to end has not been taken; write a thought and an action, or a reflection with its decision")
	}
}

// withoutObservation reports whether a decision may be taken before anything was
// done: it hands the task to somebody else.
func withoutObservation(d step.Decision) bool {
	return d == step.Escalate || d == step.Blocked || d == step.Delegate
}

// reflection takes the reflection of an answer; what follows it stays.
func (a *answer) reflection() (*step.Document, *refusal) {
	if len(a.docs) == 0 {
		return nil, a.bad
	}
	d := &a.docs[0]
	if d.Kind != step.Reflect {
		return nil, refuseAt(d.Pos, ruleReflection, "the observation has not been reflected on; write the reflection with its decision first")
	}
	a.docs = a.docs[1:]
	return d, nil
}

// end takes all documents of an answer after the decision to end.
func (a *answer) end() ([]step.Document, *refusal) {
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
