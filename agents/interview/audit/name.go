package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// candidateID matches the candidate ids that the service accepts. A store may contain others.
var candidateID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// SessionFileName returns the FileName for one of several sessions of a candidate. It appends "+",
// which no candidate id contains, and the start of the session's id.
func SessionFileName(candidate, id, extension string) string {
	if !candidateID.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return FileName(candidate, "+"+id[:min(shortID, len(id))]+extension)
}

// FileName returns the file name of an audit with an extension such as ".json":
// session_audit_{candidate}.json. It never contains a path: an invalid candidate id is replaced
// by "_" and the start of its SHA-256, which no valid id equals.
func FileName(candidate, extension string) string {
	if !candidateID.MatchString(candidate) {
		sum := sha256.Sum256([]byte(candidate))
		candidate = "_" + hex.EncodeToString(sum[:8])
	}
	return "session_audit_" + candidate + extension
}
