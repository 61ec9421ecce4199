package detect

import (
	"cmp"
	"slices"
	"strings"
	"unicode"
)

// Similar compares two steps by their words: runs of letters, marks and digits in lower case,
// which ignores Markdown, punctuation and spacing. exact means the same words in the same order.
//
// overlap means that the words of both, as multisets A and B, satisfy
//
//	|A ∩ B| / |A ∪ B| ≥ 1/2
//
// or that one step is a run of words in the other and at least a fifth as long. Without the
// fifth, a single common word or a whole message would match. A step without words matches
// nothing. Only the first 400 words of a step count.
func Similar(a, b string) (exact, overlap bool) {
	s := compareWords(words(a), words(b))
	return s.exact, s.overlap
}

// minContained bounds how many times longer a step may be than the step that it contains.
const minContained = 5

// maxWords and maxBytes limit the work on one step.
const (
	maxWords = 400
	maxBytes = 16 << 10
)

// similarity describes how similar a labelled and a detected span or step are.
type similarity struct {
	exact, overlap bool
	// degree is the shared part of the union, in [0, 1]. The match with the higher degree is
	// better.
	degree float64
}

// similar compares two items of sizes a and b that have a part of size shared in common.
func similar(shared, a, b int, contained bool) similarity {
	if a == 0 || b == 0 {
		return similarity{}
	}
	s := similarity{degree: float64(shared) / float64(a+b-shared)}
	s.overlap = 2*shared >= a+b-shared || contained && minContained*min(a, b) >= max(a, b)
	return s
}

// step contains the words of a step, in order and sorted.
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

// shared counts the common words of two sorted lists.
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

// compareSpans compares byte ranges by the same rule as Similar.
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

// matched counts pairs of one labelled and one detected item. Each is used at most once; the most
// similar are paired first, then in order.
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

// rank orders exact matches first, then by degree.
func (s similarity) rank() float64 {
	if s.exact {
		return 2
	}
	return s.degree
}
