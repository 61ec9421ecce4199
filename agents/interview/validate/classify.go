package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
)

// The log-odds of a private passage from which the classifier warns by itself, and below which it takes back what the
// lexicon found: a cue, or a refusal, which becomes a warning. testdata/cross-validation.golden has the figures.
const (
	warnAbove     = 2.3
	uncueBelow    = -1.7
	unrefuseBelow = -4
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
		within := func(h zoneHit) bool { return h.Start >= start && h.Start < end }
		e := c.estimate(passage)
		switch {
		case e.LogOdds < uncueBelow:
			c.acquit(plain, hinted, within, e.LogOdds)
		case e.LogOdds >= warnAbove && !anyHit(plain, within) && !anyHit(hinted, within):
			h := zoneHit{Zone: zonePrivate, Start: start, End: end, Cue: true}
			if len(e.Words) > 0 {
				h.Start, h.End = start+e.Words[0].Start, start+e.Words[0].End
			}
			hinted[zonePrivate] = append(hinted[zonePrivate], h)
		}
	})
}

// acquit removes the cues of a passage, and makes cues of its plain words, if neither the passage, with the given
// log-odds, nor their own sentence is private.
func (c *checker) acquit(plain, hinted map[zone][]zoneHit, within func(zoneHit) bool, odds float64) {
	harmless := func(h zoneHit, below float64) bool {
		start, end := sentenceAround(c.Text, h.Start, h.End)
		return within(h) && odds < below && c.estimate(c.Text[start:end]).LogOdds < below
	}
	for _, zone := range zones() {
		hinted[zone] = slices.DeleteFunc(hinted[zone], func(h zoneHit) bool { return harmless(h, uncueBelow) })
		for i, h := range plain[zone] {
			plain[zone][i].Cue = harmless(h, unrefuseBelow)
		}
		// A refusal names a plain word first.
		slices.SortStableFunc(plain[zone], func(a, b zoneHit) int { return one(a.Cue) - one(b.Cue) })
	}
}

func one(b bool) int {
	if b {
		return 1
	}
	return 0
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
