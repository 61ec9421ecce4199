package reports

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// skips are two or more scenarios that were skipped for one reason, which reports for
// people say once: a machine without a program skips dozens.
type skips struct {
	reason string
	list   []Scenario
}

// gather takes out of a list what was skipped for a reason that others have, too. The
// reasons come in the order of their first scenarios.
func gather(list []Scenario) (alone []Scenario, alike []skips) {
	of := map[string][]Scenario{}
	var reasons []string
	for _, s := range list {
		reason := s.skippedFor()
		if reason == "" {
			continue
		}
		if of[reason] == nil {
			reasons = append(reasons, reason)
		}
		of[reason] = append(of[reason], s)
	}
	for _, s := range list {
		if reason := s.skippedFor(); reason == "" || len(of[reason]) == 1 {
			alone = append(alone, s)
		}
	}
	for _, reason := range reasons {
		if len(of[reason]) > 1 {
			alike = append(alike, skips{reason, of[reason]})
		}
	}
	return alone, alike
}

// skippedFor is the one reason why all trials were skipped; empty if there is none.
func (s Scenario) skippedFor() string {
	if s.Verdict != gate.Skip || s.MoreFindings > 0 {
		return ""
	}
	reason := ""
	for _, f := range s.effective() {
		if f.Severity != gate.Skipped || f.Evidence == "" || (reason != "" && f.Evidence != reason) {
			return ""
		}
		reason = f.Evidence
	}
	return reason
}

// terminal is a line with the reason and one with as many names as it holds.
func (s skips) terminal(b *strings.Builder, t tty.Terminal) {
	fmt.Fprintf(b, "\n%s: %s\n", t.Paint(tty.Yellow, fmt.Sprintf("skipped %d scenarios", len(s.list))), sanitize.Line(s.reason, maxMessage))
	folder := commonFolder(s.list)
	line, n := "  ", 0
	if folder != "" {
		line += "in " + folder + ": "
	}
	for _, sc := range s.list {
		name := sanitize.Line(strings.TrimPrefix(sc.Name, folder), maxName)
		if n > 0 {
			name = ", " + name
		}
		if n > 0 && tty.Width(line+name)+len(more(len(s.list)-n-1)) > t.Columns() {
			break
		}
		line += name
		n++
	}
	fmt.Fprintf(b, "%s\n", t.Shorten(line+more(len(s.list)-n), t.Columns()))
}

// more says how many are not named.
func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}

// namedSkips is how many scenarios of one reason Markdown names; JSON names all.
const namedSkips = 10

// markdownSkips is a paragraph.
func markdownSkips(s skips) string {
	var names []string
	for _, sc := range s.list[:min(len(s.list), namedSkips)] {
		names = append(names, sanitize.Code(sc.Name, maxName))
	}
	return fmt.Sprintf("\n**skip** %s: %s\n\n- %s%s\n", format.Plural(len(s.list), "scenario"), sanitize.Code(s.reason, maxMessage),
		strings.Join(names, ", "), more(len(s.list)-len(names)))
}
