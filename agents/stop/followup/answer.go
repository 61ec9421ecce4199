package followup

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop"
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
	step := content(s.Description)
	if len(step) == 0 {
		return false
	}
	return slices.ContainsFunc(a, func(d denial) bool {
		if 2*shared(step, d.words) < len(step) {
			return false
		}
		after := d.words[d.after:min(d.after+reach, len(d.words))]
		return d.passive || shared(step[:1], after) == 1
	})
}

// similar reports whether two steps are the same work: by id, or as three in
// four of the words of each are in the other.
func similar(a, b stop.Step) bool {
	if a.ID == b.ID {
		return true
	}
	x, y := content(a.Description), content(b.Description)
	longer := max(len(x), len(y))
	return longer > 0 && 4*min(shared(x, y), shared(y, x)) >= 3*longer
}

// content is the folded words of a description that mean something.
func content(description string) []string {
	words := strings.Fields(text.Fold(description))
	return slices.DeleteFunc(words, func(w string) bool { return slices.Contains(function, w) })
}

// function are words without a meaning of their own.
var function = strings.Fields("the a an and or of to in on for with by at from it its this that these those all also then now " +
	"le la les l un une des du de d et ou a au aux en dans sur pour par avec ce cette ces puis aussi je i we let me us")

// shared counts the words of some that occur in others, in whatever form.
func shared(some, others []string) int {
	n := 0
	for _, w := range some {
		if slices.ContainsFunc(others, func(o string) bool { return related(w, o) }) {
			n++
		}
	}
	return n
}

// related reports whether two words may be forms of one: test, tests, tester.
func related(a, b string) bool {
	if a == b {
		return true
	}
	short, long := min(len(a), len(b)), max(len(a), len(b))
	const ending = 4
	if short < 3 || long-short > ending {
		return false
	}
	same := 0
	for same < short && a[same] == b[same] {
		same++
	}
	return same >= max(3, short-1)
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
