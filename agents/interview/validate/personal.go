package validate

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The words, folded, that refer to the candidate or to a character of a work, in both languages.
var (
	yours      = textfold.WordSet("ton ta tes votre vos your yours tien tienne tiens tiennes")
	theirs     = textfold.WordSet("son sa ses leur leurs his her their its")
	youWords   = textfold.WordSet("tu vous you t toi")
	ofWords    = textfold.WordSet("de d du des of")
	stateWords = textfold.WordSet("es etes as avez etais etiez avais aviez crois croyez pries priez votes votez souffres souffrez vis " +
		"vivez milites militez adheres adherez pratiques pratiquez appartiens appartenez penses are re were have ve had suffer believe " +
		"pray vote practise practice live belong")
	perceiving = []string{
		"ressent", "touch", "pens", "compr", "aim", "reten", "prefer", "trouv", "vu", "senti", "admir", "marqu",
		"attir", "frapp", "remarqu", "felt", "thought", "lik", "seen", "struck", "moved", "notic", "remember", "drawn", "understood",
	}
	undergone = textfold.WordSet("vecu vecue connu connue traverse subi endure souffert experienced lived suffered through endured faced")
	// transfers relate a statement about a work to the candidate.
	transfers = []string{
		" et toi ", " et vous ", " and you ", " le tien ", " la tienne ", " les tiens ", " le votre ", " la votre ", " yours ",
		" ta vie ", " ta propre ", " ton propre ", " tes propres ", " votre vie ", " votre propre ", " your life ", " your own ", " " +
			"chez toi ", " chez vous ",
		" est il arrive ", " happened to you ", " comme toi ", " comme vous ", " like you ", " quelque chose de semblable ", " " +
			"something similar ",
		" something like that ",
	}
)

// The maximum distance in words of a possessive before its noun, of an owner after it, and of an
// experience after its verb.
const (
	reachOwner = 2
	reachAfter = 3
	reachPast  = 4
)

// turnsToCandidate reports whether a range of a passage is about the life of the candidate, or asks for
// a comparison with it. The effect of a work on the candidate ("what moves you") does not count.
func turnsToCandidate(passage string, from, to int) bool {
	joined := " " + textfold.Join(passage) + " "
	for _, transfer := range transfers {
		if strings.Contains(joined, transfer) {
			return true
		}
	}
	all := readPassage(passage)
	if hasGoneThrough(all) {
		return true
	}
	start, end := sentenceAround(passage, from, to)
	sentence := readPassage(passage[start:end])
	first, last := -1, -1
	for i, w := range sentence {
		if w.end > from-start && first < 0 {
			first = i
		}
		if w.start < to-start {
			last = i
		}
	}
	if first < 0 || last < first {
		return true
	}
	if anyOf(sentence[max(0, first-reachOwner):last+1], yours) {
		return true
	}
	return isState(sentence[:last+1]) && !ownedByOther(sentence, first, last)
}

// passageWord is a word of a passage.
type passageWord struct {
	folded     string
	start, end int
	capital    bool
}

func readPassage(text string) []passageWord {
	var all []passageWord
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		first, _ := utf8.DecodeRuneInString(text[w.Start:])
		all = append(all, passageWord{string(w.Text), w.Start, w.End, unicode.IsUpper(first)})
	}
	return all
}

func anyOf(list []passageWord, of map[string]bool) bool {
	for _, w := range list {
		if of[w.folded] {
			return true
		}
	}
	return false
}

// hasGoneThrough reports whether the candidate is asked about experiences: "as-tu déjà vécu", "have you
// been through".
func hasGoneThrough(all []passageWord) bool {
	for i, w := range all {
		if !youWords[w.folded] || !anyOf(all[max(0, i-1):min(len(all), i+2)], stateWords) {
			continue
		}
		if anyOf(all[i:min(len(all), i+1+reachPast)], undergone) {
			return true
		}
	}
	return false
}

// isState reports whether words are about the state, possessions or beliefs of the candidate, and not
// about perceptions.
func isState(list []passageWord) bool {
	state := -1
	for i, w := range list {
		if stateWords[w.folded] && anyOf(list[max(0, i-1):min(len(list), i+2)], youWords) {
			state = i
		}
	}
	if state < 0 {
		return false
	}
	return !perceives(list[state:])
}

// perceives reports whether words are about perceptions.
func perceives(list []passageWord) bool {
	return slices.ContainsFunc(list, func(w passageWord) bool {
		return slices.ContainsFunc(perceiving, func(stem string) bool { return strings.HasPrefix(w.folded, stem) })
	})
}

// ownedByOther reports whether the words from first to last belong to a character: "his illness",
// "Walter's cancer", "le cancer de Walter".
func ownedByOther(sentence []passageWord, first, last int) bool {
	before := sentence[max(0, first-reachOwner):first]
	if anyOf(before, theirs) || len(before) == reachOwner && before[1].folded == "s" && before[0].capital {
		return true
	}
	after := sentence[last+1 : min(len(sentence), last+1+reachAfter)]
	for i := 1; i < len(after); i++ {
		if ofWords[after[i-1].folded] && after[i].capital {
			return true
		}
	}
	return false
}
