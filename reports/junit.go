package reports

import (
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/internal/plain"
)

// The types below are the JUnit dialect that CI servers read (the "windyroad"
// schema): properties come first in a test case, times are in seconds. Ginkgo's
// types for the same purpose are not used: they lack the file of a test case and
// always write a timestamp, and they would link a test framework and the Go
// tool's package loader (1 MB) into the product.

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr,omitempty"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name       string          `xml:"name,attr"`
	Tests      int             `xml:"tests,attr"`
	Failures   int             `xml:"failures,attr"`
	Errors     int             `xml:"errors,attr"`
	Skipped    int             `xml:"skipped,attr"`
	Time       string          `xml:"time,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Cases      []junitCase     `xml:"testcase"`
}

type junitCase struct {
	Name       string          `xml:"name,attr"`
	Class      string          `xml:"classname,attr"`
	File       string          `xml:"file,attr,omitempty"`
	Time       string          `xml:"time,attr,omitempty"`
	Properties []junitProperty `xml:"properties>property,omitempty"`
	Failure    *junitProblem   `xml:"failure"`
	Error      *junitProblem   `xml:"error"`
	Skipped    *junitSkipped   `xml:"skipped"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

type junitSkipped struct {
	Message string `xml:"message,attr,omitempty"`
}

// JUnit writes the report as JUnit XML: one suite, one test case for each
// scenario with its trials grouped, and its measures as properties. A scenario
// that failed has a failure, one that could not be told an error, one that was
// not reached is skipped. Problems of the recording are a test case of their own,
// so that they turn the build red.
func JUnit(w io.Writer, r Report, _ Options) error {
	suite := junitSuite{
		Name: "rehearse",
		Time: totalTime(r.Totals.Measures, 1),
		Properties: properties(r.Totals.Measures,
			junitProperty{"run", plain.Line(r.Run.ID, maxName)},
			junitProperty{"tool", plain.Line(r.Run.Tool, maxName)},
			junitProperty{"prices", plain.Line(r.Run.Prices, maxName)},
			junitProperty{"interrupted", strconv.FormatBool(r.Interrupted)},
			junitProperty{"trials", strconv.Itoa(r.Totals.Trials.Total())},
		),
		Cases: make([]junitCase, 0, len(r.Scenarios)+len(r.NotRun)+1),
	}
	for _, s := range r.Scenarios {
		suite.add(junitOf(s))
	}
	for _, name := range r.NotRun {
		c := junitNamed(name)
		c.Skipped = &junitSkipped{Message: "not run"}
		suite.add(c)
	}
	if len(r.Problems) > 0 {
		c := junitCase{Name: "recording", Class: "rehearse"}
		c.Error = &junitProblem{Type: "recording", Message: plain.Line(r.Problems[0], maxMessage)}
		c.Error.Text = plain.Text(strings.Join(r.Problems, "\n"), 0)
		suite.add(c)
	}
	doc := junitSuites{
		Name: suite.Name, Tests: suite.Tests, Failures: suite.Failures, Errors: suite.Errors,
		Skipped: suite.Skipped, Time: suite.Time, Suites: []junitSuite{suite},
	}
	if err := writeXML(w, doc); err != nil {
		return fmt.Errorf("write the report as JUnit XML: %w", err)
	}
	return nil
}

func writeXML(w io.Writer, doc any) error {
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	enc := xml.NewEncoder(w)
	enc.Indent("", "  ")
	if err := enc.Encode(doc); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// add appends a case and counts it.
func (s *junitSuite) add(c junitCase) {
	s.Tests++
	switch {
	case c.Error != nil:
		s.Errors++
	case c.Failure != nil:
		s.Failures++
	case c.Skipped != nil:
		s.Skipped++
	}
	s.Cases = append(s.Cases, c)
}

func junitOf(s Scenario) junitCase {
	c := junitNamed(s.Name)
	c.File = plain.Line(s.File, maxName)
	c.Time = totalTime(s.Measures, s.Trials.Total())
	c.Properties = properties(s.Measures,
		junitProperty{"trials", strconv.Itoa(s.Trials.Total())},
		junitProperty{"trials_passed", strconv.Itoa(s.Trials.Pass)},
		junitProperty{"status", plain.Line(s.Status, maxName)},
		junitProperty{"backend", plain.Line(s.Backend, maxName)},
		junitProperty{"model", plain.Line(s.Model, maxName)},
		junitProperty{"seed", strconv.FormatUint(s.Seed, 10)},
		junitProperty{"digest", plain.Line(s.Digest, maxName)},
	)
	switch s.Verdict {
	case gate.Pass:
	case gate.Skip:
		c.Skipped = &junitSkipped{}
	case gate.Fail:
		c.Failure = junitFindings(s)
	default:
		c.Error = junitFindings(s)
	}
	return c
}

// junitNamed splits a name: CI servers group cases by class.
func junitNamed(name string) junitCase {
	name = plain.Line(name, maxName)
	class, short := "rehearse", name
	if i := strings.LastIndexByte(name, '/'); i > 0 {
		class, short = "rehearse."+strings.ReplaceAll(name[:i], "/", "."), name[i+1:]
	}
	return junitCase{Name: short, Class: class}
}

// junitFindings gathers the findings of a scenario: the first is the message,
// all are the text.
func junitFindings(s Scenario) *junitProblem {
	p := &junitProblem{Type: string(s.Verdict), Message: "no finding says why"}
	findings := s.effective()
	if len(findings) > 0 {
		p.Type = plain.Line(findings[0].Rule, maxName)
		p.Message = plain.Line(s.where(findings[0])+findings[0].Message, maxMessage)
	}
	var b strings.Builder
	for _, f := range findings {
		fmt.Fprintf(&b, "%s: %s%s\n", plain.Line(f.Rule, maxName), s.where(f), plain.Line(f.Message, maxMessage))
		if f.Evidence != "" {
			fmt.Fprintf(&b, "    %s\n", plain.Line(f.Evidence, maxEvidence))
		}
	}
	if s.MoreFindings > 0 {
		fmt.Fprintf(&b, "and %s\n", plural(s.MoreFindings, "more finding"))
	}
	p.Text = b.String()
	return p
}

// properties lists the given properties that have a value, then the measures.
func properties(measures []measure.Value, given ...junitProperty) []junitProperty {
	list := make([]junitProperty, 0, len(given)+len(measures))
	for _, p := range given {
		if p.Value != "" {
			list = append(list, p)
		}
	}
	for _, v := range measures {
		list = append(list, junitProperty{v.Name, exact(v)})
	}
	return list
}

// totalTime is the sum of n trials' mean duration for a time attribute; empty
// where it is unknown, because 0 would say that it took no time.
func totalTime(measures []measure.Value, n int) string {
	v := find(measures, duration)
	if !told(v) {
		return ""
	}
	return strconv.FormatFloat(*v.Value*float64(n), 'f', -1, 64)
}
