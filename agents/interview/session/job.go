package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
)

// Job is the position that an interview is about. A session keeps the job with which it began.
type Job struct {
	// ID names the job in addresses and requests. Jobs in several languages may share an id.
	ID       string   `yaml:"id,omitempty" json:"id"`
	Language Language `yaml:"language" json:"language" jsonschema:"enum=fr,enum=en"`
	Title    string   `yaml:"title" json:"title"`
	Mission  string   `yaml:"mission" json:"mission"`
	Context  string   `yaml:"context" json:"context"`
	// Requirements are what the job demands of a person, one sentence each.
	Requirements []string `yaml:"requirements" json:"requirements"`
}

// Hash returns the SHA-256 of the job, in hexadecimal.
func (j Job) Hash() string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %q %q %q %q", j.ID, j.Language, j.Title, j.Mission, j.Context, j.Requirements))
	return hex.EncodeToString(sum[:])
}
