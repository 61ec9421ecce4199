package reports

import (
	"cmp"
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

// Annotations writes GitHub workflow commands, which GitHub shows at lines of scenario files:
// one for each line with an unmet expectation, for each regression, and for each problem of the
// recording. GitHub accepts ten errors in a step, so the most important come first, and findings
// of one line share a command.
func Annotations(w io.Writer, r Report) error {
	var list []annotation
	for _, p := range r.Problems {
		list = append(list, annotation{title: "recording", lines: []string{p}})
	}
	if r.Stopped != "" && !r.FailFast {
		list = append(list, annotation{title: "stopped", lines: []string{r.Stopped, format.Plural(len(r.NotRun), "scenario") + " not run"}})
	}
	for _, s := range ByUrgency(r.Scenarios) {
		if failed(s.Verdict) {
			list = append(list, s.annotations()...)
		}
	}
	list = append(list, comparisonAnnotations(r)...)
	var b strings.Builder
	for _, a := range list {
		a.write(&b, "error")
	}
	if r.Interrupted {
		annotation{title: "interrupted", lines: []string{format.Plural(len(r.NotRun), "scenario") + " not run"}}.write(&b, "warning")
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write annotations: %w", err)
	}
	return nil
}

// annotation is a message about one line of a file.
type annotation struct {
	file  string
	line  int // 0 without a file
	title string
	lines []string
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

// at returns an annotation at a key of the scenario file, or at its name.
func (s Scenario) at(key, title string) annotation {
	a := annotation{title: title}
	if s.File != "" && !strings.HasPrefix(s.File, shippedPrefix) {
		a.file, a.line = s.File, max(1, cmp.Or(s.Where[key], s.Where["name"]))
	}
	return a
}

// annotations returns an annotation for each line of the file with findings.
func (s Scenario) annotations() []annotation {
	title := sanitize.Line(s.Name, maxName) + ": " + s.verdict()
	list := s.grouped(title, s.effective(), func(f gate.Finding) string {
		return fmt.Sprintf("%s: %s%s", sanitize.Line(f.Rule, maxName), s.where(f), f.Message)
	})
	if len(list) == 0 {
		a := s.at("", title)
		a.lines = []string{unexplained}
		return []annotation{a}
	}
	return list
}

// grouped returns annotations of findings; findings of one line share one.
func (s Scenario) grouped(title string, findings []gate.Finding, text func(gate.Finding) string) (list []annotation) {
	for _, f := range findings {
		a := s.at(f.At, title)
		i := slices.IndexFunc(list, func(b annotation) bool { return b.line == a.line })
		if i < 0 {
			i, list = len(list), append(list, a)
		}
		if line := text(f); !slices.Contains(list[i].lines, line) {
			list[i].lines = append(list[i].lines, line)
		}
	}
	return list
}

// comparisonAnnotations returns annotations of the findings that decide the comparison.
func comparisonAnnotations(r Report) (list []annotation) {
	if r.Comparison == nil {
		return nil
	}
	of := map[string][]gate.Finding{}
	var order []string
	for _, f := range r.Comparison.Findings {
		if f.Severity == gate.Info {
			continue
		}
		if of[f.Scenario] == nil {
			order = append(order, f.Scenario)
		}
		of[f.Scenario] = append(of[f.Scenario], f.Finding)
	}
	for _, name := range order {
		s := Scenario{Name: name}
		if i := slices.IndexFunc(r.Scenarios, func(s Scenario) bool { return s.Name == name }); i >= 0 {
			s = r.Scenarios[i]
		}
		title := sanitize.Line(scenarioName(name), maxName) + ": against the baseline"
		list = append(list, s.grouped(title, of[name], func(f gate.Finding) string { return f.Rule + ": " + f.Message })...)
	}
	return list
}

// The escapes of GitHub's workflow commands: of the text after "::", and of a
// property, which also ends at a colon or a comma.
var (
	annotatedText = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	annotated     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)
