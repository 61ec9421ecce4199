package validate

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// quotationMarks are the marks that open and close a quotation.
var quotationMarks = [...][2]string{{"«", "»"}, {"“", "”"}, {`"`, `"`}}

// quotation returns the first quotation of a text that begins and ends on one line, from an offset, or
// (-1, -1). It takes linear time: a line without a closing mark is searched once for it.
func quotation(text string, from int) (start, end int) {
	var unclosed [len(quotationMarks)]int // until this offset, no mark closes
	for at := from; at < len(text); at++ {
		next := strings.IndexAny(text[at:], "«“\"")
		if next < 0 {
			break
		}
		at += next
		for i, marks := range quotationMarks {
			if at < unclosed[i] || !strings.HasPrefix(text[at:], marks[0]) {
				continue
			}
			inner := at + len(marks[0])
			line := nextLine(text[inner:])
			if end := strings.Index(line, marks[1]); end >= 0 {
				return at, inner + end + len(marks[1])
			}
			unclosed[i] = inner + len(line)
		}
	}
	return -1, -1
}

// withoutQuotes replaces text in quotation marks by white space of the same length. What is quoted does
// not address the candidate.
func withoutQuotes(text string) string {
	start, end := quotation(text, 0)
	if start < 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for ; start >= 0; start, end = quotation(text, at) {
		b.WriteString(text[at:start])
		b.WriteString(strings.Repeat(" ", end-start))
		at = end
	}
	b.WriteString(text[at:])
	return b.String()
}

// The French words, folded, that address one person with "tu" and with "vous", and the imperatives with
// "tu" at the start of a sentence. Verbs in -ez address with "vous", except words of notEz.
var (
	tuWords    = textfold.WordSet("tu te t toi ton ta tes tienne tiennes")
	vousWords  = textfold.WordSet("vous votre vos votres")
	tuCommands = textfold.WordSet("raconte explique pense dis regarde choisis decris complete laisse imagine cite nomme donne " +
		"parle montre precise prends indique termine corrige repense")
	vousCommands = textfold.WordSet("dites")
	notEz        = textfold.WordSet("nez chez assez rez allez rendez")
	// before "ton", these make it a noun ("le ton monte").
	determiners = textfold.WordSet("le un du de d ce au quel son mon meme bon")
)

// severalYou matches, in folded text, a "vous" of several persons, one of whom is addressed with "tu".
var severalYou = lazyregexp.New(` et toi (?:tous les deux )?vous | toi et [^.]{1,80} vous | entre vous | vous deux | vous tous |` +
	` avec [^.]{1,40} vous vous `)

// address adds a finding if a French text addresses the candidate both with "tu" and with "vous".
func (c *checker) address() {
	if c.want.Language != session.French {
		return
	}
	text := withoutQuotes(c.cut(c.Text))
	var first [2]string
	var count [2]int
	note := func(i int, w string) {
		if count[i]++; count[i] == 1 {
			first[i] = w
		}
	}
	before, opens := "", true
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		opens = opens || strings.ContainsAny(w.Gap, ".!?…:;\n«")
		folded := string(w.Text)
		switch {
		case folded == "t" && strings.ContainsAny(w.Gap, "-‐‑"): // "a-t-il"
		case folded == "ton" && determiners[before]:
		case vousWords[folded] && (before == "rendez" || before == "a" && strings.HasSuffix(w.Gap, "-")): // "garde-à-vous"
		case tuWords[folded] || opens && tuCommands[folded]:
			note(0, text[w.Start:w.End])
		case vousWords[folded] || opens && vousCommands[folded],
			strings.HasSuffix(folded, "ez") && !notEz[folded] && len(folded) > 3:
			note(1, text[w.Start:w.End])
		}
		before, opens = folded, false
	}
	if count[0] == 0 || count[1] == 0 || severalYou().MatchString(" "+textfold.Join(text)+" ") {
		return
	}
	rare := first[1]
	if count[0] < count[1] {
		rare = first[0]
	}
	c.add(Finding{
		Rule: ruleAddress, Warning: true, Words: quoted(rare), Place: c.placeOf(max(0, strings.Index(c.Text, rare))),
		Message: fmt.Sprintf("the text addresses the candidate with \"tu\" (%d times) and with \"vous\" (%d times); use one of them",
			count[0], count[1]),
	})
}
