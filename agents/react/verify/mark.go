package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/words"
)

// claim is what a text says of itself by a mark or a word.
type claim int

const (
	silent claim = iota
	passes
	fails
)

// The signs that people and models write, and the words. A word of no stands alone:
// "no: two inputs are open" denies, "no error found" does not.
const (
	ticks   = "✓✔✅☑👍🗸"
	crosses = "✗✘❌×☒✖❎👎✕🗴"
)

var (
	yes = set("ok", "okay", "pass", "passed", "passes", "yes", "true", "valid", "validated", "done", "oui", "vrai", "valide", "validee", "conforme", "reussi", "reussie", "fait")
	bad = set("ko", "nok", "fail", "failed", "fails", "failing", "false", "invalid", "faux", "echec", "echoue", "invalide")
	no  = set("no", "not", "non")
)

func set(words ...string) map[string]bool {
	m := make(map[string]bool, len(words))
	for _, w := range words {
		m[w] = true
	}
	return m
}

// claimOf reads the claim of a text: a cross anywhere in it denies; otherwise the mark or
// word at its beginning counts, and else a tick at its end.
func claimOf(text string) claim {
	text = strings.TrimSpace(text)
	if strings.ContainsAny(text, crosses) {
		return fails
	}
	if c, ok := box(text); ok {
		return c
	}
	first, _ := utf8.DecodeRuneInString(text)
	if strings.ContainsRune(ticks, first) && text != "" {
		return passes
	}
	if c := wordClaim(text); c != silent {
		return c
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, func(r rune) bool {
		return r == '.' || r == '\uFE0F' || unicode.IsSpace(r)
	}))
	if strings.ContainsRune(ticks, last) && text != "" {
		return passes
	}
	return silent
}

// wordClaim reads the first word of a text.
func wordClaim(text string) claim {
	r := words.NewReader(text)
	w, ok := r.Next()
	if !ok || strings.TrimLeft(w.Gap, "*_\"'([-: ") != "" {
		return silent
	}
	switch first := string(w.Text); {
	case yes[first]:
		return passes
	case bad[first]:
		return fails
	case no[first]:
		rest := strings.TrimLeft(text[w.End:], "*_\"')] ")
		if next, _ := utf8.DecodeRuneInString(rest); rest == "" || unicode.IsPunct(next) || unicode.IsSymbol(next) {
			return fails
		}
	}
	return silent
}

// box reads the check box that a text begins with.
func box(text string) (claim, bool) {
	inner, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || !strings.HasPrefix(text, "[") {
		return silent, false
	}
	switch inner = strings.TrimSpace(inner); {
	case inner == "":
		return fails, true
	case inner == "x" || inner == "X":
		return passes, true
	}
	if r, size := utf8.DecodeRuneInString(inner); strings.ContainsRune(ticks, r) && strings.Trim(inner[size:], "\uFE0F") == "" {
		return passes, true
	}
	return silent, false
}
