package validate

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// commonWords maps frequent words, folded, to their language, without words that both languages have.
var commonWords = wordLanguages(map[session.Language]string{
	session.French: "le la les des une un est et que qui dans pour pas tu te ton ta tes vous votre vos je il elle ce cette ces " +
		"du au aux sur avec plus mais ou son sa ses ne se en quand",
	session.English: "the of and to is are that you your in for with this it have has not was were what how when which from but " +
		"they their would there about do does who",
})

func wordLanguages(lists map[session.Language]string) map[string]session.Language {
	all := map[string]session.Language{}
	for l, list := range lists {
		for _, word := range strings.Fields(list) {
			all[word] = l
		}
	}
	return all
}

// languageNames are the names of the languages in messages.
var languageNames = map[session.Language]string{session.French: "French", session.English: "English"}

const (
	minLetters     = 40 // minimum length of a text whose script is checked
	minCommonWords = 8  // minimum number of words of another language
)

// language checks that a text is in the language of the interview, except titles and names.
func (c *checker) language() {
	own, ok := languageNames[c.want.Language]
	if !ok {
		return
	}
	latin, letters := 0, 0
	for _, r := range c.Text {
		if unicode.IsLetter(r) {
			letters++
			if unicode.Is(unicode.Latin, r) {
				latin++
			}
		}
	}
	if letters >= minLetters && 2*latin < letters {
		c.add(Finding{Rule: ruleLanguage, Message: "the text is in another script; write it in " + own})
		return
	}
	counts := map[session.Language]int{}
	r := textfold.NewReader(c.Text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if l, ok := commonWords[string(w.Text)]; ok {
			counts[l]++
		}
	}
	for _, other := range session.Languages() {
		if n := counts[other]; other != c.want.Language && n >= minCommonWords && n > 3*counts[c.want.Language] {
			c.add(Finding{
				Rule: ruleLanguage, Warning: true,
				Message: fmt.Sprintf("the text is in %s; write it in %s", languageNames[other], own),
			})
		}
	}
}
