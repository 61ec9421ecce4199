package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
)

// The log-odds of a private passage from which the classifier warns by itself, and below which it takes back the cues of
// the lexicon. They were chosen by cross-validation (testdata/cross-validation.golden). Plain words of the lexicon
// refuse a text whatever the classifier estimates.
const (
	warnAbove    = 1.9
	dropCueBelow = -0.8
)

// estimate judges a passage.
func (c *checker) estimate(passage string) intrusion.Estimate {
	if c.model == nil {
		c.model = intrusion.Shipped()
	}
	return c.model.Estimate(passage)
}

// classify judges each passage by the classifier, and changes what the lexicon found.
func (c *checker) classify(plain, hinted map[zone][]zoneHit) {
	intrusion.Passages(c.masked(), func(passage string, start int) {
		if isSeparator(passage) {
			return
		}
		end := start + len(passage)
		within := func(h zoneHit) bool { return h.Start >= start && h.End <= end }
		e := c.estimate(passage)
		switch {
		case e.LogOdds < dropCueBelow:
			c.dropCues(hinted, start, end)
		case e.LogOdds >= warnAbove && !anyHit(plain, within) && !anyHit(hinted, within):
			h := zoneHit{Zone: zonePrivate, Start: start, End: end, Cue: true}
			if len(e.Words) > 0 {
				h.Start, h.End = start+e.Words[0].Start, start+e.Words[0].End
			}
			hinted[zonePrivate] = append(hinted[zonePrivate], h)
		}
	})
}

// dropCues takes back the cues of the lexicon in the passage from start to end whose sentence is harmless, too.
func (c *checker) dropCues(hinted map[zone][]zoneHit, start, end int) {
	passage := c.Text[start:end]
	harmless := map[int]bool{} // by the start of a sentence
	for _, zone := range zones() {
		hinted[zone] = slices.DeleteFunc(hinted[zone], func(h zoneHit) bool {
			if h.Start < start || h.End > end {
				return false
			}
			from, to := sentenceAround(passage, h.Start-start, h.End-start)
			if _, ok := harmless[from]; !ok {
				harmless[from] = c.estimate(passage[from:to]).LogOdds < dropCueBelow
			}
			return harmless[from]
		})
	}
}

func anyHit(hits map[zone][]zoneHit, match func(zoneHit) bool) bool {
	for _, all := range hits {
		if slices.ContainsFunc(all, match) {
			return true
		}
	}
	return false
}

// masked returns the text with the titles of works replaced by a name of the same length.
func (c *checker) masked() string {
	b := []byte(c.Text)
	for _, s := range c.find(c.Text) {
		copy(b[s.Start:s.End], strings.Repeat("X", s.End-s.Start))
	}
	return string(b)
}
