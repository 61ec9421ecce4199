package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
)

// warnAbove are the log-odds of a private passage from which the classifier warns. They were chosen by cross-validation
// (testdata/cross-validation.golden). The classifier never refuses a text, and never pardons plain words.
const warnAbove = 1

// estimate judges a passage.
func (c *checker) estimate(passage string) intrusion.Estimate {
	if c.model == nil {
		c.model = intrusion.Shipped()
	}
	return c.model.Estimate(passage)
}

// privatePassages returns a place, the word of the largest weight, in each passage that the classifier takes for private and
// in which nothing else was found.
func (c *checker) privatePassages(found []zoneHit) (private []zoneHit) {
	intrusion.Passages(c.masked(), func(passage string, start int) {
		end := start + len(passage)
		within := func(h zoneHit) bool { return h.Start >= start && h.End <= end }
		if isSeparator(passage) || slices.ContainsFunc(found, within) {
			return
		}
		if e := c.estimate(passage); e.LogOdds >= warnAbove {
			private = append(private, zoneHit{zonePrivate, start + e.Word.Start, start + e.Word.End})
		}
	})
	return private
}

// masked returns the text with the titles of works replaced by a name of the same length.
func (c *checker) masked() string {
	b := []byte(c.Text)
	for _, s := range c.find(c.Text) {
		copy(b[s.Start:s.End], strings.Repeat("X", s.End-s.Start))
	}
	return string(b)
}
