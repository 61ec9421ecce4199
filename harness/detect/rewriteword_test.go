package detect_test

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

var ligatures = strings.NewReplacer("œ", "oe", "Œ", "OE", "æ", "ae", "Æ", "AE")

// withoutAccents writes as on a keyboard without accents.
func withoutAccents(s string) string {
	var out strings.Builder
	letter := false // stands before
	for _, r := range norm.NFD.String(s) {
		if unicode.Is(unicode.Mn, r) && letter {
			continue
		}
		letter = unicode.IsLetter(r)
		out.WriteRune(r)
	}
	return ligatures.Replace(norm.NFC.String(out.String()))
}

var (
	straight   = strings.NewReplacer("’", "'", "‘", "'", "“", `"`, "”", `"`)
	apostrophe = regexp.MustCompile(`(\pL)'(\pL)`)
	quoted     = regexp.MustCompile(`"([^"]*)"`)
)

// curly writes apostrophes and quotation marks as word processors do.
func curly(s string) string {
	return quoted.ReplaceAllString(apostrophe.ReplaceAllString(s, "$1’$2"), "“$1”")
}

// spaced puts other spaces between words.
func spaced(space string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for i, r := range s {
			if r == ' ' && isWordBefore(s[:i]) && isWordBehind(s[i+1:]) {
				out.WriteString(space)
				continue
			}
			out.WriteRune(r)
		}
		return out.String()
	}
}

func isWordBefore(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsLetter(r)
}

func isWordBehind(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r)
}

// every is how many words apart words are emphasised.
const every = 3

// emphasised emphasises some words in the middle of a line, by turns with one and
// with two stars. A line that has emphasis already stays.
func emphasised(l line) string {
	if strings.ContainsAny(l.body, "*_") {
		return l.mark + l.body
	}
	seen, stars := 0, "*"
	return l.mark + pieces(l.body, func(s string) string {
		fields := strings.SplitAfter(s, " ")
		for i, field := range fields {
			word := strings.TrimSuffix(field, " ")
			if word == "" {
				continue
			}
			seen++
			if seen%every != 0 || i == len(fields)-1 || !isWord(word) {
				continue
			}
			fields[i] = stars + word + stars + " "
			stars = strings.Repeat("*", 3-len(stars))
		}
		return strings.Join(fields, "")
	})
}

// isWord reports whether s is letters, and apostrophes or hyphens between them.
func isWord(s string) bool {
	inner := strings.Trim(s, "'’-")
	return inner == s && s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.Is(unicode.Mn, r) && !strings.ContainsRune("'’-", r)
	})
}
