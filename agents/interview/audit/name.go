package audit

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
)

// candidateID is what ids of candidates look like. The service takes no others,
// but a store may have been filled by somebody else.
var candidateID = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// SessionFileName is FileName for one session of a candidate who has several: the
// start of the session's id follows after "+", which no candidate's id holds.
func SessionFileName(candidate, id, extension string) string {
	if !candidateID.MatchString(id) {
		sum := sha256.Sum256([]byte(id))
		id = hex.EncodeToString(sum[:])
	}
	return FileName(candidate, "+"+id[:min(shortID, len(id))]+extension)
}

// FileName returns the name of a candidate's audit with an extension such as ".json":
// session_audit_{candidate}.json. It is one plain name, whatever the id: one that
// is no candidate's id is replaced by "_" and the start of its SHA-256, which no
// candidate's id can be.
func FileName(candidate, extension string) string {
	if !candidateID.MatchString(candidate) {
		sum := sha256.Sum256([]byte(candidate))
		candidate = "_" + hex.EncodeToString(sum[:8])
	}
	return "session_audit_" + candidate + extension
}
