// Package validate says whether what a model wrote has the form that an
// interview demands, and in so many words what it lacks.
//
// Sections are found by their headings, words are counted without them, and a
// text is compared without case, accents and typography. Every text is searched
// for the zones that an interview must leave alone.
package validate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// Separator stands between the questions of a batch, on a line of its own.
const Separator = "---QUESTION_SEPARATOR---"

// Expected is what a text is checked against.
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
	// Wanted are titles that the text lacks, as the candidate wrote them. They are
	// never part of instructions.
	Wanted []string
	// Message says it for a person, with section, count and limit. It quotes neither
	// the text nor what the candidate wrote.
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

// Check checks a text against what is expected. It takes time linear in the
// length of the text, whatever the text is.
func Check(text string, want Expected) Result {
	c := &checker{want: want, works: session.NewTitles(want.Works)}
	c.Text = strings.TrimSpace(text)
	if _, ok := textfold.NewReader(c.Text).Next(); !ok {
		c.find(Finding{Rule: ruleEmpty, Message: "the text is empty"})
		return c.Result
	}
	if !utf8.ValidString(c.Text) {
		c.find(Finding{Rule: ruleEncoding, Message: "the text is not valid UTF-8"})
	}
	switch want.Purpose {
	case session.PurposePreamble:
		c.preamble()
	case session.PurposeQuestions:
		c.batch()
	case session.PurposeAdaptive:
		c.adaptive()
	case session.PurposeMirror:
		if want.Step == session.Block2B {
			c.projectiveMirror()
		} else {
			c.mirror()
		}
	case session.PurposeProfile:
		c.profile()
	case session.PurposeMatching:
		c.matching()
	}
	c.language()
	c.forbidden()
	return c.Result
}

// checker collects what is found in one text.
type checker struct {
	Result
	want  Expected
	works *session.Titles
}

func (c *checker) find(f Finding) { c.Findings = append(c.Findings, f) }

// within finds a text that has more words than it may have.
func (c *checker) within(limit int) {
	if n := textfold.Count(c.Text); n > limit {
		c.find(Finding{
			Rule: ruleTooLong, Count: n, Limit: limit,
			Message: fmt.Sprintf("the text has %d words; at most %d are allowed", n, limit),
		})
	}
}

// preamble checks the text before the first block. It may end with the question
// whether the candidate is ready, and asks nothing else: an answer would be lost.
func (c *checker) preamble() {
	c.within(maxPreambleWords)
	if n := textfold.Questions(c.Text); n > 1 {
		c.find(Finding{
			Rule: ruleQuestionSeveral, Count: n, Limit: 1,
			Message: fmt.Sprintf("the preamble asks %d questions; it may ask one at most, whether to start", n),
		})
	}
	if breaksOff(c.Text) {
		c.find(Finding{Rule: ruleCutOff, Warning: true, Message: "the preamble breaks off in the middle of a sentence"})
	}
}
