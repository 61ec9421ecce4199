package validate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// part is a required section of a text.
type part struct {
	name string
	// titles are the folded words of its heading.
	titles [][]string
	// soft and hard limit the words of the body; 0 means no limit.
	soft, hard int
}

// mirrorParts are the sections of a mirror.
var mirrorParts = []part{
	{
		name:   "section 1 (implicit reading)",
		titles: [][]string{{"lecture", "implicite"}, {"implicit", "reading"}},
		soft:   readingWords, hard: readingWordsHard,
	},
	{
		name: "section 2 (personal deduction)",
		titles: [][]string{
			{"deduction", "personnalisee"}, {"personal", "deduction"}, {"personalised", "deduction"}, {"personalized", "deduction"},
		},
		soft: deductionWords, hard: deductionWordsHard,
	},
	{
		name:   "section 3 (open validation)",
		titles: [][]string{{"validation", "ouverte"}, {"open", "validation"}},
	},
}

// openValidation are the sentences, folded, that may end a mirror.
var openValidation = map[session.Language][]string{
	session.French: {
		"dis moi si ca te parle ou s il y a une nuance importante que je n ai pas vue",
		"dis moi si cela te parle ou s il y a une nuance importante que je n ai pas vue",
		"dites moi si ca vous parle ou s il y a une nuance importante que je n ai pas vue",
		"dites moi si cela vous parle ou s il y a une nuance importante que je n ai pas vue",
	},
	session.English: {
		"tell me if this rings true or if there is an important nuance i have missed",
		"tell me if this rings true or if there is an important nuance that i have missed",
		"tell me if this rings true or if there s an important nuance i ve missed",
	},
}

// section is a section of a text.
type section struct {
	part int // index of the part; len(parts) or more for an additional one
	body string
}

// mirror checks the mirror of every block except 2B.
func (c *checker) mirror() {
	before, found := splitSections(c.Text, mirrorHeading)
	c.stray("before section 1", before)
	c.sections(mirrorParts, found)
	for _, s := range found {
		switch {
		case s.part >= len(mirrorParts):
			c.add(Finding{
				Rule: ruleStrayText, Section: fmt.Sprintf("section %d", s.part+1), Count: s.part + 1, Limit: len(mirrorParts),
				Message: fmt.Sprintf("there is a section %d; a mirror has %d", s.part+1, len(mirrorParts)),
			})
		case mirrorParts[s.part].hard > 0:
			// Without the next heading the body is that of two sections.
			if slices.ContainsFunc(found, func(next section) bool { return next.part == s.part+1 }) {
				c.length(mirrorParts[s.part], s.body)
			}
		default:
			c.openValidation(mirrorParts[s.part].name, s.body)
		}
	}
}

// splitSections splits a text at its headings. heading returns the part that begins at a line, or -1
// for other lines, and the text of the line that belongs to the body.
func splitSections(text string, heading func(line string) (part int, body string)) (before string, found []section) {
	var body strings.Builder
	flush := func() {
		if n := len(found); n > 0 {
			found[n-1].body = strings.TrimSpace(body.String())
		} else {
			before = strings.TrimSpace(body.String())
		}
		body.Reset()
	}
	for line := range strings.Lines(text) {
		part, rest := heading(line)
		if part >= 0 {
			flush()
			found = append(found, section{part: part})
			rest += "\n"
		}
		body.WriteString(rest)
	}
	flush()
	return before, found
}

// mirrorHeading parses a heading: a keycap, or a title that is alone on its line or marked as a heading.
// The title determines the part, or else the keycap.
func mirrorHeading(line string) (part int, body string) {
	h := readHeading(line)
	for i, p := range mirrorParts {
		for _, title := range p.titles {
			body, alone, found := cutTitle(h.rest, title)
			if found && (alone || h.marked || h.number > 0) {
				return i, body
			}
		}
	}
	if h.keycap {
		return h.number - 1, h.rest
	}
	return -1, line
}

// sections checks that each part exists once, in order, and is not empty.
func (c *checker) sections(parts []part, found []section) {
	count := make([]int, len(parts))
	last, ordered := -1, true
	for _, s := range found {
		if s.part >= len(parts) {
			continue
		}
		p := parts[s.part]
		if count[s.part]++; count[s.part] == 1 {
			ordered = ordered && s.part > last
			last = s.part
		}
		if textfold.Count(s.body) == 0 {
			c.add(Finding{
				Rule: ruleSectionEmpty, Section: p.name,
				Message: p.name + " has a heading and no text",
			})
		}
	}
	for i, p := range parts {
		switch {
		case count[i] == 0:
			c.add(Finding{Rule: ruleSectionMissing, Section: p.name, Message: p.name + " is missing"})
		case count[i] > 1:
			c.add(Finding{
				Rule: ruleSectionDoubled, Section: p.name, Count: count[i], Limit: 1,
				Message: fmt.Sprintf("%s is there %d times; once is enough", p.name, count[i]),
			})
		}
	}
	if !ordered {
		c.add(Finding{
			Rule:    ruleSectionOrder,
			Message: fmt.Sprintf("the sections are not in order; the order is %s", names(parts)),
		})
	}
}

func names(parts []part) string {
	all := make([]string, len(parts))
	for i, p := range parts {
		all[i] = p.name
	}
	return strings.Join(all, ", ")
}

// length counts the words of a section's body.
func (c *checker) length(p part, body string) {
	n := textfold.Count(body)
	switch {
	case n > p.hard:
		c.add(Finding{
			Rule: ruleSectionWords, Section: p.name, Count: n, Limit: p.hard,
			Message: fmt.Sprintf("%s has %d words without its heading; %d are demanded at most and more than %d cannot be used",
				p.name, n, p.soft, p.hard),
		})
	case n > p.soft:
		c.add(Finding{
			Rule: ruleSectionWords, Section: p.name, Count: n, Limit: p.soft, Warning: true,
			Message: fmt.Sprintf("%s has %d words without its heading; %d are demanded at most", p.name, n, p.soft),
		})
	}
}

// openValidation checks that the body of the last section is exactly the sentence.
func (c *checker) openValidation(name, body string) {
	folded := textfold.Join(body)
	for language, sentences := range openValidation {
		if c.want.Language != "" && language != c.want.Language {
			continue
		}
		for _, sentence := range sentences {
			rest, ok := strings.CutPrefix(folded, sentence)
			if !ok {
				continue
			}
			c.stray("after "+name, rest)
			return
		}
	}
	c.add(Finding{
		Rule: ruleOpenValidation, Section: name,
		Message: name + " must hold the sentence that asks whether this is true and what was missed, word for word",
	})
}

func (c *checker) stray(where, text string) {
	if n := textfold.Count(text); n > 0 {
		c.add(Finding{
			Rule: ruleStrayText, Section: where, Count: n,
			Message: fmt.Sprintf("there are %s %s that belong to no section", format.Plural(n, "word"), where),
		})
	}
}
