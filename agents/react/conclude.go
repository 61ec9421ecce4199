package react

import (
	"cmp"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// final is what is there of the end: the decision, the verification and the
// output.
type final struct {
	decision step.Decision
	// left is what the agent says is missing, of done_partial.
	left     []string
	answers  []step.Claim
	verified bool
	output   *string
	// lack is why the last answer did not do; record is the last judgement.
	lack   string
	record *step.Verification
}

// missing returns what an output lacks that could not be mended.
func (f *final) missing() []string {
	missing := slices.Clone(f.left)
	if f.record != nil {
		for _, finding := range f.record.Findings {
			missing = append(missing, string(finding.Part)+": "+finding.Message)
		}
	}
	if f.lack != "" && !f.verified {
		missing = append(missing, "the chain of verification: "+f.lack)
	}
	return missing
}

// conclude begins the end: what the answer has of it is used.
func (r *runner) conclude(doc *step.Document) *ending {
	r.final = final{decision: doc.Decision}
	if doc.Decision == step.DonePartial {
		r.final.left = lines(cmp.Or(doc.Missing, doc.Reason))
	}
	r.phase = toVerify
	if r.answer.empty() {
		r.talk.ask(r.wanted(), "")
		return nil
	}
	return r.takeEnd(false)
}

// takeFinal takes an answer to the question for the end.
func (r *runner) takeFinal() *ending { return r.takeEnd(true) }

// takeEnd takes what an answer has of the end. Asked says that the whole of it was
// asked for, so that what lacks is a fault.
func (r *runner) takeEnd(asked bool) *ending {
	docs, no := r.answer.end()
	for i := range docs {
		if docs[i].Kind == step.Reflect {
			return r.decide(&docs[i])
		}
		no = cmp.Or(r.final.take(&docs[i]), no)
	}
	switch {
	case no != nil:
		return r.refuse(no)
	case !r.final.complete() && asked:
		return r.refuse(&refusal{rule: ruleIncomplete, message: "the answer has no output"})
	case !r.final.complete():
		r.talk.ask(r.wanted(), "")
		return nil
	}
	return r.verify()
}

// take takes a verification or an output; a later one replaces it.
func (f *final) take(d *step.Document) *refusal {
	if d.Kind == step.Output {
		f.output = &d.Text
		return nil
	}
	answers, err := step.ReadVerification(d.Text)
	if err != nil {
		return refusalOf(err, d.Pos)
	}
	f.answers, f.verified = answers, true
	return nil
}

// complete reports whether all is there.
func (f *final) complete() bool { return f.output != nil && f.verified }

// verify judges the output with its verification and ends the agent, or has it
// revised.
func (r *runner) verify() *ending {
	f := &r.final
	value, problem := outputValue(r.agent.Contract, *f.output)
	record := step.JudgeVerification(f.answers, r.promised())
	if problem != "" {
		record.Findings = append(record.Findings, step.Finding{Part: step.Correctness, Message: problem})
	}
	f.record = &record
	passed := record.Passed()
	r.emitVerification(record)
	switch {
	case f.decision == step.DonePartial:
		return r.partial(f.missing())
	case passed:
		end := &ending{output: *f.output, value: value, verification: &record}
		end.Status, end.Details = StatusDone, "completed in iteration "+itoa(r.n)
		if !record.Verified() {
			end.Details += ", not verified"
		}
		return end
	case r.revisions >= r.opt.Revisions || r.n == r.max:
		return r.partial(f.missing())
	}
	r.revise()
	return nil
}

// revise asks for the output again, in an iteration of its own.
func (r *runner) revise() {
	r.revisions++
	r.phase = toRevise
	r.entry.Refused = ruleUnverified
	r.close()
	findings := r.final.missing()
	r.final.answers, r.final.verified = nil, false
	r.talk.ask(revision(findings)+"\n\n"+r.wanted(), "")
}

// partial ends the agent with what there is of its output.
func (r *runner) partial(missing []string) *ending {
	value, _ := outputValue(r.agent.Contract, *r.final.output)
	return &ending{
		Ending: run.Ending{
			Status:  StatusPartial,
			Details: "a part is done; missing: " + line(cmp.Or(strings.Join(missing, "; "), "the agent did not say what")),
		},
		output: *r.final.output, value: value, missing: missing, verification: r.final.record,
	}
}

// promised returns what a verification is checked against.
func (r *runner) promised() step.Requirements {
	c := step.Requirements{Constraints: r.agent.Contract.Constraints, Context: append(r.task.texts(r.agent), r.seen...), Written: r.written}
	for _, in := range r.agent.Contract.Inputs {
		if in.Required {
			c.Inputs = append(c.Inputs, in.Name)
		}
	}
	return c
}

func (r *runner) emitVerification(record step.Verification) {
	var findings []string
	for _, f := range record.Findings {
		findings = append(findings, string(f.Part)+": "+f.Message)
	}
	r.emit(line(strings.Join(findings, "; ")), Verified{
		Completeness: record.Holds(step.Completeness), Consistency: record.Holds(step.Consistency),
		Correctness: record.Holds(step.Correctness), Constraints: record.Holds(step.Constraints),
		Passed: record.Passed(), Verified: record.Verified(), Revision: r.revisions,
	})
}
