package flow

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// ParseRegister reads how the candidate wants to be addressed.
func ParseRegister(text string, _ session.Language) (session.Register, bool) {
	switch strings.ToLower(strings.TrimSpace(text)) {
	case "a", "tu":
		return session.Informal, true
	case "b", "vous":
		return session.Formal, true
	}
	return "", false
}

// ParseMedium reads whether the candidate prefers series or films.
func ParseMedium(text string) (session.Medium, bool) {
	lower := strings.ToLower(text)
	switch {
	case strings.Contains(lower, "séri") || strings.Contains(lower, "seri"):
		return session.Series, true
	case strings.Contains(lower, "film") || strings.Contains(lower, "cinéma"):
		return session.Film, true
	}
	return "", false
}

// ParseWorks reads the works that the candidate named, in order.
func ParseWorks(text string) []string {
	var works []string
	for work := range strings.SplitSeq(text, ",") {
		if work = strings.TrimSpace(work); work != "" {
			works = append(works, work)
		}
	}
	return works
}

// ParseCore reads which work the candidate holds dearest.
func ParseCore(text string, _ []string) string { return strings.TrimSpace(text) }
