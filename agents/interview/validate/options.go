package validate

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// option is one option of a question.
type option struct {
	letter byte
	text   string
	line   string // the whole line
}

// readOption reads a line such as "A. text", "  A) text" or "- **A.** text".
func readOption(line string) (option, bool) {
	s := strings.TrimSpace(line)
	for _, bullet := range []string{"- ", "* ", "• "} {
		s = strings.TrimPrefix(s, bullet)
	}
	s = strings.TrimLeft(s, "*_( ")
	if len(s) < 2 || s[0] < 'A' || s[0] > 'Z' {
		return option{}, false
	}
	letter := s[0]
	s = strings.TrimLeft(s[1:], "*_")
	if s == "" || s[0] != '.' && s[0] != ')' {
		return option{}, false
	}
	s = strings.TrimLeft(s[1:], "*_")
	if len(s) >= 2 && s[0] >= 'A' && s[0] <= 'Z' && s[1] == '.' { // "A.B. Smith"
		return option{}, false
	}
	return option{letter: letter, text: strings.TrimSpace(s), line: line}, true
}

// hasMarks reports whether a line contains the marks of options ("A. ", "B) ") with all letters in
// order, each followed by text.
func hasMarks(line string, letters ...byte) bool {
	next := 0
	for i := 0; i < len(line) && next < len(letters); i++ {
		if line[i] == letters[next] && (i == 0 || opens(line[i-1])) && closes(line[i+1:]) {
			next++
		}
	}
	return next == len(letters)
}

func opens(c byte) bool { return strings.IndexByte(" \t(*_;,/|-:", c) >= 0 }

// closes reports whether the text after a letter makes it the mark of an option.
func closes(rest string) bool {
	rest = strings.TrimLeft(rest[:min(len(rest), 8)], "*_")
	if len(rest) < 3 || rest[0] != '.' && rest[0] != ')' {
		return false
	}
	rest = strings.TrimLeft(rest[1:], "*_")
	return rest != "" && rest[0] == ' ' && strings.TrimSpace(rest) != ""
}

// packedOptions counts the options that share a line with the next one. A letter that also has a line
// of its own is part of a sentence ("a plan B. Then").
func packedOptions(options []option) int {
	var own [256]bool
	for _, o := range options {
		own[o.letter] = true
	}
	n := 0
	for _, o := range options {
		if !own[o.letter+1] && hasMarks(o.line, o.letter, o.letter+1) {
			n++
		}
	}
	return n
}

func (c *checker) options(q question) {
	find := func(f Finding) {
		f.Section = q.name
		c.add(f)
	}
	if q.packed > 0 {
		find(Finding{
			Rule: ruleOptionPacked, Count: q.packed,
			Message: fmt.Sprintf("%s has %s with more than one option; each option stands on a line of its own",
				q.name, format.Plural(q.packed, "line")),
		})
		return // the reason why letters and numbers are wrong, too
	}
	n := len(q.options)
	if n == 0 {
		return
	}
	if n < minOptions || n > maxOptions {
		find(Finding{
			Rule: ruleOptionCount, Count: n, Limit: min(max(n, minOptions), maxOptions),
			Message: fmt.Sprintf("%s has %s; %d to %d are expected, each on a line of its own",
				q.name, format.Plural(n, "option"), minOptions, maxOptions),
		})
	}
	for i, o := range q.options {
		if o.letter != byte('A'+min(i, 25)) {
			find(Finding{
				Rule: ruleOptionLetters, Count: i + 1,
				Message: fmt.Sprintf("%s has %c as option %d; the letters go from A without a gap", q.name, o.letter, i+1),
			})
			break
		}
	}
	c.optionTexts(q, find)
}

func (c *checker) optionTexts(q question, find func(Finding)) {
	seen := map[string]byte{}
	for _, o := range q.options[:min(len(q.options), 'Z'-'A'+1)] {
		text := textfold.Join(o.text)
		first, known := seen[text]
		switch {
		case text == "":
			find(Finding{
				Rule:    ruleOptionEmpty,
				Message: fmt.Sprintf("option %c of %s is empty", o.letter, q.name),
			})
		case known:
			find(Finding{
				Rule:    ruleOptionDuplicate,
				Message: fmt.Sprintf("options %c and %c of %s are the same", first, o.letter, q.name),
			})
		default:
			seen[text] = o.letter
		}
	}
}
