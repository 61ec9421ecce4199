package hook

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/plain"
)

const (
	// maxReason is in bytes, so that it holds in whatever a host counts. Claude Code
	// cuts what a hook says at 10,000 characters.
	maxReason   = 9000
	maxFindings = 5
	maxSteps    = 20
	maxExcerpt  = 160 // characters
	maxStep     = 300
)

// reason tells the agent what was found in its message and what to do now.
func reason(v stop.Verdict) string {
	var b strings.Builder
	b.WriteString("Your last message announces work that is not done")
	findings := mentions(v.Detections)
	if len(findings) == 0 {
		b.WriteString(".\n")
	} else {
		b.WriteString(":\n")
	}
	for _, d := range findings[:min(len(findings), maxFindings)] {
		fmt.Fprintf(&b, "- \"%s\"\n", plain.Line(d.Text, maxExcerpt))
	}
	if more := len(findings) - maxFindings; more > 0 {
		fmt.Fprintf(&b, "- and %d more\n", more)
	}
	if len(v.Steps) == 0 {
		b.WriteString("\nDo it now, before you stop.")
	} else {
		b.WriteString("\nDo these steps now, before you stop:\n")
	}
	for i, s := range v.Steps[:min(len(v.Steps), maxSteps)] {
		fmt.Fprintf(&b, "%d. %s\n", i+1, plain.Line(s.Description, maxStep))
	}
	if more := len(v.Steps) - maxSteps; more > 0 {
		fmt.Fprintf(&b, "and the %d further steps of your message.\n", more)
	}
	b.WriteString("\nThen say what you did. If a step cannot be done, is not part of the task or needs a decision of the user, " +
		"say so plainly instead of announcing it.")
	return cut(b.String(), maxReason)
}

// mentions leaves out mere references, and mentions within one that was listed.
func mentions(all []stop.Detection) []stop.Detection {
	var out []stop.Detection
	end := -1
	for _, d := range all {
		if !d.Real || (d.Start < end && d.End <= end) {
			continue
		}
		out, end = append(out, d), max(end, d.End)
	}
	return out
}

// cut shortens s to at most limit bytes of whole characters.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	const more = "…"
	end := limit - len(more)
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}
