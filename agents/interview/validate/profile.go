package validate

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// profilePart is a section of the profile, which is found by its sign or by the words of its heading.
type profilePart struct {
	part
	sign rune
	// keys are sets of folded words in both languages; a heading has one word of each set.
	keys []map[string]bool
}

var profileParts = []profilePart{
	{part{name: "🔥 what sets in motion"}, '🔥', keys("mouvement motion")},
	{part{name: "🧱 lasting over time"}, '🧱', keys("temps duree time")},
	{part{name: "⚖️ values"}, '⚖', keys("valeurs values")},
	{part{name: "🧩 projections"}, '🧩', keys("projections")},
	{part{name: "🛠️ strengths and limits"}, '🛠', keys("forces strengths", "limites limits")},
	{part{name: "🎯 professional position"}, '🎯', keys("positionnement position positioning")},
	{part{name: "🧠 emotional summary"}, '🧠', keys("synthese summary")},
}

func keys(lists ...string) []map[string]bool {
	var all []map[string]bool
	for _, list := range lists {
		all = append(all, textfold.WordSet(list))
	}
	return all
}

// maxHeadingWords is the maximum length of a heading in words.
const maxHeadingWords = 12

// profile checks the final profile.
func (c *checker) profile() {
	c.within(maxProfileWords)
	parts := make([]part, len(profileParts))
	for i, p := range profileParts {
		parts[i] = p.part
	}
	found := profileSections(c.Text)
	c.sections(parts, found)
	c.substance(parts, found)
	if n := textfold.Count(prefaceOf(c.Text)); n > maxHeadingWords {
		c.add(Finding{
			Rule: ruleStrayText, Count: n, Limit: maxHeadingWords, Warning: true,
			Message: fmt.Sprintf("there are %d words before the first section; begin with that", n),
		})
	}
}

// minFacts is the minimum number of words in a section of the profile that state something about this
// person, and minSectionWords the minimum length without which such a section is refused.
const (
	minFacts        = 2
	minSectionWords = 3
)

// substance adds a finding for each section that would fit any person, or only talks about itself. The
// summary, which is the last part, may be abstract.
func (c *checker) substance(parts []part, found []section) {
	for _, s := range found {
		n := textfold.Count(s.body)
		summary := s.part == len(parts)-1
		if n == 0 || summary && n >= minSectionWords || evidence(s.body, minFacts) >= minFacts {
			continue
		}
		c.add(Finding{
			Rule: ruleSectionEmpty, Section: parts[s.part].name, Warning: n >= minSectionWords,
			Words: quoted(s.body), Place: parts[s.part].name,
			Message: parts[s.part].name + " states nothing about this person; write what they did, said or chose",
		})
	}
}

// prefaceOf returns the text before the first heading of a profile.
func prefaceOf(text string) string {
	at, blank := 0, true
	for line := range strings.Lines(text) {
		if _, ok := readProfileHeading(line, blank); ok {
			break
		}
		at += len(line)
		blank = strings.TrimSpace(line) == ""
	}
	return text[:at]
}

// profileHeading is a line that may be a heading.
type profileHeading struct {
	part   int
	start  int // of the line
	body   int // where the text after the heading starts
	signed bool
}

// profileSections splits a profile at its headings. A heading without a sign counts only if the part has
// no heading with its sign.
func profileSections(text string) []section {
	var all []profileHeading
	signed := make([]bool, len(profileParts))
	at, blank := 0, true
	for line := range strings.Lines(text) {
		if h, ok := readProfileHeading(line, blank); ok {
			h.start, h.body = at, at+h.body
			all = append(all, h)
			signed[h.part] = signed[h.part] || h.signed
		}
		at += len(line)
		blank = strings.TrimSpace(line) == ""
	}
	var found []section
	start := 0
	for _, h := range all {
		if signed[h.part] && !h.signed {
			continue
		}
		if n := len(found); n > 0 {
			found[n-1].body = text[start:h.start]
		}
		found, start = append(found, section{part: h.part}), h.body
	}
	if n := len(found); n > 0 {
		found[n-1].body = text[start:]
	}
	return found
}

// readProfileHeading reads a heading: a line with one of the signs, or a short line with the words of a
// heading. The text after a colon is part of the body.
func readProfileHeading(line string, afterBlank bool) (profileHeading, bool) {
	h := readHeading(line)
	head, rest, colon := strings.Cut(h.rest, ":")
	long := textfold.Count(head) > maxHeadingWords
	body := len(line)
	switch {
	case long:
		body = 0
	case colon:
		body = strings.IndexByte(line, ':') + 1
	}
	for i, p := range profileParts {
		if h.sign == p.sign {
			return profileHeading{part: i, body: body, signed: true}, true
		}
	}
	bare := afterBlank && !strings.ContainsAny(h.rest, ".!?,;…") && !strings.HasPrefix(h.rest, "-")
	if long || colon && textfold.Count(rest) > 0 && !h.marked {
		return profileHeading{}, false
	}
	for i, p := range profileParts {
		if p.titled(head) && (h.whole || bare || h.number == i+1) {
			return profileHeading{part: i, body: body}, true
		}
	}
	return profileHeading{}, false
}

func (p profilePart) titled(head string) bool {
	for _, key := range p.keys {
		if !speaks(head, key) {
			return false
		}
	}
	return true
}
