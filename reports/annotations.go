package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// shippedPrefix begins the file names of shipped scenarios, which are not files of the
// repository under test.
const shippedPrefix = "shipped:"

// Annotations writes GitHub workflow commands, which GitHub shows at lines of scenario files: one for
// each scenario that did not pass, with its root cause first, and one for each problem of the
// recording. GitHub accepts ten errors in a step, so the most important come first.
func Annotations(w io.Writer, r Report) error {
	var b strings.Builder
	for _, a := range annotations(r) {
		a.write(&b, "error")
	}
	if r.Interrupted {
		annotation{title: "interrupted", lines: []string{format.Count(len(r.NotRun), "scenario") + " not run"}}.write(&b, "warning")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write annotations: %w", err)
	}
	return nil
}

// annotations returns an annotation for each problem of the run, and for each scenario that did not
// pass.
func annotations(r Report) (list []annotation) {
	for _, p := range r.Problems {
		list = append(list, annotation{title: "recording", rule: "recording", lines: []string{p}, broken: true})
	}
	if r.Stopped != "" && !r.FailFast {
		list = append(list, annotation{
			title: "stopped", rule: "stopped", broken: true,
			lines: []string{r.Stopped, format.Count(len(r.NotRun), "scenario") + " not run"},
		})
	}
	for _, s := range ByUrgency(attributed(r)) {
		if failed(s.Verdict) {
			list = append(list, s.annotation())
		}
	}
	return list
}

// attributed returns the scenarios with the findings of the comparison that concern them. Findings
// about other names, or all scenarios, are added as scenarios.
func attributed(r Report) []Scenario {
	if r.Comparison == nil {
		return r.Scenarios
	}
	list, decided := slices.Clone(r.Scenarios), false
	for _, f := range r.Comparison.Findings {
		if f.Severity == gate.Info {
			continue
		}
		decided = true
		name := scenarioName(f.Scenario)
		i := slices.IndexFunc(list, func(s Scenario) bool { return s.Name == name })
		if i < 0 {
			i, list = len(list), append(list, Scenario{Name: name, Verdict: gate.Pass})
		}
		found := f.Finding
		found.Message = "against the baseline: " + found.Message
		s := &list[i]
		s.Findings = append(slices.Clone(s.Findings), found)
		s.Verdict = gate.Overall([]gate.Verdict{s.Verdict, gate.VerdictOf([]gate.Finding{found})})
	}
	if v := r.Comparison.Verdict; !decided && v != gate.Pass {
		list = append(list, Scenario{Name: "against " + r.Comparison.Before, Verdict: v})
	}
	return list
}

// annotation is a message about one line of a file.
type annotation struct {
	file   string
	line   int // 0 without a file
	title  string
	name   string // of the scenario; empty for the run
	rule   string // of the root cause
	lines  []string
	broken bool // an error instead of a failure
}

func (a annotation) write(b *strings.Builder, level string) {
	b.WriteString("::" + level + " ")
	if a.file != "" {
		fmt.Fprintf(b, "file=%s,line=%d,", annotated.Replace(sanitize.Line(a.file, 0)), a.line)
	}
	var lines []string
	for _, l := range a.lines {
		lines = append(lines, sanitize.Line(l, maxMessage))
	}
	fmt.Fprintf(b, "title=%s::%s\n", annotated.Replace(sanitize.Line(a.title, maxName)), annotatedText.Replace(strings.Join(lines, "\n")))
}

// annotation returns the annotation of a scenario that did not pass, at the line that its root cause
// is about.
func (s Scenario) annotation() annotation {
	a := annotation{
		title: sanitize.Line(s.Name, maxName) + ": " + s.verdict(), name: s.Name, rule: string(s.Verdict), broken: s.Verdict != gate.Fail,
	}
	findings := s.effective()
	if len(findings) > 0 {
		a.rule = findings[0].Rule
	} else {
		a.lines = []string{unexplained}
	}
	for _, f := range findings {
		line := fmt.Sprintf("%s: %s%s", sanitize.Line(f.Rule, maxName), s.where(f), f.Message)
		if f.Evidence != "" && len(a.lines) == 0 { // of the root cause
			line += ": " + strings.Join(strings.Fields(f.Evidence), " ")
		}
		if !slices.Contains(a.lines, line) {
			a.lines = append(a.lines, line)
		}
	}
	if s.MoreFindings > 0 {
		a.lines = append(a.lines, "and "+format.Count(s.MoreFindings, "more finding"))
	}
	if s.File != "" && !strings.HasPrefix(s.File, shippedPrefix) {
		a.file, a.line = s.File, s.line()
	}
	return a
}

// The escapes of GitHub's workflow commands: of the text after "::", and of a
// property, which also ends at a colon or a comma.
var (
	annotatedText = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotated     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
