// Package validate says whether what a model wrote has the form that an
// interview demands, and in so many words what it lacks.
package validate

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Separator stands between the questions of a batch, on a line of its own.
const Separator = "---QUESTION_SEPARATOR---"

// Expected is what a text is held against.
type Expected struct {
	Purpose  session.Purpose
	Step     session.Step
	Index    int // of the question, for session.PurposeAdaptive
	Language session.Language
	Medium   session.Medium
	// Works are those that the candidate named; the questions and the mirror of
	// block 2B name them.
	Works []string
}

// Rule names what a text breaks, in recordings and ledgers.
type Rule string

// Finding is one thing that is wrong with a text.
type Finding struct {
	Rule Rule
	// Section names the part of the text; empty means all of it.
	Section string
	// Count is what was found, Limit what is allowed or demanded; both 0 where
	// nothing is counted.
	Count, Limit int
	// Warning means that the text is worth another attempt but may be used.
	Warning bool
	// Message says it for a person, with section, count and limit.
	Message string
}

// Result is what a check found, and the text in the form in which it is used.
type Result struct {
	Findings []Finding
	// Questions are those of a batch.
	Questions []string
	// Text is the text without space around it.
	Text string
}

// Valid reports whether the text may be used: it has warnings at most.
func (r Result) Valid() bool {
	for _, f := range r.Findings {
		if !f.Warning {
			return false
		}
	}
	return true
}

// Check holds a text against what is expected.
func Check(text string, want Expected) Result {
	r := Result{Text: strings.TrimSpace(text)}
	if want.Purpose == session.PurposeQuestions {
		for q := range strings.SplitSeq(r.Text, Separator) {
			r.Questions = append(r.Questions, strings.TrimSpace(q))
		}
	}
	return r
}
