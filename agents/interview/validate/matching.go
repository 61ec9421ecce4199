package validate

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// status is one of the three outcomes of the matching.
type status struct {
	name string
	sign rune
	// forms are its folded words, which do not include "désaligné".
	forms [][]string
}

var statuses = []status{
	{"aligned", '🟢', forms("aligne", "alignee", "aligned")},
	{"conditionally aligned", '🔵', forms(
		"alignement conditionnel", "aligne conditionnellement", "conditionally aligned", "conditional alignment",
	)},
	{"not currently aligned", '🟠', forms("pas aligne actuellement", "pas alignee actuellement", "pas aligne", "pas alignee", "non aligne",
		"not currently aligned", "not aligned currently", "not aligned")},
}

// statusLabels may stand before a status on its line.
var statusLabels = forms("statut", "status", "verdict", "resultat", "result")

func forms(list ...string) [][]string {
	var all [][]string
	for _, f := range list {
		all = append(all, strings.Fields(f))
	}
	return all
}

// matchingParts are the justification's heading and its three points.
var matchingParts = []part{
	{name: "the point on the core of the work", titles: forms(
		"rapport au coeur du metier", "relation to the core of the work", "relation to the core of the job",
	)},
	{name: "the point on duration", titles: forms("rapport a la duree", "relation to duration")},
	{name: "the point on overall coherence", titles: forms("coherence globale", "overall coherence")},
}

var justification = part{
	name:   "the compatibility reading",
	titles: forms("lecture de compatibilite", "compatibility reading"),
}

// matching checks the last text: a status and its justification.
func (c *checker) matching() {
	c.within(maxMatchingWords)
	c.status()
	headed := false
	_, found := splitSections(c.Text, func(line string) (int, string) {
		if _, ok := titled(line, justification); ok {
			headed = true
			return -1, ""
		}
		for i, p := range matchingParts {
			if body, ok := titled(line, p); ok {
				return i, body
			}
		}
		return -1, line
	})
	if !headed {
		c.add(Finding{
			Rule: ruleSectionMissing, Section: justification.name,
			Message: justification.name + " is missing",
		})
	}
	c.sections(matchingParts, found)
}

// titled returns the text after the title of a part, and false if the line does not begin with it.
func titled(line string, p part) (body string, ok bool) {
	h := readHeading(strings.TrimLeft(line, " \t-•"))
	for _, title := range p.titles {
		body, alone, found := cutTitle(h.rest, title)
		if found && (alone || h.marked || h.number > 0 || h.sign > 0) {
			return body, true
		}
	}
	return "", false
}

// status checks that exactly one line is a status. A status within a sentence does not count.
func (c *checker) status() {
	lines := 0
	for line := range strings.Lines(c.Text) {
		named, signed := readStatus(line)
		if named < 0 && signed < 0 {
			continue
		}
		lines++
		if named < 0 || signed >= 0 && named != signed {
			c.conflict(signed)
		}
	}
	switch {
	case lines == 0:
		c.add(Finding{
			Rule: ruleStatusMissing, Section: "the status", Limit: 1,
			Message: fmt.Sprintf("no line says a status; one says %s", statusNames()),
		})
	case lines > 1:
		c.add(Finding{
			Rule: ruleStatusSeveral, Section: "the status", Count: lines, Limit: 1,
			Message: fmt.Sprintf("%d lines say a status; exactly one may", lines),
		})
	}
}

func (c *checker) conflict(signed int) {
	c.add(Finding{
		Rule: ruleStatusConflict, Section: "the status",
		Message: fmt.Sprintf("a line has the sign of %q and other words, or words after it; the status stands alone", statuses[signed].name),
	})
}

func statusNames() string {
	var all []string
	for _, s := range statuses {
		all = append(all, string(s.sign)+" "+s.name)
	}
	return strings.Join(all, ", ")
}

// readStatus returns the status that a line names and the one of its sign, or -1. A line names a status
// if it contains nothing else.
func readStatus(line string) (named, signed int) {
	named, signed = -1, -1
	h := readHeading(strings.TrimLeft(line, " \t-•"))
	for _, label := range statusLabels {
		if rest, alone, ok := cutTitle(h.rest, label); ok && alone {
			h = readHeading(rest)
			break
		}
	}
	for i, s := range statuses {
		if h.sign == s.sign {
			signed = i
		}
		for _, form := range s.forms {
			if body, _, ok := cutTitle(h.rest, form); ok && textfold.Join(body) == "" {
				named = i
			}
		}
	}
	return named, signed
}
