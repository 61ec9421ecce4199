package detect

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Similar says how alike two steps are, by their words: runs of letters, marks
// and digits in lower case, so that Markdown, punctuation and spacing do not
// count. exact means the same words in the same order.
//
// overlap means that of the words of both, taken as multisets A and B,
//
//	|A ∩ B| / |A ∪ B| ≥ 1/2
//
// or that one step stands in the other as a run of words and is at least a fifth
// as long. Without the fifth, a single common word, or a whole message given as
// its one step, would do. Steps without words are like nothing. Only the first
// 400 words of a step count.
func Similar(a, b string) (exact, overlap bool) {
	s := compareWords(words(a), words(b))
	return s.exact, s.overlap
}

// minContained is how many times longer the longer step may be that contains the
// other.
const minContained = 5

// maxWords and maxBytes bound the work on one step.
const (
	maxWords = 400
	maxBytes = 16 << 10
)

// similarity is how alike a labelled and a detected thing are.
type similarity struct {
	exact, overlap bool
	// degree is the share of the union that both have, in [0, 1]; the better match
	// has the higher one.
	degree float64
}

// similar judges two things of sizes a and b of which a part of size shared is
// the same.
func similar(shared, a, b int, contained bool) similarity {
	if a == 0 || b == 0 {
		return similarity{}
	}
	s := similarity{degree: float64(shared) / float64(a+b-shared)}
	s.overlap = 2*shared >= a+b-shared || contained && minContained*min(a, b) >= max(a, b)
	return s
}

// step is the words of a step: as they come, and sorted.
type step struct {
	text   string // separated and surrounded by a space
	sorted []string
}

func words(text string) step {
	list := strings.FieldsFunc(strings.ToLower(text[:min(len(text), maxBytes)]), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.IsMark(r)
	})
	list = list[:min(len(list), maxWords)]
	s := step{text: " " + strings.Join(list, " ") + " "}
	slices.Sort(list)
	s.sorted = list
	return s
}

func compareWords(a, b step) similarity {
	short, long := a, b
	if len(short.sorted) > len(long.sorted) {
		short, long = long, short
	}
	contained := strings.Contains(long.text, short.text)
	s := similar(shared(a.sorted, b.sorted), len(a.sorted), len(b.sorted), contained)
	s.exact = a.text == b.text && len(a.sorted) > 0
	return s
}

// shared counts the words that two sorted lists have in common.
func shared(a, b []string) int {
	n := 0
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch c := strings.Compare(a[i], b[j]); {
		case c == 0:
			n++
			i++
			j++
		case c < 0:
			i++
		default:
			j++
		}
	}
	return n
}

// compareSpans is Similar for ranges of bytes, of which the shared part is one
// range.
func compareSpans(a, b [2]int) similarity {
	common := min(a[1], b[1]) - max(a[0], b[0])
	if common <= 0 {
		return similarity{}
	}
	sizeA, sizeB := a[1]-a[0], b[1]-b[0]
	s := similar(common, sizeA, sizeB, common == min(sizeA, sizeB))
	s.exact = a == b
	return s
}

// matched counts the pairs of one labelled and one detected thing, each used at
// most once: the most alike are paired first, and among equals the first ones.
func matched[T any](labelled, detected []T, compare func(a, b T) similarity) (exact, overlap int) {
	type pair struct {
		i, j int
		similarity
	}
	var pairs []pair
	for i, a := range labelled {
		for j, b := range detected {
			if s := compare(a, b); s.exact || s.overlap {
				pairs = append(pairs, pair{i, j, s})
			}
		}
	}
	slices.SortStableFunc(pairs, func(a, b pair) int { return cmp.Compare(b.rank(), a.rank()) })
	count := func(counts func(pair) bool) int {
		n := 0
		usedI, usedJ := make([]bool, len(labelled)), make([]bool, len(detected))
		for _, p := range pairs {
			if counts(p) && !usedI[p.i] && !usedJ[p.j] {
				usedI[p.i], usedJ[p.j] = true, true
				n++
			}
		}
		return n
	}
	return count(func(p pair) bool { return p.exact }), count(func(p pair) bool { return p.overlap })
}

// rank puts exact matches first, then those that share more.
func (s similarity) rank() float64 {
	if s.exact {
		return 2
	}
	return s.degree
}
