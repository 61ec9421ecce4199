package hook

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxReason is in bytes, which is the upper bound for every unit that hosts count in.
	// Claude Code cuts reasons at 10,000 characters.
	maxReason   = 9000
	maxFindings = 5
	maxSteps    = 20
	maxExcerpt  = 160 // characters
)

// reason returns the next prompt of the agent, in the language of its message: what was found
// and what to do now.
func reason(v stop.Verdict) string {
	w := english
	if v.Language == "fr" {
		w = french
	}
	var b strings.Builder
	if !v.NeedsApproval {
		b.WriteString(w.found)
		findings := mentions(v.Detections)
		if len(findings) == 0 {
			b.WriteString(".\n")
		} else {
			b.WriteString(w.colon + "\n")
		}
		for _, d := range findings[:min(len(findings), maxFindings)] {
			fmt.Fprintf(&b, "- \"%s\"\n", sanitize.Line(d.Text, maxExcerpt))
		}
		if more := len(findings) - maxFindings; more > 0 {
			fmt.Fprintf(&b, w.more+"\n", more)
		}
		b.WriteByte('\n')
	}
	b.WriteString(v.Order().Text(maxSteps))
	b.WriteString("\n\n" + w.then)
	return cut(b.String(), maxReason)
}

// wording is the text of a reason in one language.
type wording struct{ found, colon, more, then string }

var (
	english = wording{
		found: "Your last message announces work that is not done", colon: ":", more: "- and %d more",
		then: "Then say what you did, and plainly what you did not do and why, instead of announcing it.",
	}
	french = wording{
		found: "Ton dernier message annonce du travail qui n'est pas fait", colon: " :", more: "- et %d de plus",
		then: "Dis ensuite ce que tu as fait, et clairement ce que tu n'as pas fait et pourquoi, au lieu de l'annoncer.",
	}
)

// mentions drops mere references and mentions within another one. The mentions are in the order
// of their starts.
func mentions(all []stop.Detection) []stop.Detection {
	var out []stop.Detection
	end := -1
	for _, d := range all {
		if !d.Real || (d.Start < end && d.End <= end) {
			continue
		}
		if n := len(out); n > 0 && out[n-1].Start == d.Start && d.End > d.Start {
			out = out[:n-1] // the longer one comes second
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
	return sanitize.Shorten(s, limit-len("…"))
}
