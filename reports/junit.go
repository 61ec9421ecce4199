package reports

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// JUnit writes the report as JUnit XML in the dialect of CI servers: one suite with a test case
// for each scenario, whose measures are properties. A failed scenario has a failure, one without
// a verdict an error, and one that did not run is skipped. Problems of the recording are a test
// case, so they fail the build. Times are in seconds, and left out if unknown.
//
// Ginkgo's types for this format are not used: they lack the file of a case, always write a
// timestamp, and would link a test framework and the Go tool's package loader (1 MB) into the
// product.
func JUnit(w io.Writer, r Report) error {
	x := newXML()
	count := Count{Skip: len(r.NotRun)}
	switch {
	case r.Altered:
		count.Fail++
	case len(r.Problems) > 0:
		count.Error++
	}
	if r.Stopped != "" {
		count.Error++
	}
	if r.Interrupted {
		count.Error++
	}
	against := comparisonCases(r.Comparison)
	for _, c := range against {
		count.Add(c.verdict)
	}
	for _, s := range r.Scenarios {
		count.Add(s.Verdict)
	}
	attrs := []attr{
		{"name", "rehearse"},
		{"tests", strconv.Itoa(count.Total())},
		{"failures", strconv.Itoa(count.Fail)},
		{"errors", strconv.Itoa(count.Error)},
		{"skipped", strconv.Itoa(count.Skip)},
		{"time", totalTime(r.Totals.Measures, 1)},
	}
	x.element("testsuites", func() {
		x.element("testsuite", func() { x.suite(r); x.against(against) }, attrs...)
	}, attrs...)
	x.out.WriteByte('\n')
	if _, err := x.out.WriteTo(w); err != nil {
		return fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return nil
}

func (x *xmlWriter) suite(r Report) {
	x.properties(slices.Concat(r.Totals.Measures, r.Totals.Agents.All()),
		attr{"run", r.Run.ID},
		attr{"tool", r.Run.Tool},
		attr{"prices", r.Run.Prices},
		attr{"interrupted", strconv.FormatBool(r.Interrupted)},
		attr{"trials", strconv.Itoa(r.Totals.Trials.Total())},
	)
	x.problems(r)
	for _, s := range r.Scenarios {
		x.element("testcase", func() { x.scenario(s) },
			append(junitName(s.Name),
				attr{"file", sanitize.Line(s.File, maxName)},
				attr{"time", totalTime(s.Measures, s.Trials.Total())})...)
	}
	for _, name := range r.NotRun {
		x.element("testcase", func() {
			x.element("skipped", nil, attr{"message", notRun(r)})
		}, junitName(name)...)
	}
	if r.Stopped != "" {
		x.element("testcase", func() {
			x.text("error", sanitize.Line(r.Stopped, 0), attr{"message", sanitize.Line(r.Stopped, maxMessage)}, attr{"type", "stopped"})
		}, attr{"name", "budget"}, attr{"classname", "rehearse"})
	}
	if r.Interrupted {
		x.element("testcase", func() {
			x.element("error", nil, attr{"message", "the run was interrupted before its plan was done"}, attr{"type", interrupted})
		}, attr{"name", interrupted}, attr{"classname", "rehearse"})
	}
}

// problems writes a test case for the problems of the recording, if there are any.
func (x *xmlWriter) problems(r Report) {
	if len(r.Problems) == 0 {
		return
	}
	result := "error"
	if r.Altered {
		result = "failure"
	}
	x.element("testcase", func() {
		x.text(result, sanitize.Text(strings.Join(r.Problems, "\n"), 0),
			attr{"message", sanitize.Line(r.Problems[0], maxMessage)}, attr{"type", "recording"})
	}, attr{"name", "recording"}, attr{"classname", "rehearse"})
}

// scenario writes the content of the test case of s.
func (x *xmlWriter) scenario(s Scenario) {
	x.properties(slices.Concat(s.Measures, s.Agents.All()),
		attr{"trials", strconv.Itoa(s.Trials.Total())},
		attr{"trials_passed", strconv.Itoa(s.Trials.Pass)},
		attr{"flaky", strconv.FormatBool(s.Flaky)},
		attr{"status", s.Status},
		attr{"backend", s.Backend},
		attr{"model", s.Model},
		attr{"seed", strconv.FormatUint(s.Seed, 10)},
		attr{"digest", s.Digest},
	)
	switch s.Verdict {
	case gate.Pass:
	case gate.Skip:
		x.element("skipped", nil, s.reason()...)
	case gate.Fail:
		x.findings("failure", s)
	default:
		x.findings("error", s)
	}
}

// reason returns the message attribute of a skipped scenario.
func (s Scenario) reason() []attr {
	for _, f := range s.Findings {
		if f.Severity == gate.Skipped {
			return []attr{{"message", sanitize.Line(f.Message+": "+f.Evidence, maxMessage)}}
		}
	}
	return nil
}

// properties writes the given properties that have a value, then the measures.
func (x *xmlWriter) properties(measures []measure.Value, given ...attr) {
	property := func(name, value string) {
		x.element("property", nil, attr{"name", name}, attr{"value", value})
	}
	x.element("properties", func() {
		for _, p := range given {
			if p.value != "" {
				property(p.name, sanitize.Line(p.value, maxName))
			}
		}
		for _, v := range measures {
			property(v.Name, exact(v))
		}
	})
}

// findings writes the findings of s: the first is the message, all are the text.
func (x *xmlWriter) findings(element string, s Scenario) {
	kind, message := string(s.Verdict), "no finding says why"
	findings := s.effective()
	if len(findings) > 0 {
		kind = sanitize.Line(findings[0].Rule, maxName)
		message = s.Leading()
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s%s\n", sanitize.Line(f.Rule, maxName), s.where(f), sanitize.Line(f.Message, maxMessage))
		for _, line := range sanitize.Lines(f.Evidence, maxEvidence) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
	}
	if s.MoreFindings > 0 {
		fmt.Fprintf(&b, "and %s\n", format.Plural(s.MoreFindings, "more finding"))
	}
	x.text(element, b.String(), attr{"message", message}, attr{"type", kind})
}

// junitName splits the name of a scenario: CI servers group cases by class.
func junitName(name string) []attr {
	name = sanitize.Line(name, maxName)
	class, short := "rehearse", name
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		class, short = "rehearse."+strings.ReplaceAll(name[:i], "/", "."), name[i+1:]
	}
	return []attr{{"name", short}, {"classname", class}}
}

// totalTime returns the sum of the mean durations of n trials for a time attribute; empty if
// unknown, because 0 would be wrong.
func totalTime(measures []measure.Value, n int) string {
	v := Find(measures, duration)
	if !told(v) {
		return ""
	}
	return strconv.FormatFloat(*v.Value*float64(n), 'f', -1, 64)
}
