package reports

import (
	"bufio"
	"encoding/xml"
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
// a verdict an error, and one that did not run is skipped; findings of the comparison with a baseline
// belong to their scenario. Problems of the recording are a test
// case, so they fail the build. Times are in seconds, and left out if unknown.
//
// Ginkgo's types for this format are not used: they lack the file of a case, always write a
// timestamp, and would link a test framework and the Go tool's package loader (1 MB) into the
// product.
func JUnit(w io.Writer, r Report) error {
	suite := junitSuite{Cases: junitCases(r), Properties: newJUnitProperties(slices.Concat(r.Totals.Measures, r.Totals.Agents.All()),
		junitProperty{"run", r.Run.ID},
		junitProperty{"tool", r.Run.Tool},
		junitProperty{"prices", r.Run.Prices},
		junitProperty{"rate", exchangeRate(r.Run)},
		junitProperty{"last_hash", r.Run.LastHash},
		junitProperty{"interrupted", strconv.FormatBool(r.Interrupted)},
		junitProperty{"trials", strconv.Itoa(r.Totals.Trials.Total())},
	)}
	suite.Name, suite.Tests, suite.Time = "rehearse", len(suite.Cases), totalTime(r.Totals.Measures, 1)
	skipped := 0
	for _, c := range suite.Cases {
		switch {
		case c.Failure != nil:
			suite.Failures++
		case c.Error != nil:
			suite.Errors++
		case c.Skipped != nil:
			skipped++
		}
	}
	suite.Skipped = strconv.Itoa(skipped)
	out := bufio.NewWriter(w)
	_, _ = out.WriteString(xml.Header) // Flush returns the error
	enc := xml.NewEncoder(out)
	enc.Indent("", "  ")
	all := suite.junitCounts
	all.Skipped = "" // the schema of Jenkins has it for a suite only
	err := enc.Encode(junitSuites{junitCounts: all, Suite: suite})
	if err == nil {
		_ = out.WriteByte('\n')
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return nil
}

type junitSuites struct {
	XMLName xml.Name `xml:"testsuites"`
	junitCounts
	Suite junitSuite `xml:"testsuite"`
}

type junitCounts struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  string `xml:"skipped,attr,omitempty"`
	Time     string `xml:"time,attr,omitempty"`
}

type junitSuite struct {
	junitCounts
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
}

type junitProperties struct {
	List []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

// junitCase is a test case; it passed if none of its outcomes is set.
type junitCase struct {
	Name       string           `xml:"name,attr"`
	Class      string           `xml:"classname,attr"`
	File       string           `xml:"file,attr,omitempty"`
	Time       string           `xml:"time,attr,omitempty"`
	Properties *junitProperties `xml:"properties"`
	Skipped    *junitOutcome    `xml:"skipped"`
	Failure    *junitOutcome    `xml:"failure"`
	Error      *junitOutcome    `xml:"error"`
}

type junitOutcome struct {
	Message string `xml:"message,attr,omitempty"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

// set sets the outcome of a verdict.
func (c *junitCase) set(v gate.Verdict, o junitOutcome) {
	switch v {
	case gate.Pass:
	case gate.Skip:
		c.Skipped = &junitOutcome{Message: o.Message}
	case gate.Fail:
		c.Failure = &o
	default:
		c.Error = &o
	}
}

func junitCases(r Report) (list []junitCase) {
	add := func(name string, v gate.Verdict, o junitOutcome) {
		c := junitCase{Name: name, Class: "rehearse"}
		c.set(v, o)
		list = append(list, c)
	}
	if len(r.Problems) > 0 {
		verdict := gate.Error
		if r.Altered {
			verdict = gate.Fail
		}
		add("recording", verdict, junitOutcome{
			sanitize.Line(r.Problems[0], maxMessage), "recording", sanitize.Text(strings.Join(r.Problems, "\n"), 0),
		})
	}
	for _, s := range attributed(r) {
		list = append(list, s.junitCase())
	}
	for _, name := range r.NotRun {
		c := junitCase{Skipped: &junitOutcome{Message: notRun(r)}}
		c.Name, c.Class = junitName(name)
		list = append(list, c)
	}
	if r.Stopped != "" && !r.FailFast { // its failures are cases already
		add("budget", gate.Error, junitOutcome{sanitize.Line(r.Stopped, maxMessage), "stopped", sanitize.Line(r.Stopped, 0)})
	}
	if r.Interrupted {
		add(interrupted, gate.Error, junitOutcome{Message: "the run was interrupted before its plan was done", Type: interrupted})
	}
	return list
}

func (s Scenario) junitCase() junitCase {
	c := junitCase{
		File: sanitize.Line(s.File, maxName), Time: totalTime(s.Measures, s.Trials.Total()),
		Properties: newJUnitProperties(slices.Concat(s.Measures, s.Agents.All()),
			junitProperty{"trials", strconv.Itoa(s.Trials.Total())},
			junitProperty{"trials_passed", strconv.Itoa(s.Trials.Pass)},
			junitProperty{"flaky", strconv.FormatBool(s.Flaky)},
			junitProperty{"status", s.Status},
			junitProperty{"backend", s.Backend},
			junitProperty{"model", s.Model},
			junitProperty{"seed", strconv.FormatUint(s.Seed, 10)},
			junitProperty{"digest", s.Digest},
		),
	}
	c.Name, c.Class = junitName(s.Name)
	if s.Verdict == gate.Skip {
		c.Skipped = &junitOutcome{Message: s.skipMessage()}
	} else {
		c.set(s.Verdict, s.junitFindings())
	}
	return c
}

func (s Scenario) skipMessage() string {
	for _, f := range s.Findings {
		if f.Severity == gate.Skipped {
			return sanitize.Line(f.Message+": "+f.Evidence, maxMessage)
		}
	}
	return ""
}

// junitFindings returns the first finding as the message, and all as the text.
func (s Scenario) junitFindings() junitOutcome {
	out := junitOutcome{Message: unexplained, Type: string(s.Verdict)}
	findings := s.effective()
	if len(findings) > 0 {
		out.Message, out.Type = s.Leading(), sanitize.Line(findings[0].Rule, maxName)
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s%s\n", sanitize.Line(f.Rule, maxName), s.where(f), sanitize.Line(f.Message, maxMessage))
		for _, line := range sanitize.Lines(f.Evidence, maxEvidence) {
			fmt.Fprintf(&b, "    %s\n", line)
		}
		if f.Accept != "" {
			fmt.Fprintf(&b, "    accept with: %s\n", sanitize.Line(f.Accept, maxMessage))
		}
	}
	if s.MoreFindings > 0 {
		fmt.Fprintf(&b, "and %s\n", format.Count(s.MoreFindings, "more finding"))
	}
	out.Text = b.String()
	return out
}

// newJUnitProperties returns the given properties that have a value, then the measures.
func newJUnitProperties(measures []measure.Value, given ...junitProperty) *junitProperties {
	var out junitProperties
	for _, p := range given {
		if p.Value != "" {
			out.List = append(out.List, junitProperty{p.Name, sanitize.Line(p.Value, maxName)})
		}
	}
	for _, v := range measures {
		out.List = append(out.List, junitProperty{v.Name, exact(v)})
	}
	return &out
}

// junitName splits the name of a scenario: CI servers group cases by class.
func junitName(name string) (short, class string) {
	name = sanitize.Line(name, maxName)
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		return name[i+1:], "rehearse." + strings.ReplaceAll(name[:i], "/", ".")
	}
	return name, "rehearse"
}

// totalTime returns the sum of the mean durations of n trials for a time attribute; empty if
// unknown, because 0 would be wrong.
func totalTime(measures []measure.Value, n int) string {
	v := Find(measures, duration)
	if !hasNumber(v) {
		return ""
	}
	return strconv.FormatFloat(*v.Value*float64(n), 'f', 3, 64) // more digits violate the schema of Surefire
}
