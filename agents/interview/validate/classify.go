package validate

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/validate/intrusion"
)

// The log-odds of a private passage from which the classifier warns by itself, and below which it takes back what the
// lexicon found: cues; refusals, which become warnings; and plain words altogether. They were chosen by cross-validation
// (testdata/cross-validation.golden).
const (
	warnAbove    = 1.9
	dropCueBelow = -0.8
	pardonBelow  = -2.5
	dropBelow    = -4.0
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
		case e.LogOdds < dropCueBelow:
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

// acquit takes back what the lexicon found in a passage, if neither the passage, with the given log-odds, nor the
// sentence of a hit is private.
func (c *checker) acquit(plain, hinted map[zone][]zoneHit, within func(zoneHit) bool, odds float64) {
	harmless := func(h zoneHit, below float64) bool {
		start, end := sentenceAround(c.Text, h.Start, h.End)
		return within(h) && odds < below && c.estimate(c.Text[start:end]).LogOdds < below
	}
	for _, zone := range zones() {
		hinted[zone] = slices.DeleteFunc(hinted[zone], func(h zoneHit) bool { return harmless(h, dropCueBelow) })
		plain[zone] = slices.DeleteFunc(plain[zone], func(h zoneHit) bool { return harmless(h, dropBelow) })
		for i, h := range plain[zone] {
			plain[zone][i].Cue = h.Cue || harmless(h, pardonBelow)
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
