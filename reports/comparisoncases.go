package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// comparisonCase is a test case of the comparison with a baseline.
type comparisonCase struct {
	name    string
	verdict gate.Verdict
	kind    string // the rule
	message string
	detail  string
}

// comparisonCases returns a test case for each finding that decides the comparison, or a passed
// one if there is none. CI servers count and name them.
func comparisonCases(c *compare.Result) (list []comparisonCase) {
	if c == nil {
		return nil
	}
	names := map[string]int{}
	for _, f := range c.Findings {
		verdict := gate.VerdictOf([]gate.Finding{f.Finding})
		if verdict == gate.Pass {
			continue
		}
		name := sanitize.Line(scenarioName(f.Scenario), maxName) + ": " + sanitize.Line(f.Rule, maxName)
		for _, what := range []string{f.Measure, f.At} {
			if what != "" {
				name += " " + sanitize.Line(what, maxName)
			}
		}
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name])
		}
		list = append(list, comparisonCase{name, verdict, f.Rule, f.Message, f.Evidence})
	}
	if len(list) == 0 {
		return []comparisonCase{{
			name: "against " + sanitize.Line(c.Before, maxName), verdict: c.Verdict, kind: "comparison",
			message: "no finding says why",
		}}
	}
	return list
}

// against writes the test cases of a comparison.
func (x *xmlWriter) against(list []comparisonCase) {
	for _, c := range list {
		x.element("testcase", func() {
			attrs := []attr{{"message", sanitize.Line(c.message, maxMessage)}, {"type", sanitize.Line(c.kind, maxName)}}
			text := strings.TrimSpace(sanitize.Line(c.message, maxMessage) + "\n" + sanitize.Line(c.detail, maxEvidence))
			switch c.verdict {
			case gate.Pass:
			case gate.Skip:
				x.element("skipped", nil, attrs[0])
			case gate.Fail:
				x.text("failure", text, attrs...)
			default:
				x.text("error", text, attrs...)
			}
		}, attr{"name", c.name}, attr{"classname", "rehearse.baseline"})
	}
}
