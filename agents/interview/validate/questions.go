package validate

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// separatorWord is the separator without punctuation.
const separatorWord = "QUESTION_SEPARATOR"

// batch checks the questions of a step.
func (c *checker) batch() {
	questions, omitted := questionsOf(c.Text)
	c.Questions = questions
	n := len(questions)
	if omitted > 0 {
		c.add(Finding{
			Rule: ruleNoQuestion, Count: omitted, Warning: true,
			Message: fmt.Sprintf("%s of the batch ask nothing and are left out; write questions only", format.Plural(omitted, "part")),
		})
	}
	if n < minQuestions || n > maxQuestions {
		c.add(Finding{
			Rule: ruleQuestionCount, Count: n, Limit: min(max(n, minQuestions), maxQuestions),
			Message: fmt.Sprintf("the batch has %s; %d to %d are expected, with %s on a line of its own between them",
				format.Plural(n, "question"), minQuestions, maxQuestions, separator),
		})
	} else if n < askedQuestions && c.want.Step != session.Block2B { // has a question for each work
		c.add(Finding{
			Rule: ruleQuestionCount, Count: n, Limit: askedQuestions, Warning: true,
			Message: fmt.Sprintf("the batch has %s; %d were asked for", format.Plural(n, "question"), askedQuestions),
		})
	}
	var all []question
	for i, text := range questions[:min(n, maxQuestions)] {
		q := readQuestion(fmt.Sprintf("question %d", i+1), text)
		c.question(q)
		if textfold.Count(text) > 0 && !asks(text) {
			c.add(Finding{
				Rule: ruleNoQuestion, Count: 1, Warning: true, Words: quoted(text), Place: q.name,
				Message: q.name + " asks nothing; write questions only",
			})
		}
		all = append(all, q)
	}
	if c.want.Step == session.Block2B {
		c.projective(all)
	}
}

// Split splits a batch at lines that contain only the separator, and removes blank parts at both ends.
func Split(text string) []string {
	var parts []string
	start := 0
	for at := 0; at < len(text); {
		end := at + len(nextLine(text[at:]))
		if isSeparator(text[at:end]) {
			parts = append(parts, strings.TrimSpace(text[start:at]))
			start = end
		}
		at = end
	}
	parts = append(parts, strings.TrimSpace(text[start:]))
	for len(parts) > 0 && parts[0] == "" {
		parts = parts[1:]
	}
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

// isSeparator reports whether a line is the separator, apart from white space and Markdown.
func isSeparator(line string) bool {
	middle := strings.Trim(line, " \t\r\n-–—*_`#>\\\u00a0\ufeff")
	return len(middle) == len(separatorWord) && strings.EqualFold(middle, separatorWord)
}

// question is a parsed question.
type question struct {
	name string
	text string
	// stem is the text without the options.
	stem    string
	options []option
	// packed is the number of lines with more than one option.
	packed int
}

// readQuestion parses a question. A single option with another letter than A is part of a sentence
// ("C. Reeve").
func readQuestion(name, text string) question {
	q := question{name: name, text: text}
	var stem strings.Builder
	open := false // whether the next line may continue an option
	for line := range strings.Lines(text) {
		o, ok := readOption(line)
		switch {
		case ok:
			q.options = append(q.options, o)
			open = true
		case strings.TrimSpace(line) == "":
			open = false
		case open:
			o := &q.options[len(q.options)-1]
			o.text += " " + strings.TrimSpace(line)
		default:
			if hasMarks(line, 'A', 'B') {
				q.packed++
			}
			stem.WriteString(line)
		}
	}
	q.stem = stem.String()
	if len(q.options) == 1 && q.options[0].letter != 'A' {
		q.stem, q.options = text, nil
	}
	q.packed += packedOptions(q.options)
	return q
}

// question checks the rules for every question.
func (c *checker) question(q question) {
	if textfold.Count(q.text) == 0 {
		c.add(Finding{
			Rule: ruleQuestionEmpty, Section: q.name,
			Message: fmt.Sprintf("%s is empty", q.name),
		})
		return
	}
	if strings.Contains(strings.ToUpper(q.text), separatorWord) {
		c.add(Finding{
			Rule: ruleSeparator, Section: q.name,
			Message: fmt.Sprintf("%s holds the separator within a line; it must stand on a line of its own", q.name),
		})
	}
	if n := textfold.Count(q.text); n > maxQuestionWords {
		c.add(Finding{
			Rule: ruleTooLong, Section: q.name, Count: n, Limit: maxQuestionWords,
			Message: fmt.Sprintf("%s has %d words; at most %d are allowed", q.name, n, maxQuestionWords),
		})
	}
	c.oneQuestion(q)
	if len(q.options) == 0 && breaksOff(q.text) {
		c.add(Finding{
			Rule: ruleCutOff, Section: q.name, Warning: true,
			Message: fmt.Sprintf("%s breaks off in the middle of a sentence; end it with a mark", q.name),
		})
	}
	c.options(q)
}

// breaksOff reports whether a text does not end like a sentence, apart from Markdown, quotation marks
// and brackets.
func breaksOff(text string) bool {
	text = strings.TrimRight(text, " \t\r\n\u00a0\u202f*_`~\"'”’»)]}")
	last, _ := utf8.DecodeLastRuneInString(text)
	return !strings.ContainsRune(".?!…:;？！。", last)
}

// nextLine returns the first line of a text with its ending.
func nextLine(text string) string {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return text[:i+1]
	}
	return text
}
