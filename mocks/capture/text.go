package capture

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/mocks"
)

// longText is the length in bytes from which a text is matched by its beginning and its
// end, of edgeText bytes each: scripts are to be read, and have a limit.
const (
	longText = 1000
	edgeText = 300
)

// mark finds the places of secrets; what stood there is not known and must not be.
var mark = regexp.MustCompile(`\[REDACTED:[a-z-]+\]`)

// matchText is a condition that the text fits, also with the secrets that it had; nil if
// it is empty.
func matchText(text string) *mocks.Match {
	switch {
	case text == "":
		return nil
	case len(text) <= longText && !mark.MatchString(text):
		return &mocks.Match{Equals: text}
	case len(text) <= longText:
		return &mocks.Match{Matches: "(?s)^" + pattern(text) + "$"}
	}
	return &mocks.Match{Matches: "(?s)^" + pattern(head(text)) + ".*" + pattern(tail(text)) + "$"}
}

// pattern is a regular expression for a text in which marks stand for anything.
func pattern(text string) string {
	parts := mark.Split(text, -1)
	for i, p := range parts {
		parts[i] = regexp.QuoteMeta(p)
	}
	return strings.Join(parts, ".+")
}

// head is the beginning of a long text, which ends in no mark's middle.
func head(text string) string {
	end := edgeText
	for _, at := range mark.FindAllStringIndex(text, -1) {
		if at[0] < end && end < at[1] {
			end = at[0]
		}
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end]
}

// tail is the end of a long text, which begins in no mark's middle.
func tail(text string) string {
	begin := len(text) - edgeText
	for _, at := range mark.FindAllStringIndex(text, -1) {
		if at[0] < begin && begin < at[1] {
			begin = at[1]
		}
	}
	for begin < len(text) && !utf8.RuneStart(text[begin]) {
		begin++
	}
	return text[begin:]
}
