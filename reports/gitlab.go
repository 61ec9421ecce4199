package reports

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// qualityIssue is an issue of GitLab's code quality report.
type qualityIssue struct {
	Description string          `json:"description"`
	Check       string          `json:"check_name"`
	Fingerprint string          `json:"fingerprint"`
	Severity    string          `json:"severity"`
	Location    qualityLocation `json:"location"`
}

type qualityLocation struct {
	Path  string `json:"path"`
	Lines struct {
		Begin int `json:"begin"`
	} `json:"lines"`
}

// GitLab writes a code quality report of GitLab: an issue for each scenario that did not pass, with its
// root cause first, and for each problem of the recording. The fingerprint of an issue depends on the
// scenario and the rule of its root cause, so GitLab recognises it in the next run.
func GitLab(w io.Writer, r Report) error {
	issues := []qualityIssue{}
	for _, a := range annotations(r) {
		sum := sha256.Sum256([]byte(a.name + "\x00" + a.file + "\x00" + a.rule))
		issue := qualityIssue{
			Description: sanitize.Line(a.title+": "+strings.Join(a.lines, "; "), maxMessage),
			Check:       "rehearse/" + sanitize.Line(a.rule, maxName),
			Fingerprint: hex.EncodeToString(sum[:]), Severity: "major",
			Location: qualityLocation{Path: cmp.Or(sanitize.Line(a.file, 0), ".")},
		}
		issue.Location.Lines.Begin = max(1, a.line)
		if a.broken {
			issue.Severity = "critical"
		}
		issues = append(issues, issue)
	}
	return JSON(w, issues)
}
