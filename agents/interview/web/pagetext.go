package web

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// block is a run of lines of one kind. Texts of models and candidates are never markup.
type block struct {
	Kind  blockKind
	Lines []string
	// Mark is the emoji before a heading, which screen readers skip.
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
	// Line is the whole line of the question, which is submitted.
	Line string
}

// stars matches bold text in Markdown.
var stars = lazyregexp.New(`\*\*(\S|\S[^*]*\S)\*\*`)

// statusMarks are the signs of the status line of a matching.
var statusMarks = map[string]string{"🟢": "yes", "🔵": "partly", "🟠": "no"}

// parseBlocks splits a text into blocks.
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
			out = append(out, block{}) // ends the block before
			continue
		}
		follows := i+1 < len(lines) && strings.TrimSpace(lines[i+1]) != ""
		begins := i == 0 || strings.TrimSpace(lines[i-1]) == ""
		kind, line := lineKind(line, begins, follows)
		add(kind, line)
	}
	return slices.DeleteFunc(out, func(b block) bool { return b.Kind == "" })
}

// lineKind returns the kind of a line, and the line without marks. begins is true if the line is
// the first one after an empty one, and follows if another line follows.
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

// isChoice reports whether a line is a choice: a letter from A to E, a dot or a parenthesis, a
// space and a text.
func isChoice(line string) bool {
	return len(line) > 3 && line[0] >= 'A' && line[0] <= 'E' && (line[1] == '.' || line[1] == ')') &&
		strings.TrimLeft(line[2:], " \t\u00a0") != line[2:]
}

// beginsWithEmoji reports whether a line begins with an emoji or a keycap.
func beginsWithEmoji(line string) bool {
	first, size := utf8.DecodeRuneInString(line)
	return unicode.Is(unicode.So, first) || strings.HasPrefix(line[size:], "\ufe0f") || strings.HasPrefix(line[size:], "\u20e3")
}

// splitMark splits the emoji off a heading. The digit of a keycap stays in the title.
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

// looksLikeTitle reports whether the first line of a part is a title: short, capitalized and not a
// sentence.
func looksLikeTitle(line string, follows bool) bool {
	first, _ := utf8.DecodeRuneInString(line)
	last, _ := utf8.DecodeLastRuneInString(line)
	return follows && isShort(line) && unicode.IsUpper(first) && (unicode.IsLetter(last) || unicode.IsDigit(last))
}

func isShort(line string) bool { return utf8.RuneCountInString(line) <= 60 }

// withoutStars removes the marks of bold text, which some models write.
func withoutStars(line string) string { return stars().ReplaceAllString(line, "$1") }

// frenchSpaces makes the spaces of French punctuation non-breaking.
var frenchSpaces = strings.NewReplacer(" :", "\u00a0:", " ;", "\u00a0;", " !", "\u00a0!", " ?", "\u00a0?", " »", "\u00a0»", "« ", "«\u00a0")

// choicesOf returns the choices of a question: at least two, from A on, each on its own line.
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

// Tint returns the colour class of a status.
func (b block) Tint() string {
	first, _ := utf8.DecodeRuneInString(b.Lines[0])
	return statusMarks[string(first)]
}
