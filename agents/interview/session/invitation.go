package session

import (
	"crypto/sha256"
	"encoding/hex"
	"time"
)

// Invitation admits a candidate: its token begins interviews.
type Invitation struct {
	// Hash is that of the token, which is not stored.
	Hash string `json:"hash"`
	// Candidate is the candidate of its sessions; empty leaves the choice to the client.
	Candidate string `json:"candidate,omitempty"`
	// Job is the id of the job of its sessions; empty leaves the choice to the client.
	Job string `json:"job,omitempty"`
	// Uses is the number of sessions that it may begin, and Used the number that it began.
	Uses    int       `json:"uses"`
	Used    int       `json:"used"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked,omitempty"`
	// Session is the id of the last session that it began; it gives access to the session.
	Session string `json:"-"`
}

// HashInvitation returns the hash of a token. Tokens are random, so it does not reveal them.
func HashInvitation(token string) string { return hashToken("invitation", token) }

func hashToken(purpose, token string) string {
	sum := sha256.Sum256([]byte(purpose + " " + token))
	return hex.EncodeToString(sum[:])
}

// shownHash is the length of an ID, which suffices to tell invitations or shares apart.
const shownHash = 10

// ID names the invitation for operators.
func (i Invitation) ID() string { return i.Hash[:min(shownHash, len(i.Hash))] }

// State returns "open", "used", "expired" or "revoked".
func (i Invitation) State(now time.Time) string {
	switch {
	case i.Revoked:
		return "revoked"
	case i.Used >= i.Uses:
		return "used"
	case !now.Before(i.Expires):
		return "expired"
	}
	return "open"
}
