package capture

import (
	"regexp"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/mocks"
)

// longText is the length in bytes from which a text is matched only by its first and last edgeText
// bytes, to keep scripts readable.
const (
	longText = 1000
	edgeText = 300
	// longUnsure is more than the length of the longest part that unsure matches.
	longUnsure = 100
)

// unsure matches parts that differ in another run: a redacted secret, a date, a UUID.
var unsure = lazyregexp.New(`(\[REDACTED:[a-z-]+\])|\b\d{4}-\d\d-\d\d\b|\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b`)

const (
	anything = `.+`
	anyDate  = `\d{4}-\d\d-\d\d`
	anyUUID  = `[0-9a-fA-F-]{36}`
)

// matchText returns a condition that matches the text, with any secrets and on any day; nil if the
// text is empty.
func matchText(text string) *mocks.Match {
	switch {
	case text == "":
		return nil
	case len(text) <= longText && !unsure().MatchString(text):
		return &mocks.Match{Equals: text}
	case len(text) <= longText:
		return &mocks.Match{Matches: "(?s)^" + pattern(text) + "$"}
	}
	return &mocks.Match{Matches: "(?s)^" + pattern(head(text)) + ".*" + pattern(tail(text)) + "$"}
}

// pattern returns a regular expression for a text.
func pattern(text string) string {
	var b strings.Builder
	done := 0
	for _, at := range unsure().FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(regexp.QuoteMeta(text[done:at[0]]))
		switch {
		case at[2] >= 0:
			b.WriteString(anything)
		case at[1]-at[0] == len("2006-01-02"):
			b.WriteString(anyDate)
		default:
			b.WriteString(anyUUID)
		}
		done = at[1]
	}
	b.WriteString(regexp.QuoteMeta(text[done:]))
	return b.String()
}

// head returns the beginning of a long text, which does not end within an unsure part.
func head(text string) string {
	end := edgeText
	for _, at := range unsure().FindAllStringIndex(text[:end+longUnsure], -1) {
		if at[0] < end && end < at[1] {
			end = at[0]
		}
	}
	return sanitize.Prefix(text, end)
}

// tail returns the end of a long text, which does not begin within an unsure part.
func tail(text string) string {
	begin := len(text) - edgeText
	from := begin - longUnsure
	for _, at := range unsure().FindAllStringIndex(text[from:], -1) {
		if at[0] < longUnsure && longUnsure < at[1] {
			begin = from + at[1]
		}
	}
	return sanitize.Suffix(text, len(text)-begin)
}
