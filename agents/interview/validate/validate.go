// Package validate checks whether a text of a model has the form that an interview requires, and
// reports findings.
//
// Sections are found by their headings, which do not count as words of a section. Comparisons ignore
// case, accents and typography. No text may enter the zones that an interview must avoid: origin,
// religion, politics, health, disability, sexuality, unions, trauma, pathology, family and age.
package validate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// separator separates the questions of a batch, on its own line.
const separator = "---QUESTION_SEPARATOR---"

// Expected describes the text that is expected.
type Expected struct {
	Purpose  session.Purpose
	Step     session.Step
	Index    int // of the question, for session.PurposeAdaptive
	Language session.Language
	Medium   session.Medium
	// Works named by the candidate. The questions and the mirror of block 2B have to name them.
	Works []string
}

// Rule is the name of a rule in recordings and ledgers.
type Rule string

// Finding is a violation of a rule by a text.
type Finding struct {
	Rule Rule
	// Section of the text; empty for the whole text.
	Section string
	// Count is the number found, and Limit the number allowed or required; both are 0 for rules
	// without numbers.
	Count, Limit int
	// Warning is true if the text may be used, although another attempt is worthwhile.
	Warning bool
	// Wanted lists the missing titles, as the candidate wrote them. They must not become part of
	// instructions.
	Wanted []string
	// Words are the words of the text that the finding is about, at most maxWords characters, and Place
	// names the question or the line that contains them. Both may be empty.
	Words, Place string
	// Message describes the finding for a person, without quoting the text or the candidate.
	Message string
}

// maxWords is the maximum length of Finding.Words in characters.
const maxWords = 60

// quoted returns the words of a part of a text, shortened, without punctuation.
func quoted(text string) string {
	var words []string
	length := 0
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		word := strings.ToValidUTF8(text[w.Start:w.End], "")
		if length += utf8.RuneCountInString(word) + 1; length > maxWords {
			break
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// placeOf returns the name of the question or the line at an offset.
func (c *checker) placeOf(offset int) string {
	if c.want.Purpose == session.PurposeQuestions {
		return fmt.Sprintf("question %d", strings.Count(c.Text[:offset], separatorWord)+1)
	}
	return fmt.Sprintf("line %d", strings.Count(c.Text[:offset], "\n")+1)
}

// Result contains the findings about a text, and the text to use.
type Result struct {
	Findings []Finding
	// Questions are the questions of a batch.
	Questions []string
	// Text is the text without surrounding white space.
	Text string
}

// Valid reports whether the text may be used: all findings are warnings.
func (r Result) Valid() bool {
	for _, f := range r.Findings {
		if !f.Warning {
			return false
		}
	}
	return true
}

// Check checks a text. Its time is linear in the length of the text.
func Check(text string, want Expected) Result {
	c := &checker{want: want, works: session.NewTitles(want.Works)}
	c.Text = strings.TrimSpace(text)
	if _, ok := textfold.NewReader(c.Text).Next(); !ok {
		c.add(Finding{Rule: ruleEmpty, Message: "the text is empty"})
		return c.Result
	}
	if !utf8.ValidString(c.Text) {
		c.add(Finding{Rule: ruleEncoding, Message: "the text is not valid UTF-8"})
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
	c.address()
	c.score()
	c.forbidden()
	return c.Result
}

// checker collects the findings about one text.
type checker struct {
	Result
	want  Expected
	works *session.Titles
	found map[string][]session.TitleSpan // by text
	model *intrusion.Model               // nil for the shipped one
}

// find returns the titles in a text. It searches the whole text once, and only parts that are not as they stand in it again.
func (c *checker) find(text string) []session.TitleSpan {
	if spans, ok := c.found[text]; ok {
		return spans
	}
	if c.found == nil {
		c.found = map[string][]session.TitleSpan{c.Text: c.works.Find(c.Text)}
	}
	var spans []session.TitleSpan
	if at := strings.Index(c.Text, text); at >= 0 {
		for _, s := range c.found[c.Text] {
			if s.Start >= at && s.End <= at+len(text) {
				spans = append(spans, session.TitleSpan{Start: s.Start - at, End: s.End - at, Work: s.Work})
			}
		}
	} else {
		spans = c.works.Find(text)
	}
	c.found[text] = spans
	return spans
}

// named returns the indexes of the works that a text names.
func (c *checker) named(text string) map[int]bool { return session.WorksOf(c.find(text)) }

// cut removes the titles from a text.
func (c *checker) cut(text string) string { return session.CutSpans(text, c.find(text)) }

func (c *checker) add(f Finding) { c.Findings = append(c.Findings, f) }

// within adds a finding if the text has more words than limit.
func (c *checker) within(limit int) {
	if n := textfold.Count(c.Text); n > limit {
		c.add(Finding{
			Rule: ruleTooLong, Count: n, Limit: limit,
			Message: fmt.Sprintf("the text has %d words; at most %d are allowed", n, limit),
		})
	}
}

// preamble checks the text before the first block. It may ask whether the candidate is ready, and
// nothing else, because an answer would be lost.
func (c *checker) preamble() {
	c.within(maxPreambleWords)
	if n := textfold.Questions(c.Text); n > 1 {
		c.add(Finding{
			Rule: ruleQuestionSeveral, Count: n, Limit: 1,
			Message: fmt.Sprintf("the preamble asks %d questions; it may ask one at most, whether to start", n),
		})
	}
	if breaksOff(c.Text) {
		c.add(Finding{Rule: ruleCutOff, Warning: true, Message: "the preamble breaks off in the middle of a sentence"})
	}
}
