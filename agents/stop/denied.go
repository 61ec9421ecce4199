package stop

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Denied reports for each step whether an answer says that it was not done: a sentence
// near the end has half of the step's words, and the first of them (its verb) comes just
// after "could not", "n'ai pas" and the like.
func Denied(steps []string, answer string) []bool {
	found := findDenials(answer)
	denied := make([]bool, len(steps))
	for i, step := range steps {
		words := contentWords(step)
		denied[i] = len(words) > 0 && slices.ContainsFunc(found, func(d denial) bool { return d.of(words) })
	}
	return denied
}

// Same reports whether two steps are the same work: their ids are equal, or three in four
// of the words of each are in the other.
func (s Step) Same(other Step) bool {
	if s.ID == other.ID {
		return true
	}
	a, b := contentWords(s.Description), contentWords(other.Description)
	longer := max(len(a), len(b))
	return longer > 0 && 4*min(sharedWords(a, b), sharedWords(b, a)) >= 3*longer
}

// denial is a phrase that denies something, with the words of its sentence around it.
type denial struct {
	words   []string // folded
	after   int      // the first word after the phrase
	passive bool     // the phrase is after what it denies, as "was skipped" does
}

// denying are the phrases that deny, folded.
var denying = slices.Concat(
	phrasesOf(false, "could not|couldn t|cannot|can t|can not|unable to|not able to|did not|didn t|have not|haven t|has not|hasn t|"+
		"was not|wasn t|were not|weren t|not been|not yet|failed to|"+
		"pas pu|n ai pas|n a pas|n ont pas|ne peux pas|n etait pas|n etaient pas|pas ete|pas encore|impossible de|incapable de"),
	phrasesOf(true, "skipped|not done|not possible|still pending|remains undone|was left out|"+
		"ignore|ignoree|ignores|pas fait|pas faite|pas faits|pas possible|laisse de cote"),
)

func phrasesOf(passive bool, list string) []denial {
	var out []denial
	for p := range strings.SplitSeq(list, "|") {
		out = append(out, denial{words: strings.Fields(p), passive: passive})
	}
	return out
}

// Bounds on what Denied reads, against hostile answers.
const (
	maxDenials    = 200
	maxDenialText = 1 << 16 // bytes, from the end
	denialContext = 30      // words on either side of a phrase
	denialReach   = 4       // words after a phrase in which the denied verb may be
)

func findDenials(answer string) []denial {
	if len(answer) > maxDenialText {
		answer = strings.ToValidUTF8(answer[len(answer)-maxDenialText:], "")
	}
	var found []denial
	for sentence := range strings.FieldsFuncSeq(answer, func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.Fields(text.Fold(sentence))
		for _, p := range denying {
			i := indexOf(words, p.words)
			if i < 0 {
				continue
			}
			from, end := max(0, i-denialContext), i+len(p.words)
			found = append(found, denial{words: words[from:min(end+denialContext, len(words))], after: end - from, passive: p.passive})
			if len(found) == maxDenials {
				return found
			}
		}
	}
	return found
}

// of reports whether d denies a step of these words.
func (d denial) of(step []string) bool {
	if 2*sharedWords(step, d.words) < len(step) {
		return false
	}
	return d.passive || sharedWords(step[:1], d.words[d.after:min(d.after+denialReach, len(d.words))]) == 1
}

// indexOf returns where words contain the phrase, -1 if nowhere.
func indexOf(words, phrase []string) int {
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return i
		}
	}
	return -1
}
