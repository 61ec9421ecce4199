package session

import "time"

// Share admits somebody to the audit of one session: its token opens the audit, and nothing else.
type Share struct {
	// Hash is that of the token, which is not stored.
	Hash string `json:"id"`
	// Session is the id of the session; it gives access to the interview. See Shown.
	Session string `json:"session"`
	// For describes the recipient, for operators and in the audit; may be empty.
	For string `json:"for,omitempty"`
	// Texts is true if the audit contains the texts of messages.
	Texts   bool      `json:"texts,omitempty"`
	Created time.Time `json:"created"`
	Expires time.Time `json:"expires"`
	Revoked bool      `json:"revoked,omitempty"`
	// Opened is the number of times that the audit was opened, and Last the last time.
	Opened int       `json:"opened"`
	Last   time.Time `json:"last,omitzero"`
}

// HashShare returns the hash of a token. Tokens are random, so it does not reveal them.
func HashShare(token string) string { return hashToken("share", token) }

// ID names the share for operators.
func (s Share) ID() string { return s.Hash[:min(shownHash, len(s.Hash))] }

// Shown returns the share with the starts of its hash and of the session's id only, which give access to
// nothing.
func (s Share) Shown() Share {
	s.Hash, s.Session = s.ID(), ShortID(s.Session)
	return s
}

// State returns "open", "expired" or "revoked".
func (s Share) State(now time.Time) string {
	switch {
	case s.Revoked:
		return "revoked"
	case !now.Before(s.Expires):
		return "expired"
	}
	return "open"
}
