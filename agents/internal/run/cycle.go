package run

// The periods that Cycle detects. Repeats is for a period of one.
const (
	minPeriod = 2
	maxPeriod = 4
)

// Cycle detects cycles of texts, such as A B A B or A B C A B C, up to a period of four. Equal texts
// in a row are not a cycle. The zero value is ready to use. Each text costs at most four comparisons.
type Cycle struct {
	// recent has the last four texts; text i is at i % maxPeriod.
	recent [maxPeriod]string
	seen   int
	// same[p] counts the texts in a row that are equal to the text p before.
	same [maxPeriod + 1]int
}

// Next adds a text. It returns the shortest period of the texts at the end and the number of times
// that the cycle came in a row, or 0, 0 if that is less than two.
func (c *Cycle) Next(text string) (period, times int) {
	for p := 1; p <= min(maxPeriod, c.seen); p++ {
		if c.recent[(c.seen-p)%maxPeriod] == text {
			c.same[p]++
		} else {
			c.same[p] = 0
		}
	}
	c.recent[c.seen%maxPeriod] = text
	c.seen++
	for p := minPeriod; p <= maxPeriod; p++ {
		// The last p texts are all equal when p-1 of them repeat their neighbour.
		constant := c.same[1] >= p-1
		if c.same[p] >= p && !constant {
			return p, c.same[p]/p + 1
		}
	}
	return 0, 0
}
