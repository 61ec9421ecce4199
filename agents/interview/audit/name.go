package audit

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// candidateID matches the candidate ids that the service accepts. A store may contain others.
var candidateID = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// FileName returns the file name of the audit of a session, such as session_audit_lea.json. If
// the candidate has several sessions, it also contains the start of the session's id after "+",
// which no candidate id contains. It never contains a path: an invalid candidate id is replaced by
// "_" and the start of its SHA-256, which no valid id equals.
func FileName(s About, several bool, extension string) string {
	candidate, suffix := s.Candidate, ""
	if !candidateID().MatchString(candidate) {
		candidate = "_" + digest(candidate)[:16]
	}
	if several {
		id := s.ID
		if !candidateID().MatchString(id) {
			id = digest(id)
		}
		suffix = "+" + id[:min(shownID, len(id))]
	}
	return "session_audit_" + candidate + suffix + extension
}

// shownID is the maximum length of the id in a file name.
const shownID = 8

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
