package followup

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/match"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// answer is the sentences of an answer that deny something.
type answer []denial

type denial struct {
	words []string // of the sentence, folded
	after int      // the first word after the denial
	// passive denials ("was skipped") stand after what they deny.
	passive bool
}

// denials are the phrases that deny, folded.
var denials = slices.Concat(
	phrases(false, "could not|couldn t|cannot|can t|can not|unable to|not able to|did not|didn t|have not|haven t|has not|hasn t|"+
		"was not|wasn t|were not|weren t|not been|not yet|failed to|"+
		"pas pu|n ai pas|n a pas|n ont pas|ne peux pas|n etait pas|n etaient pas|pas ete|pas encore|impossible de|incapable de"),
	phrases(true, "skipped|not done|not possible|still pending|remains undone|was left out|"+
		"ignore|ignoree|ignores|pas fait|pas faite|pas faits|pas possible|laisse de cote"),
)

// phrases reads a list of phrases as denials without their sentence.
func phrases(passive bool, list string) []denial {
	var out []denial
	for p := range strings.SplitSeq(list, "|") {
		out = append(out, denial{words: strings.Fields(p), passive: passive})
	}
	return out
}

// Bounds of what is read of an answer, so that a hostile one costs little.
const (
	maxDenials = 200
	around     = 30 // words on either side of a denial
)

// readAnswer finds the sentences of the end of a text that deny.
func readAnswer(message string) answer {
	var out answer
	for sentence := range strings.FieldsFuncSeq(tail(message), func(r rune) bool { return strings.ContainsRune(".!?;\n", r) }) {
		words := strings.Fields(text.Fold(sentence))
		for _, p := range denials {
			i := index(words, p.words)
			if i < 0 {
				continue
			}
			from, end := max(0, i-around), i+len(p.words)
			out = append(out, denial{words: words[from:min(end+around, len(words))], after: end - from, passive: p.passive})
			if len(out) == maxDenials {
				return out
			}
		}
	}
	return out
}

// reach is how many words after a denial the verb that it denies may stand.
const reach = 4

// denies reports whether the answer says of a step that it was not done: a
// sentence has half of the step's words, the first of them (its verb) just after
// an active denial.
func (a answer) denies(s stop.Step) bool {
	step := match.Content(s.Description)
	if len(step) == 0 {
		return false
	}
	return slices.ContainsFunc(a, func(d denial) bool {
		if 2*match.Shared(step, d.words) < len(step) {
			return false
		}
		after := d.words[d.after:min(d.after+reach, len(d.words))]
		return d.passive || match.Shared(step[:1], after) == 1
	})
}

// similar reports whether two steps are the same work: by id, or as three in
// four of the words of each are in the other.
func similar(a, b stop.Step) bool {
	if a.ID == b.ID {
		return true
	}
	x, y := match.Content(a.Description), match.Content(b.Description)
	longer := max(len(x), len(y))
	return longer > 0 && 4*min(match.Shared(x, y), match.Shared(y, x)) >= 3*longer
}

// index is where words has the phrase, -1 if nowhere.
func index(words, phrase []string) int {
	for i := 0; i+len(phrase) <= len(words); i++ {
		if slices.Equal(words[i:i+len(phrase)], phrase) {
			return i
		}
	}
	return -1
}
