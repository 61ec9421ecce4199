// Package export writes the data of one interview for the person who gave it: as JSON, and as plain text.
package export

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// Schema identifies the JSON format of an Interview.
const Schema = "rehearse.interview-export/1"

// Interview contains the messages and answers of an interview, and how the service understood them. It contains neither
// the id, which opens the interview, nor the ledger of calls, which has no text.
type Interview struct {
	Schema    string           `json:"schema"`
	Candidate string           `json:"candidate"`
	Language  session.Language `json:"language"`
	Created   time.Time        `json:"created"`
	Updated   time.Time        `json:"updated"`
	Step      session.Step     `json:"step"`
	Finished  bool             `json:"finished"`
	// Register, Medium, Works and CoreWork were read from the answers.
	Register session.Register  `json:"register,omitempty"`
	Medium   session.Medium    `json:"medium,omitempty"`
	Works    []string          `json:"works,omitempty"`
	CoreWork string            `json:"core_work,omitempty"`
	Messages []session.Message `json:"messages"`
	// Answers repeat the messages of the candidate by step and question, and Questions contains the
	// prepared questions of each step.
	Answers   []session.Answer `json:"answers"`
	Questions []session.Queue  `json:"questions"`
}

// Read reads an interview at one version.
func Read(ctx context.Context, store session.Store, id string) (Interview, error) {
	d, err := audit.Read(ctx, store, id)
	if err != nil {
		return Interview{}, err
	}
	s := d.Session
	return Interview{
		Schema: Schema, Candidate: s.Candidate, Language: s.Language, Created: s.Created, Updated: s.Updated,
		Step: s.Step, Finished: s.Phase == session.Finished, Register: s.Register, Medium: s.Medium, Works: s.Works,
		CoreWork: s.CoreWork, Messages: d.Messages, Answers: d.Answers, Questions: d.Queues,
	}, nil
}

// JSON writes the interview as indented JSON.
func (i Interview) JSON(w io.Writer) error {
	err := json.MarshalWrite(w, i, jsontext.WithIndent("  "))
	if err == nil {
		_, err = io.WriteString(w, "\n")
	}
	if err != nil {
		return fmt.Errorf("write the interview as JSON: %w", err)
	}
	return nil
}

// words are the texts of Text in one language.
type words struct{ interview, begun, changed, candidate, interviewer, inProgress string }

var wordsIn = map[session.Language]words{
	session.French: {
		"Entretien", "commencé le", "modifié le", "Réponse", "Entretien", "pas encore terminé",
	},
	session.English: {
		"Interview", "begun", "last change", "Answer", "Interviewer", "not finished yet",
	},
}

// Text writes the messages as plain text in the language of the interview, without control characters.
func (i Interview) Text(w io.Writer) error {
	t, ok := wordsIn[i.Language]
	if !ok {
		t = wordsIn[session.French]
	}
	const minute = "2006-01-02 15:04 UTC"
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n%s %s, %s %s", t.interview, sanitize.Line(i.Candidate, 0),
		t.begun, i.Created.UTC().Format(minute), t.changed, i.Updated.UTC().Format(minute))
	if !i.Finished {
		b.WriteString(", " + t.inProgress)
	}
	b.WriteString("\n")
	for _, m := range i.Messages {
		who := t.interviewer
		if m.Role == llm.User {
			who = t.candidate
		}
		fmt.Fprintf(&b, "\n--- %s (%s)\n\n%s\n", who, m.At.UTC().Format(minute), strings.TrimSpace(sanitize.Text(m.Text, 0)))
	}
	if _, err := io.WriteString(w, b.String()); err != nil {
		return fmt.Errorf("write the interview as text: %w", err)
	}
	return nil
}
