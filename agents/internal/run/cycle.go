package run

// The lengths of the cycles that Cycle looks for. Repeats counts cycles of one.
const (
	minPeriod = 2
	maxPeriod = 4
)

// Cycle finds texts that take turns: A B A B, or A B C A B C, up to a period of
// four. A run of one and the same text is not a cycle. The zero value is ready,
// and each text costs at most four comparisons, however long the history.
type Cycle struct {
	// recent has the last four texts; text i is at i % maxPeriod.
	recent [maxPeriod]string
	seen   int
	// same[p] is how many texts in a row have been equal to the one p before.
	same [maxPeriod + 1]int
}

// Next takes the next text. It returns the shortest period in which the texts
// now go round and how often that cycle has come in a row, the last time
// included, or 0, 0 if none has come at least twice.
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
