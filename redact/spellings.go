package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// Limits of the spellings of a value.
const (
	// minLine is the minimum length in bytes of a line that is a secret by itself.
	minLine = 16
	// maxEncoded is the maximum length of a value that is also searched in base64 and hex.
	maxEncoded = 16 << 10
)

// spellings returns the spellings of a value: unchanged, without surrounding space or quotation marks, with
// Unix and Windows line endings, line by line, as a form field, and in base64 and hexadecimal
// digits. Find handles the escapes of JSON strings and URLs.
func spellings(value string) (all []literal) {
	for _, text := range variants(value) {
		all = append(all, literal{text: text, kind: "secret", end: wholeLiteral})
		if len(text) <= maxEncoded {
			all = append(all, encoded(text)...)
		}
	}
	return all
}

// variants returns the distinct unencoded spellings of a value.
func variants(value string) (all []string) {
	add := func(text string, least int) {
		if len(text) >= least && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	add(value, minSecret)
	bare := strings.TrimSpace(value)
	add(bare, minSecret)
	if n := len(bare); n > 2 && bare[0] == bare[n-1] && (bare[0] == '"' || bare[0] == '\'') {
		bare = bare[1 : n-1]
		add(bare, minSecret)
	}
	if strings.Contains(bare, " ") {
		add(url.QueryEscape(bare), minSecret)
	}
	if !strings.Contains(bare, "\n") {
		return all
	}
	unix := strings.ReplaceAll(bare, "\r\n", "\n")
	add(unix, minSecret)
	add(strings.ReplaceAll(unix, "\n", "\r\n"), minSecret)
	for line := range strings.SplitSeq(unix, "\n") {
		// A line of words, such as a line of a settings file, is not a secret by itself.
		if line = strings.TrimSpace(line); someDigit(line) && !strings.ContainsAny(line, " \t") {
			add(line, minLine)
		}
	}
	return all
}

// encoded returns a text in hexadecimal digits and in base64. Base64 encodes three bytes as four characters,
// so a text within another one has three possible encodings. The search ignores characters that
// depend on neighbouring bytes, but the redactor also replaces them.
func encoded(text string) (all []literal) {
	digits := hex.EncodeToString([]byte(text))
	all = append(all,
		literal{text: digits, kind: "secret", end: wholeLiteral},
		literal{text: strings.ToUpper(digits), kind: "secret", end: wholeLiteral})
	for _, e := range []*base64.Encoding{base64.RawStdEncoding, base64.RawURLEncoding} {
		for before := range 3 {
			whole := e.EncodeToString(append(make([]byte, before), text...))
			first, last := (before*8+5)/6, (before+len(text))*8/6
			l := literal{text: whole[first:last], kind: "secret", end: encodedAround(min(before, 1), len(whole)-last)}
			if !slices.ContainsFunc(all, func(other literal) bool { return other.text == l.text }) {
				all = append(all, l)
			}
		}
	}
	return all
}

// encodedAround extends the literal by the characters before and after it.
func encodedAround(before, behind int) func(*searched, int, *literal) (int, int) {
	return func(t *searched, from int, l *literal) (start, to int) {
		start, to = from, from+len(l.text)
		if before > 0 && from > 0 && members[b64][t.s[from-1]] {
			start--
		}
		if behind > 0 && to < len(t.s) && members[b64][t.s[to]] {
			to++
		}
		return start, to
	}
}
