package flow

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/plain"
)

// ParseWorks reads the works that the candidate named, in order.
func ParseWorks(text string) []string {
	var works []string
	for work := range strings.SplitSeq(strings.ReplaceAll(text, " et ", ","), ",") {
		if work = strings.TrimSpace(work); work != "" {
			works = append(works, work)
		}
	}
	return works
}

// ParseCore reads which work the candidate holds dearest.
func ParseCore(text string, works []string) string {
	for _, w := range works {
		if strings.Contains(strings.ToLower(text), strings.ToLower(w)) {
			return w
		}
	}
	return plain.Line(text, 120)
}
