package evaluate

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/reports"
)

// Report returns the report of an outcome; tool is the program's name and version.
func (p *Plan) Report(o *Outcome, tool string) reports.Detection {
	report := reports.Detection{
		Tool: tool, Interrupted: o.Interrupted, Problems: slices.Clone(o.Lines), Detectors: o.Results,
	}
	if more := o.Bad - len(o.Lines); more > 0 {
		report.Problems = append(report.Problems, fmt.Sprintf("and %s more", format.Plural(more, "bad line")))
	}
	if o.Err != nil {
		report.Problems = append(report.Problems, sanitize.Line(o.Err.Error(), 500))
	}
	for _, c := range p.corpora {
		report.Corpora = append(report.Corpora, reports.DetectionCorpus{Name: c.Name, Items: c.Items, Bad: c.Bad, Digest: c.digest()})
	}
	if o.Comparison != nil {
		report.Comparisons = append(report.Comparisons, *o.Comparison)
	}
	return report
}
