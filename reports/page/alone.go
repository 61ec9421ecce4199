package page

import (
	"html/template"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
)

// Style is the style sheet of Trial, on top of that of reports.
func Style() string { return style }

// Trial renders a judged trial with its findings and its transcript, as a part of a page of its own. Its
// links are to places in that page. Like in a report, long texts and trials are cut.
func Trial(s *record.Scenario, t *record.Trial, facts *measure.Facts, findings []gate.Finding) (template.HTML, error) {
	var r renderer
	v := view{scenario: s, trial: t, facts: facts, findings: findings, id: trialID("t", t.Head.N), alone: true}
	head, err := r.trial(v)
	if err != nil {
		return "", err
	}
	head.Inside.Plain = template.HTML(r.out.String()) //nolint:gosec // rendered by a template
	r.reset()
	if err := r.execute("trial-alone", head); err != nil {
		return "", err
	}
	return template.HTML(r.out.String()), nil //nolint:gosec // rendered by a template
}
