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

// forbidden adds findings for the zones that a text enters: an error for each zone with plain words, and a warning for
// passages without them that the classifier takes for private. It ignores the titles of works, and what happens in them.
func (c *checker) forbidden() {
	hits := c.plainHits()
	for _, zone := range zones() {
		var first *zoneHit
		places := 0
		for i, h := range hits {
			if h.Zone != zone {
				continue
			}
			if places++; first == nil {
				first = &hits[i]
			}
		}
		if first != nil {
			c.addZone(*first, places, fmt.Sprintf("the text touches on %s", zoneNames[zone]), false)
		}
	}
	if private := c.privatePassages(hits); len(private) > 0 {
		c.addZone(private[0], len(private), "the text may be a roundabout question about "+zoneNames[zonePrivate], true)
	}
}

// plainHits returns the places with plain words of a zone.
func (c *checker) plainHits() []zoneHit {
	hits := findZones(c.Text)
	if len(hits) == 0 {
		return nil
	}
	titles := c.find(c.Text)
	return slices.DeleteFunc(hits, func(h zoneHit) bool {
		for len(titles) > 0 && titles[0].End < h.End {
			titles = titles[1:]
		}
		return len(titles) > 0 && titles[0].Start <= h.Start || c.ofWork(h)
	})
}

// addZone adds a finding for places, which names the first one.
func (c *checker) addZone(first zoneHit, places int, what string, warning bool) {
	c.add(Finding{
		Rule: ruleForbiddenZone, Section: string(first.Zone), Count: places, Warning: warning,
		Words: quoted(c.Text[first.Start:first.End]), Place: c.placeOf(first.Start),
		Message: fmt.Sprintf("%s in %s; an interview leaves that alone", what, format.Plural(places, "place")),
	})
}

// ofWork reports whether a hit is about a work: its passage names a work or a character and is not about
// the candidate.
func (c *checker) ofWork(h zoneHit) bool {
	passage, start, fiction := c.passage(h)
	if passage == "" {
		return false
	}
	named := len(c.find(passage)) > 0
	if fiction {
		named = named || namesSomeone(passage) || speaks(passage, fictionWords)
	}
	return named && !turnsToCandidate(passage, h.Start-start, h.End-start)
}

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
