package validate

import (
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// maxStatement is the maximum length in words of an introduction or a remark that is omitted.
const maxStatement = 40

// states reports whether a text is a complete remark that does not ask anything.
func states(text string) bool {
	if n := textfold.Count(text); n == 0 || n > maxStatement || asks(text) {
		return false
	}
	text = strings.TrimRight(text, " \t\r\n\u00a0\u202f»\"”)")
	return strings.HasSuffix(text, ":") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, ".") && !strings.HasSuffix(text, "..")
}

// questionsOf returns the questions of a batch as plain text, without parts that do not ask anything.
// omitted is the number of these, except the first part, which may be an introduction.
func questionsOf(text string) (questions []string, omitted int) {
	for i, part := range Split(text) {
		part = withoutIntroduction(plainText(part))
		if states(part) {
			if i > 0 {
				omitted++
			}
			continue
		}
		questions = append(questions, part)
	}
	return questions, omitted
}

// label matches a line that only numbers a question.
var label = lazyregexp.New(`(?i)^\s*(?:question|q)\s*(?:n[°o]\s*)?\d{1,2}\s*[:.)–—-]?\s*$`)

// withoutIntroduction removes the lines that announce a question: "Voici la première question :",
// "Question 1".
func withoutIntroduction(text string) string {
	for {
		line := nextLine(text)
		rest := text[len(line):]
		_, option := readOption(line)
		announces := strings.HasSuffix(strings.TrimRight(line, " \t\r\n\u00a0\u202f"), ":") && !asks(line)
		if strings.TrimSpace(rest) == "" || option || !announces && !label().MatchString(line) {
			return text
		}
		text = strings.TrimLeft(rest, " \t\r\n")
	}
}

// Markdown in a question, which the page would show as text.
var (
	headMarks  = lazyregexp.New(`(?m)^[ \t]*(?:#{1,6}[ \t]+|>[ \t]?)`)
	bullets    = lazyregexp.New(`(?m)^[ \t]*[-*•][ \t]+((?:\*\*|__|\*|_)?[A-Z](?:\*\*|__|\*|_)?[.)])`)
	strong     = lazyregexp.New(`\*\*|__|` + "`")
	emphasised = lazyregexp.New(`(^|[\s(«“"'’-])[*_]([^\s*_](?:[^*_\n]*[^\s*_])?)[*_]($|[\s).,;:!?…»”"'’-])`)
)

// bulletMarks are parts of a match of bullets.
var bulletMarks = []string{"- ", "-\t", "* ", "*\t", "• ", "•\t"}

// plainText removes Markdown.
func plainText(text string) string {
	if strings.ContainsAny(text, "#>") {
		text = headMarks().ReplaceAllString(text, "")
	}
	if containsAny(text, bulletMarks) {
		text = bullets().ReplaceAllString(text, "$1")
	}
	if strings.ContainsAny(text, "*_`") {
		text = strong().ReplaceAllString(text, "")
		text = emphasised().ReplaceAllString(text, "$1$2$3")
	}
	return strings.TrimSpace(text)
}
