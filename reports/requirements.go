package reports

import (
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/trace"
)

// Proofs returns the scenarios of a report that name requirements. Nothing in an altered recording has a verdict, and
// scenarios that were not run are not proofs.
func Proofs(r Report) (list []trace.Proof) {
	for _, s := range r.Scenarios {
		if len(s.Proves) == 0 {
			continue
		}
		p := trace.Proof{Kind: "scenario", Name: s.Name, Verdict: s.Verdict, IDs: s.Proves}
		if r.Altered {
			p.Verdict = gate.Error
		}
		list = append(list, p)
	}
	return list
}

// RequirementsDocument returns the requirements that a run proves as a document.
func RequirementsDocument(t *trace.Table, r Report) doc.Document {
	d := t.Document(", run ", doc.Quote(r.Run.ID), " (", doc.Toned(wordTone(r), Word(r)), ")")
	if d.Tone == doc.Good && len(r.NotRun)+len(r.Problems) > 0 {
		d.Verdict, d.Tone = trace.Incomplete, doc.Unsure
	}
	d.Lead = append(d.Lead, problems(r)...)
	if n := len(r.NotRun); n > 0 {
		were, they := "were", "they"
		if n == 1 {
			were, they = "was", "it"
		}
		missing := doc.Line(format.Count(n, "planned scenario"), " "+were+" not run; what "+they+" would prove is unknown.")
		d.Lead = append(d.Lead, doc.Paragraph(missing))
	}
	return d
}
