// Package suggest finds the word that was probably meant.
package suggest

import (
	"fmt"
	"strings"
)

// maxLen limits the work of one comparison: longer words are not typing errors.
const maxLen = 64

// Nearest returns the candidate with the fewest typing errors from word, or "" if none is
// similar enough. A typing error is an inserted, omitted or replaced letter, or two
// swapped ones; case and the difference of "_", "-" and " " are ignored. Similar enough
// means at most one error for each three letters of the longer word. Of equally similar
// candidates the first wins, so the answer follows the order of candidates.
func Nearest(word string, candidates []string) string {
	best, bestDistance := "", -1
	w := fold(word)
	if len(w) == 0 || len(w) > maxLen {
		return ""
	}
	for _, c := range candidates {
		f := fold(c)
		longest := max(len(w), len(f))
		limit := max(1, longest/3)
		if len(f) > maxLen || longest-min(len(w), len(f)) > limit {
			continue
		}
		d := Distance(w, f, limit)
		if d <= limit && d < longest && (bestDistance < 0 || d < bestDistance) {
			best, bestDistance = c, d
		}
	}
	return best
}

var separators = strings.NewReplacer("_", "-", " ", "-")

func fold(s string) []rune {
	if len(s) > 4*maxLen {
		return make([]rune, maxLen+1) // too long to be compared
	}
	return []rune(separators.Replace(strings.ToLower(s)))
}

// Distance returns the number of elements that must be inserted, omitted, replaced, or
// swapped with their neighbour to turn a into b: the optimal string alignment distance. A
// distance above limit is returned as limit+1. Three rows suffice, as a swap refers to two
// rows back, and of each row the elements at most limit beside the diagonal.
func Distance[T comparable](a, b []T, limit int) int {
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return limit + 1
	}
	var space [3 * (maxLen + 1)]int
	rows, n := space[:], len(b)+1
	if n > maxLen+1 {
		rows = make([]int, 3*n)
	}
	before, last, row := rows[:n], rows[n:2*n], rows[2*n:3*n]
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		from, to := max(1, i-limit), min(len(b), i+limit)
		row[from-1] = limit + 1
		if from == 1 {
			row[0] = i
		}
		least := row[from-1]
		for j := from; j <= to; j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(row[j-1]+1, last[j-1]+cost)
			if j < i+limit { // the element above is within the band
				row[j] = min(row[j], last[j]+1)
			}
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
			least = min(least, row[j])
		}
		if least > limit {
			return limit + 1
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit+1)
}

// Hint returns a remark on the choice that was probably meant, such as
// ` (did you mean "json"?)`; empty if no choice is near.
func Hint(word string, choices []string) string {
	nearest := Nearest(word, choices)
	if nearest == "" {
		return ""
	}
	return fmt.Sprintf(" (did you mean %q?)", nearest)
}

// NotAmong returns the error that word is not one of the choices of what.
func NotAmong(what, word string, choices []string) error {
	return fmt.Errorf("there is no %s %q%s; choose one of %s", what, word, Hint(word, choices), strings.Join(choices, ", "))
}
