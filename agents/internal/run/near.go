package run

import (
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
)

// timestamp matches ISO 8601 with or without its parts, clock times with or without am and pm, and
// dates with an English month and day.
var (
	timestamp = lazyregexp.New(`(?i)` +
		`\b\d{4}-\d{2}-\d{2}(?:[t ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:z|[+-]\d{2}:?\d{2})?)?\b` +
		`|\b\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?:\s?[ap]m)?\b` +
		`|\b(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? +)?` +
		`(?:` + month + ` \d{1,2}|\d{1,2} ` + month + `)(?:,? \d{4})?\b`)
	number = lazyregexp.New(`\p{Nd}+(?:[.,]\p{Nd}+)*`)
)

const month = `(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*`

// Near normalizes timestamps, numbers and spacing. Two texts are near-identical if their Near is equal.
// It takes linear time.
func Near(text string) string {
	if strings.ContainsFunc(text, unicode.IsDigit) { // the patterns are slow, and all need a digit
		text = timestamp().ReplaceAllLiteralString(text, "<time>")
		text = number().ReplaceAllLiteralString(text, "0")
	}
	return strings.Join(strings.Fields(text), " ")
}
