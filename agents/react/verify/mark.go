package verify

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// claim is what a text says of itself by a mark or a word.
type claim int

const (
	silent claim = iota
	passes
	fails
)

// The signs that people and models write. A multiplication sign is a cross only at
// the beginning.
const (
	ticks   = "✓✔✅☑👍🗸"
	crosses = "✗✘❌☒✖👎✕🗴"
	times   = '×'
)

// The words. Those of alone say something only if nothing but punctuation follows:
// "no: two inputs are open" denies, "no error found" and "failed logins are counted" do
// not. Behind a word of but, nothing is claimed: "yes, but", "ok sauf".
var (
	yes   = set("ok okay pass passed yes oui conforme reussi reussie validated")
	ko    = set("ko nok")
	alone = set("passes true valid done vrai valide validee fait")
	never = set("no not non false fail failed fails failing invalid faux echec echoue echouee invalide")
	but   = set("but except almost partly partial partially mais sauf hormis presque partiellement")
)

func set(list string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(list) {
		m[w] = true
	}
	return m
}

// claimOf reads the claim of a text: a cross anywhere in it denies; otherwise the mark
// or word at its beginning counts, and else a tick at its end.
func claimOf(text string) claim {
	text = strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(text)
	if strings.ContainsAny(text, crosses) || first == times {
		return fails
	}
	if c, ok := box(text); ok {
		return c
	}
	if text != "" && strings.ContainsRune(ticks, first) {
		return passes
	}
	if c := wordClaim(text); c != silent {
		return c
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, func(r rune) bool {
		return r == '.' || r == selector || unicode.IsSpace(r)
	}))
	if text != "" && strings.ContainsRune(ticks, last) {
		return passes
	}
	return silent
}

// selector makes an emoji of the sign before it.
const selector = '\uFE0F'

// wordClaim reads the first word of a text.
func wordClaim(text string) claim {
	r := textfold.NewReader(text)
	w, ok := r.Next()
	if !ok || strings.TrimLeft(w.Gap, "*_\"'([-: ") != "" {
		return silent
	}
	rest := strings.TrimLeft(text[w.End:], "*_\"')] ")
	next, _ := utf8.DecodeRuneInString(rest)
	ends := rest == "" || unicode.IsPunct(next) || unicode.IsSymbol(next)
	said := silent
	switch {
	case yes[string(w.Text)], ends && alone[string(w.Text)]:
		said = passes
	case ko[string(w.Text)], ends && never[string(w.Text)]:
		said = fails
	}
	if second, more := r.Next(); more && but[string(second.Text)] {
		return silent
	}
	return said
}

// box reads the check box that a text begins with.
func box(text string) (claim, bool) {
	inner, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || !strings.HasPrefix(text, "[") {
		return silent, false
	}
	switch inner = strings.TrimSpace(inner); inner {
	case "":
		return fails, true
	case "x", "X":
		return passes, true
	}
	if r, size := utf8.DecodeRuneInString(inner); strings.ContainsRune(ticks, r) && strings.Trim(inner[size:], string(selector)) == "" {
		return passes, true
	}
	return silent, false
}
