package validate

import (
	"fmt"
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
}

// forbidden adds findings for the zones that a text enters. It ignores the titles of works, and adds
// only warnings for statements about the plot of a work.
func (c *checker) forbidden() {
	hits := findZones(c.Text)
	if len(hits) == 0 {
		return
	}
	titles := c.works.Find(c.Text)
	personal, fictional := map[zone]int{}, map[zone]int{}
	for _, h := range hits {
		for len(titles) > 0 && titles[0].End < h.End {
			titles = titles[1:]
		}
		switch {
		case len(titles) > 0 && titles[0].Start <= h.Start:
		case c.ofWork(h):
			fictional[h.Zone]++
		default:
			personal[h.Zone]++
		}
	}
	for _, zone := range zones() {
		if n := personal[zone]; n > 0 {
			c.add(Finding{
				Rule: ruleForbiddenZone, Section: string(zone), Count: n,
				Message: fmt.Sprintf("the text touches on %s in %s; an interview leaves that alone",
					zoneNames[zone], format.Plural(n, "place")),
			})
		}
		if n := fictional[zone]; n > 0 {
			c.add(Finding{
				Rule: ruleForbiddenZone, Section: string(zone), Count: n, Warning: true,
				Message: fmt.Sprintf("the text speaks of %s in the plot of a work in %s; another side of the work is safer",
					zoneNames[zone], format.Plural(n, "place")),
			})
		}
	}
}

// ofWork reports whether a hit is about a work: its passage names a work or a character and is not about
// the candidate.
func (c *checker) ofWork(h zoneHit) bool {
	passage, start, fiction := c.passage(h)
	if passage == "" {
		return false
	}
	named := len(c.works.Find(passage)) > 0
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
