package reports

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Marker is the hidden first line of the Markdown report, by which a later run
// finds its own comment on a pull request and replaces it.
const Marker = "<!-- rehearse:report -->"

// Markdown writes the report for a CI step summary or a comment: a line of
// totals, a table of scenarios, the findings. Scenarios that did not pass come
// first, those that were skipped for the same reason share a paragraph, and what
// exceeds opts.MaxBytes is left out and counted. All text that is not ours stands
// in code spans, so that nothing in it is Markdown, HTML or a mention.
func Markdown(w io.Writer, r Report, opts Options) error {
	b := format.Page{Left: cmp.Or(opts.MaxBytes, defaultMaxBytes)}
	b.Head(Marker + "\n## Rehearsal: " + markdownVerdict(r) + "\n\n" + summary(r) + "\n")
	if r.Stopped != "" {
		b.Head("\nStopped: " + sanitize.Code(r.Stopped, maxMessage) + "\n")
	}
	if len(r.Problems) > 0 {
		b.Head("\n")
	}
	format.Lines(&b, "problems of the recording", r.Problems, func(p string) string {
		return "- " + sanitize.Code(p, maxMessage) + "\n"
	})

	var shown, notPassed []Scenario
	for _, s := range byUrgency(r.Scenarios) {
		if failed(s.Verdict) || s.Verdict == gate.Skip {
			notPassed = append(notPassed, s)
		}
		if failed(s.Verdict) || !opts.FailuresOnly {
			shown = append(shown, s)
		}
	}
	shown, _ = gather(shown)
	notPassed, alike := gather(notPassed)
	if r.Comparison != nil {
		markdownComparison(&b, r.Comparison)
	}
	for _, s := range Sections(r.Totals.Agents) {
		s.markdown(&b)
	}
	markdownRepeats(&b, shown)
	half := b.Left / 2 // the rest is for the findings
	b.Left -= half
	if len(shown) > 0 {
		b.Head("\n| scenario | verdict | status | calls | tokens | EUR | latency p95 | time |\n" +
			"|---|---|---|--:|--:|--:|--:|--:|\n")
	}
	format.Lines(&b, "scenarios", shown, markdownRow)
	b.Left += half
	if len(notPassed)+len(alike) > 0 {
		b.Head("\n### Findings\n")
	}
	format.Lines(&b, "scenarios with findings", notPassed, markdownFindings)
	format.Lines(&b, "reasons for which scenarios were skipped", alike, markdownSkips)
	if len(r.NotRun) > 0 {
		b.Head("\n### N" + notRun(r)[1:] + "\n\n")
	}
	format.Lines(&b, "scenarios that were not run", r.NotRun, func(name string) string {
		return "- " + sanitize.Code(name, maxName) + "\n"
	})
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the report as Markdown: %w", err)
	}
	return nil
}

func markdownVerdict(r Report) string {
	verdict, more, _ := strings.Cut(Word(r), " ")
	return strings.TrimSpace("**" + strings.ToUpper(verdict) + "** " + more)
}

func markdownRow(s Scenario) string {
	verdict := s.verdict()
	if failed(s.Verdict) {
		verdict = "**" + verdict + "**"
	}
	cells := []string{sanitize.Code(s.Name, maxName), verdict, sanitize.Code(s.Status, maxName)}
	for _, name := range columns {
		cells = append(cells, text(find(s.Measures, name)))
	}
	return "| " + strings.Join(cells, " | ") + " |\n"
}

// markdownFindings is a paragraph for a scenario and an item for each finding.
func markdownFindings(s Scenario) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n**%s** %s", s.verdict(), sanitize.Code(s.Name, maxName))
	if s.About != "" {
		fmt.Fprintf(&b, ": %s", sanitize.Code(s.About, maxMessage))
	}
	b.WriteString("\n\n")
	for _, f := range s.effective() {
		fmt.Fprintf(&b, "- %s %s%s\n", sanitize.Code(f.Rule, maxName), s.where(f), sanitize.Code(f.Message, maxMessage))
		if lines := sanitize.Lines(f.Evidence, maxEvidence); len(lines) > 0 {
			// One code span whatever the text: its lines must not decide the structure.
			fmt.Fprintf(&b, "  - %s\n", sanitize.Code(strings.Join(lines, " ⏎ "), 0))
		}
	}
	if s.MoreFindings > 0 {
		fmt.Fprintf(&b, "- and %s\n", format.Plural(s.MoreFindings, "more finding"))
	}
	return b.String()
}
