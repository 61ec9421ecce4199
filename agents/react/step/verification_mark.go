package step

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// mark is the claim that a text makes by a sign or a word.
type mark int

const (
	noMark mark = iota
	tick
	cross
)

// The signs that people and models write. A multiplication sign is a cross only at
// the beginning.
const (
	tickSigns  = "✓✔✅☑👍🗸"
	crossSigns = "✗✘❌☒✖👎✕🗴"
	timesSign  = '×'
)

// emojiSelector makes an emoji of the sign before it.
const emojiSelector = '\uFE0F'

// The words. A word of aloneYes or aloneNo counts only if nothing but punctuation follows:
// "no: two inputs are open" denies, "no error found" and "failed logins are counted" do
// not. A word of reservations cancels the one before it: "yes, but", "ok sauf".
var (
	yesWords     = textfold.WordSet("ok okay pass passed yes oui conforme reussi reussie validated")
	noWords      = textfold.WordSet("ko nok")
	aloneYes     = textfold.WordSet("passes true valid done vrai valide validee fait")
	aloneNo      = textfold.WordSet("no not non false fail failed fails failing invalid faux echec echoue echouee invalide")
	reservations = textfold.WordSet("but except almost partly partial partially mais sauf hormis presque partiellement")
)

// markOf returns the mark of a text: a cross anywhere in it denies; otherwise the sign
// or word at its beginning counts, and otherwise a tick at its end.
func markOf(text string) mark {
	text = strings.TrimSpace(text)
	first, _ := utf8.DecodeRuneInString(text)
	if strings.ContainsAny(text, crossSigns) || first == timesSign {
		return cross
	}
	if m, ok := checkBox(text); ok {
		return m
	}
	if text != "" && strings.ContainsRune(tickSigns, first) {
		return tick
	}
	if m := wordMark(text); m != noMark {
		return m
	}
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRightFunc(text, func(r rune) bool {
		return r == '.' || r == emojiSelector || unicode.IsSpace(r)
	}))
	if text != "" && strings.ContainsRune(tickSigns, last) {
		return tick
	}
	return noMark
}

// wordMark returns the mark that the first word of a text makes.
func wordMark(text string) mark {
	r := textfold.NewReader(text)
	w, ok := r.Next()
	if !ok || strings.TrimLeft(w.Gap, "*_\"'([-: ") != "" {
		return noMark
	}
	rest := strings.TrimLeft(text[w.End:], "*_\"')] ")
	next, _ := utf8.DecodeRuneInString(rest)
	ends := rest == "" || unicode.IsPunct(next) || unicode.IsSymbol(next)
	m := noMark
	switch {
	case yesWords[string(w.Text)], ends && aloneYes[string(w.Text)]:
		m = tick
	case noWords[string(w.Text)], ends && aloneNo[string(w.Text)]:
		m = cross
	}
	if second, more := r.Next(); more && reservations[string(second.Text)] {
		return noMark
	}
	return m
}

// checkBox parses the check box at the beginning of a text, such as "[x]".
func checkBox(text string) (mark, bool) {
	inner, _, ok := strings.Cut(strings.TrimPrefix(text, "["), "]")
	if !ok || !strings.HasPrefix(text, "[") {
		return noMark, false
	}
	switch inner = strings.TrimSpace(inner); inner {
	case "":
		return cross, true
	case "x", "X":
		return tick, true
	}
	r, size := utf8.DecodeRuneInString(inner)
	if strings.ContainsRune(tickSigns, r) && strings.Trim(inner[size:], string(emojiSelector)) == "" {
		return tick, true
	}
	return noMark, false
}
