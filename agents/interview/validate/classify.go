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
		within := func(h zoneHit) bool { return h.Start >= start && h.End <= end }
		e := c.estimate(passage)
		switch {
		case e.LogOdds < dropCueBelow:
			c.acquit(plain, hinted, start, end, e.LogOdds)
		case e.LogOdds >= warnAbove && !anyHit(plain, within) && !anyHit(hinted, within):
			h := zoneHit{Zone: zonePrivate, Start: start, End: end, Cue: true}
			if len(e.Words) > 0 {
				h.Start, h.End = start+e.Words[0].Start, start+e.Words[0].End
			}
			hinted[zonePrivate] = append(hinted[zonePrivate], h)
		}
	})
}

// acquit takes back what the lexicon found in the passage from start to end, if neither the passage, with the given
// log-odds, nor the sentence of a hit is private.
func (c *checker) acquit(plain, hinted map[zone][]zoneHit, start, end int, odds float64) {
	passage := c.Text[start:end]
	judged := map[int]float64{} // by the start of a sentence
	harmless := func(h zoneHit, below float64) bool {
		if odds >= below || h.Start < start || h.End > end {
			return false
		}
		from, to := sentenceAround(passage, h.Start-start, h.End-start)
		sentence, ok := judged[from]
		if !ok {
			sentence = c.estimate(passage[from:to]).LogOdds
			judged[from] = sentence
		}
		return sentence < below
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
