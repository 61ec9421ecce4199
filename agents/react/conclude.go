package react

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// final collects the end of a run: the decision, the verification and the output.
type final struct {
	decision     step.Decision
	declared     []string     // the work that the agent declared missing with done_partial
	claims       []step.Claim // of the verification
	verified     bool         // claims is set
	output       *string
	problem      string             // why the last answer was refused
	verification *step.Verification // the last judgement
}

// missing returns what the output lacks.
func (f *final) missing() []string {
	missing := slices.Clone(f.declared)
	if f.verification != nil {
		for _, finding := range f.verification.Findings {
			missing = append(missing, string(finding.Part)+": "+finding.Message)
		}
	}
	if f.problem != "" && !f.verified {
		missing = append(missing, "the chain of verification: "+f.problem)
	}
	return missing
}

// conclude begins the end of the run with the remaining documents of the answer.
func (r *runner) conclude(doc *step.Document) *ending {
	r.final = final{decision: doc.Decision}
	if doc.Decision == step.DonePartial {
		r.final.declared = listItems(cmp.Or(doc.Missing, doc.Reason))
	}
	r.phase = phaseVerify
	if r.answer.empty() {
		r.dialogue.ask(r.wanted(), "")
		return nil
	}
	return r.handleEnd(false)
}

// handleEnd uses the verification and the output of an answer. If the answer was asked for
// both, it is refused without the output.
func (r *runner) handleEnd(asked bool) *ending {
	docs, bad := r.answer.takeEnd()
	for i := range docs {
		if docs[i].Kind == step.Reflect {
			return r.decide(&docs[i])
		}
		bad = cmp.Or(r.final.add(&docs[i]), bad)
	}
	switch {
	case bad != nil:
		return r.refuse(bad)
	case !r.final.complete() && asked:
		return r.refuse(&refusal{rule: ruleIncomplete, message: "the answer has no output"})
	case !r.final.complete():
		r.dialogue.ask(r.wanted(), "")
		return nil
	}
	return r.verify()
}

// add sets the verification or the output, in place of an earlier one.
func (f *final) add(d *step.Document) *refusal {
	if d.Kind == step.Output {
		f.output = &d.Text
		return nil
	}
	claims, err := step.ReadVerification(d.Text)
	if err != nil {
		return refusalOf(err, d.Locate)
	}
	f.claims, f.verified = claims, true
	return nil
}

// complete reports whether there are both a verification and an output.
func (f *final) complete() bool { return f.output != nil && f.verified }

// verify judges the verification and the output, and ends the run or asks for a revision.
func (r *runner) verify() *ending {
	f := &r.final
	value, problem := outputValue(r.agent.Contract, *f.output)
	verification := step.JudgeVerification(f.claims, r.requirements())
	if problem != "" {
		verification.Findings = append(verification.Findings, step.Finding{Part: step.Correctness, Message: problem})
	}
	f.verification = &verification
	r.emitVerification(verification)
	switch {
	case f.decision == step.DonePartial:
		return r.endPartial(f.missing())
	case verification.Passed():
		end := &ending{output: *f.output, value: value, verification: &verification}
		end.Status, end.Details = StatusDone, "completed in iteration "+strconv.Itoa(r.n)
		if !verification.Verified() {
			end.Details += ", not verified"
		}
		return end
	case r.revisions >= r.options.Revisions || r.n == r.max:
		return r.endPartial(f.missing())
	}
	r.revise()
	return nil
}

// revise asks for the verification and the output again, in a new iteration.
func (r *runner) revise() {
	r.revisions++
	r.phase = phaseRevise
	r.entry.Refused = ruleUnverified
	r.close()
	findings := r.final.missing()
	r.final.claims, r.final.verified = nil, false
	r.dialogue.ask(revisionPrompt(findings)+"\n\n"+r.wanted(), "")
}

// endPartial ends the run with a partial output.
func (r *runner) endPartial(missing []string) *ending {
	value, _ := outputValue(r.agent.Contract, *r.final.output)
	return &ending{
		Ending: run.Ending{
			Status:  StatusPartial,
			Details: "a part is done; missing: " + oneLine(cmp.Or(strings.Join(missing, "; "), "the agent did not say what")),
		},
		output: *r.final.output, value: value, missing: missing, verification: r.final.verification,
	}
}

func (r *runner) requirements() step.Requirements {
	req := step.Requirements{Constraints: r.agent.Contract.Constraints, Context: append(r.task.texts(r.agent), r.seen...), Written: r.written}
	for _, in := range r.agent.Contract.Inputs {
		if in.Required {
			req.Inputs = append(req.Inputs, in.Name)
		}
	}
	return req
}

func (r *runner) emitVerification(v step.Verification) {
	var findings []string
	for _, f := range v.Findings {
		findings = append(findings, string(f.Part)+": "+f.Message)
	}
	r.emit(oneLine(strings.Join(findings, "; ")), Verified{
		Completeness: v.Holds(step.Completeness), Consistency: v.Holds(step.Consistency),
		Correctness: v.Holds(step.Correctness), Constraints: v.Holds(step.Constraints),
		Passed: v.Passed(), Verified: v.Verified(), Revision: r.revisions,
	})
}
