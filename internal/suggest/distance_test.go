package suggest_test

import (
	. "github.com/onsi/ginkgo/v2"
	"pgregory.net/rapid"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// wholeDistance is the optimal string alignment distance by its definition, with the whole matrix.
func wholeDistance(a, b string) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		for j := range d[i] {
			if i == 0 || j == 0 {
				d[i][j] = i + j
				continue
			}
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			d[i][j] = min(d[i-1][j]+1, d[i][j-1]+1, d[i-1][j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				d[i][j] = min(d[i][j], d[i-2][j-2]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

var _ = Describe("Distance", func() {
	It("agrees with its definition up to the limit", func() {
		words := rapid.StringMatching(`[abc]{0,9}|[abc]{60,90}`)
		rapid.Check(GinkgoT(), func(t *rapid.T) {
			a, limit := words.Draw(t, "a"), rapid.IntRange(0, 12).Draw(t, "limit")
			b := words.Draw(t, "b")
			if n := len(a); n > 0 && rapid.Bool().Draw(t, "similar") {
				at := rapid.IntRange(0, n-1).Draw(t, "at")
				b = a[:at] + rapid.StringMatching(`[abc]{0,2}`).Draw(t, "inserted") + a[at+rapid.IntRange(0, 1).Draw(t, "omitted"):]
			}
			got := suggest.Distance([]byte(a), []byte(b), limit)
			if want := min(wholeDistance(a, b), limit+1); got != want {
				t.Fatalf("Distance(%q, %q, %d) = %d, want %d", a, b, limit, got, want)
			}
		})
	})
})
