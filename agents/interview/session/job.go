package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Job is the position that an interview is about. A session keeps the job with which it began.
type Job struct {
	// ID names the job in addresses and requests. Jobs in several languages may share an id.
	ID string `yaml:"id,omitempty" json:"id"`
	// Language is the language of the texts, and of the interviews about the job.
	Language Language `yaml:"language" json:"language" jsonschema:"enum=fr,enum=en"`
	// Title is the name of the job, at most 120 characters.
	Title string `yaml:"title" json:"title"`
	// Mission is what the job is for, at most 800 characters.
	Mission string `yaml:"mission" json:"mission"`
	// Context is the team, the customers and the daily work, at most 800 characters.
	Context string `yaml:"context" json:"context"`
	// Requirements are what the job demands of a person: 1 to 12, each of at most 200 characters.
	Requirements []string `yaml:"requirements" json:"requirements"`
}

// JobID returns the id of the job of a session; empty in sessions from before jobs could be chosen.
func (s *Session) JobID() string {
	if s.Job == nil {
		return ""
	}
	return s.Job.ID
}

// Hash returns the SHA-256 of the job, in hexadecimal.
func (j Job) Hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", j.ID, j.Language, j.Title, j.Mission, j.Context, j.Requirements))
	return hex.EncodeToString(sum[:])
}
