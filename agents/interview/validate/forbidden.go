package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// zoneNames are the names of the zones in messages.
var zoneNames = map[zone]string{
	zoneOrigin:     "the person's origin",
	zoneReligion:   "religion",
	zonePolitics:   "political opinions",
	zoneHealth:     "health",
	zoneDisability: "disability",
	zoneSexuality:  "sexuality",
	zoneUnion:      "unions",
	zoneTrauma:     "trauma",
	zonePathology:  "pathology",
	zoneFamily:     "family",
	zoneAge:        "age",
	zonePrivate:    "private life",
}

// forbidden adds findings for the zones that a text enters: errors for plain words, and warnings for cues and for
// passages that the classifier takes for private. It ignores the titles of works, and what happens in them.
func (c *checker) forbidden() {
	plain, hinted := c.lexiconHits()
	c.classify(plain, hinted)
	for _, zone := range append(zones(), zonePrivate) {
		if all := plain[zone]; len(all) > 0 {
			c.addZone(zone, all, fmt.Sprintf("the text touches on %s", zoneNames[zone]))
		} else if all := hinted[zone]; len(all) > 0 {
			c.addZone(zone, all, fmt.Sprintf("the text may be a roundabout question about %s", zoneNames[zone]))
		}
	}
}

// lexiconHits returns the places with plain words, and those with cues, by zone.
func (c *checker) lexiconHits() (plain, hinted map[zone][]zoneHit) {
	plain, hinted = map[zone][]zoneHit{}, map[zone][]zoneHit{}
	hits := findZones(c.Text)
	if len(hits) == 0 {
		return plain, hinted
	}
	titles := c.find(c.Text)
	for _, h := range hits {
		for len(titles) > 0 && titles[0].End < h.End {
			titles = titles[1:]
		}
		switch {
		case len(titles) > 0 && titles[0].Start <= h.Start, h.Cue && c.want.Language != h.Language && c.want.Language != "", c.ofWork(h):
		case h.Cue:
			hinted[h.Zone] = append(hinted[h.Zone], h)
		default:
			plain[h.Zone] = append(plain[h.Zone], h)
		}
	}
	return plain, hinted
}

// addZone adds a finding for the places of a zone, which names the first one.
func (c *checker) addZone(zone zone, all []zoneHit, what string) {
	first := all[0]
	c.add(Finding{
		Rule: ruleForbiddenZone, Section: string(zone), Count: len(all), Warning: first.Cue,
		Words: quoted(c.Text[first.Start:first.End]), Place: c.placeOf(first.Start),
		Message: fmt.Sprintf("%s in %s; an interview leaves that alone", what, format.Plural(len(all), "place")),
	})
}

// ofWork reports whether a hit is about a work: its passage names a work or a character and is not about
// the candidate. Capitals within a cue are those of a title.
func (c *checker) ofWork(h zoneHit) bool {
	if h.Cue && isTitle(c.Text[h.Start:h.End]) {
		return true
	}
	passage, start, fiction := c.passage(h)
	if passage == "" {
		return false
	}
	named := len(c.find(passage)) > 0
	if fiction {
		named = named || namesSomeone(passage) || speaks(passage, fictionWords)
	}
	if !named {
		return false
	}
	if h.Cue {
		from, to := sentenceAround(passage, h.Start-start, h.End-start)
		sentence := readPassage(passage[from:to])
		return !addresses(sentence) || perceivedByCandidate(sentence)
	}
	return !turnsToCandidate(passage, h.Start-start, h.End-start)
}

// isTitle reports whether the words after the first all begin with a capital.
func isTitle(text string) bool {
	all := readPassage(text)
	return len(all) > 1 && !slices.ContainsFunc(all[1:], func(w passageWord) bool { return !w.capital })
}

// addresses reports whether a sentence has a word for the candidate, other than in a question for an opinion
// ("selon toi").
func addresses(all []passageWord) bool {
	for i, w := range all {
		if (youWords[w.folded] || yours[w.folded]) && (i == 0 || !opinionWords[all[i-1].folded]) {
			return true
		}
	}
	return false
}

// perceivedByCandidate reports whether a sentence asks what the candidate perceives in a work: "qu'as-tu
// pensé", "what have you noticed".
func perceivedByCandidate(all []passageWord) bool {
	for i, w := range all {
		if w.folded != "like" && perceives(all[i:i+1]) && anyOf(all[max(0, i-2):min(len(all), i+2)], youWords) {
			return true
		}
	}
	return false
}

// opinionWords precede a word for the candidate who is asked for an opinion: "selon toi", "à tes yeux",
// "do you think".
var opinionWords = textfold.WordSet("selon d apres pour a do in")

// fictionWords are words for a story and its characters.
var fictionWords = textfold.WordSet("personnage personnages heros heroine heroines intrigue serie series film films histoire " +
	"scenario episode saison univers character characters hero heroes heroine plot story show movie episode")

// passage returns the passage of a hit and its start: the question or the line in block 2, and the
// sentence of a profile. fiction is true if the passage is about works. Questions of other blocks are
// about the candidate; for these the passage is empty.
func (c *checker) passage(h zoneHit) (text string, start int, fiction bool) {
	var mark string
	switch {
	case c.want.Step == session.Block2B && c.want.Purpose == session.PurposeQuestions:
		mark = separatorWord
	case c.want.Step == session.Block2B && c.want.Purpose == session.PurposeMirror:
		mark = "\n"
	case c.want.Purpose == session.PurposeAdaptive && c.want.Index == 2:
		return c.Text, 0, true
	case c.want.Purpose == session.PurposeProfile:
		start, end := sentenceAround(c.Text, h.Start, h.End)
		return c.Text[start:end], start, false
	default:
		return "", 0, false
	}
	if at := strings.LastIndex(c.Text[:h.Start], mark); at >= 0 {
		start = at + len(mark)
	}
	end := len(c.Text)
	if at := strings.Index(c.Text[h.End:], mark); at >= 0 {
		end = h.End + at
	}
	return c.Text[start:end], start, true
}

// sentenceAround returns the start and the end of the sentence around a range.
func sentenceAround(text string, from, to int) (start, end int) {
	const marks = ".!?\n"
	start = strings.LastIndexAny(text[:from], marks) + 1
	if end = strings.IndexAny(text[to:], marks); end < 0 {
		return start, len(text)
	}
	return start, to + end + 1
}
