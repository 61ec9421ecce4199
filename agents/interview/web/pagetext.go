package web

import (
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// block is a piece of text that is shown as one thing. What a model or a
// candidate wrote is never markup: the form is read from lines alone.
type block struct {
	Kind  blockKind
	Lines []string
	// Mark is the emoji before a heading, which is not read out.
	Mark string
}

type blockKind string

const (
	paragraph  blockKind = "paragraph"
	heading    blockKind = "heading"
	bulletList blockKind = "list"
	choiceList blockKind = "choices" // of a multiple choice question
	statusLine blockKind = "status"  // of a matching
)

// choice is an answer to a multiple choice question.
type choice struct {
	Letter, Text string
	// Line is both, as the question has it: what is sent.
	Line string
}

// stars is compiled when the first text is shown, not when a program starts.
var stars = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\*\*(\S|\S[^*]*\S)\*\*`) })

// statusMarks begin the status line of a matching.
var statusMarks = map[string]string{"🟢": "yes", "🔵": "partly", "🟠": "no"}

// parseBlocks reads the form of a text.
func parseBlocks(text string, l session.Language) []block {
	if l == session.French {
		text = frenchSpaces.Replace(text)
	}
	var out []block
	add := func(kind blockKind, line string) {
		if last := len(out) - 1; last >= 0 && out[last].Kind == kind && kind != heading && kind != statusLine {
			out[last].Lines = append(out[last].Lines, line)
			return
		}
		b := block{Kind: kind, Lines: []string{line}}
		if kind == heading {
			b.Mark, b.Lines[0] = splitMark(line)
		}
		out = append(out, b)
	}
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		if line == "" {
			out = append(out, block{}) // ends what it follows
			continue
		}
		follows := i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != ""
		begins := i == 0 || strings.TrimSpace(lines[i-1]) == ""
		kind, line := lineKind(line, begins, follows)
		add(kind, line)
	}
	kept := out[:0]
	for _, b := range out {
		if b.Kind != "" {
			kept = append(kept, b)
		}
	}
	return kept
}

// lineKind returns what a line is, and how it reads without its marks. It begins a
// part if it is the first line after an empty one; another line may follow it.
func lineKind(line string, begins, follows bool) (blockKind, string) {
	first, _ := utf8.DecodeRuneInString(line)
	switch {
	case statusMarks[string(first)] != "":
		return statusLine, line
	case isChoice(line):
		return choiceList, line
	}
	if mark, rest, ok := strings.Cut(line, " "); ok {
		switch rest = strings.TrimSpace(rest); {
		case mark == "-" || mark == "*" || mark == "•":
			return bulletList, withoutStars(rest)
		case strings.Trim(mark, "#") == "" && len(mark) <= 6:
			return heading, withoutStars(rest)
		}
	}
	if beginsWithEmoji(line) && isShort(line) || begins && looksLikeTitle(line, follows) {
		return heading, withoutStars(line)
	}
	return paragraph, withoutStars(line)
}

// isChoice reports whether a line is a choice: a letter from A to E, a dot or a
// bracket, a space and a text.
func isChoice(line string) bool {
	return len(line) > 3 && line[0] >= 'A' && line[0] <= 'E' && (line[1] == '.' || line[1] == ')') &&
		strings.TrimLeft(line[2:], " \t\u00a0") != line[2:]
}

// beginsWithEmoji reports whether a line begins with an emoji, a keycap ones included.
func beginsWithEmoji(line string) bool {
	first, size := utf8.DecodeRuneInString(line)
	return unicode.Is(unicode.So, first) || strings.HasPrefix(line[size:], "\ufe0f") || strings.HasPrefix(line[size:], "\u20e3")
}

// splitMark splits the emoji off a heading. Of a keycap the digit stays, as it says
// something.
func splitMark(line string) (mark, title string) {
	if digit, rest, ok := strings.Cut(line, "\u20e3"); ok {
		if digit = strings.TrimSuffix(digit, "\ufe0f"); len(digit) == 1 {
			return "", digit + ". " + strings.TrimSpace(rest)
		}
	}
	mark, title, ok := strings.Cut(line, " ")
	if first, _ := utf8.DecodeRuneInString(mark); !ok || !unicode.Is(unicode.So, first) {
		return "", line
	}
	return mark, strings.TrimSpace(title)
}

// looksLikeTitle reports whether the first line of a part has the look of a title: short,
// with a capital, and no sentence.
func looksLikeTitle(line string, follows bool) bool {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	return follows && isShort(line) && unicode.IsUpper(first) && (unicode.IsLetter(last) || unicode.IsDigit(last))
}

func isShort(line string) bool { return utf8.RuneCountInString(line) <= 60 }

// withoutStars leaves out the stars of bold text, which some models write.
func withoutStars(line string) string { return stars().ReplaceAllString(line, "$1") }

// frenchSpaces keeps the marks before which French writes a space on the line of what
// is before them.
var frenchSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u00a0;", " !", "\u00a0!", " ?", "\u00a0?", " »", "\u00a0»", "« ", "«\u00a0")

// choicesOf returns the choices of a question: two at least, from A on, each on a
// line of its own. Without them the question is an open one.
func choicesOf(text string) []choice {
	var found []choice
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !isChoice(line) {
			continue
		}
		if int(line[0]-'A') != len(found) {
			return nil
		}
		found = append(found, choice{Letter: line[:1], Text: withoutStars(strings.TrimSpace(line[2:])), Line: line})
	}
	if len(found) < 2 {
		return nil
	}
	return found
}

// withoutChoices leaves out the lines of choices.
func withoutChoices(all []block) []block {
	var out []block
	for _, b := range all {
		if b.Kind != choiceList {
			out = append(out, b)
		}
	}
	return out
}

// Tint returns how a status is coloured.
func (b block) Tint() string {
	first, _ := utf8.DecodeRuneInString(b.Lines[0])
	return statusMarks[string(first)]
}
