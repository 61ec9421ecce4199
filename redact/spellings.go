package redact

import (
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"slices"
	"strings"
)

// Bounds of the spellings of a value.
const (
	// minLine is the length in bytes from which a line of a value is looked for by itself.
	minLine = 16
	// maxEncoded is the length up to which a value is also looked for in base64 and hex.
	maxEncoded = 16 << 10
)

// spellings returns how a value may be written: as it is, without the space or the
// quotation marks around it, with the line ends of Unix and of Windows, line by line, as a
// field of a form, and in base64 and hexadecimal digits. That JSON strings and URLs escape
// it is seen to by Find.
func spellings(value string) (all []literal) {
	for _, text := range variants(value) {
		all = append(all, literal{text: text, kind: "secret", end: wholeLiteral})
		if len(text) <= maxEncoded {
			all = append(all, encoded(text)...)
		}
	}
	return all
}

// variants returns the value and the texts that are as secret as it is, each once.
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
		// A line of words, as a file of settings has, is not secret by itself.
		if line = strings.TrimSpace(line); someDigit(line) && !strings.ContainsAny(line, " \t") {
			add(line, minLine)
		}
	}
	return all
}

// encoded returns a text in hexadecimal digits and in base64, also where it stands in the
// middle of what is encoded: base64 writes three bytes as four characters, so that there
// are three ways. Of the characters that a neighbouring byte has a part in, the value is
// looked for without them, and they are replaced as well.
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

// encodedAround takes the characters before and behind the literal as well.
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
