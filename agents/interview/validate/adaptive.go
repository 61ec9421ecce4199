package validate

import (
	"fmt"
	"slices"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// The words, folded, for a medium, for any work, and for exactly one, in both languages.
var (
	seriesWords = textfold.WordSet("serie series tv show shows sitcom sitcoms")
	filmWords   = textfold.WordSet("film films cinema movie movies long metrage metrages")
	workWords   = textfold.WordSet("oeuvre oeuvres titre titres univers histoire histoires work works title titles story stories")
	oneWords    = textfold.WordSet("une un seule seul laquelle lequel celle celui one single which")
)

// speaks reports whether a text contains one of the words.
func speaks(text string, of map[string]bool) bool {
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if of[string(w.Text)] {
			return true
		}
	}
	return false
}

// adaptive checks a question of block 2A: for the medium, for works of that medium, or for the work
// that matters most.
func (c *checker) adaptive() {
	c.Text = withoutIntroduction(plainText(c.Text))
	q := readQuestion("the question", c.Text)
	c.question(q)
	switch c.want.Index {
	case 0:
		c.offersMedia(q)
	case 1:
		c.speaksOfMedium(q)
	default:
		c.asksForOne(q)
	}
}

func (c *checker) offersMedia(q question) {
	if len(q.options) != 2 {
		c.add(Finding{
			Rule: ruleOptionCount, Section: q.name, Count: len(q.options), Limit: 2,
			Message: fmt.Sprintf("%s has %s; the choice is between series and films, as A and B",
				q.name, format.Plural(len(q.options), "option")),
		})
	}
	offers := func(of map[string]bool) bool {
		return slices.ContainsFunc(q.options, func(o option) bool { return speaks(o.text, of) })
	}
	if !offers(seriesWords) || !offers(filmWords) {
		c.add(Finding{
			Rule: ruleMediumMissing, Section: q.name,
			Message: q.name + " must offer both series and films, one as A and one as B",
		})
	}
}

func (c *checker) speaksOfMedium(q question) {
	chosen, other := seriesWords, filmWords
	switch c.want.Medium {
	case session.Series:
	case session.Film:
		chosen, other = filmWords, seriesWords
	default:
		return
	}
	text := c.cut(q.text)
	if !speaks(text, chosen) {
		c.add(Finding{
			Rule: ruleMediumMissing, Section: q.name,
			Message: fmt.Sprintf("%s does not speak of the medium that was chosen, %s", q.name, c.want.Medium),
		})
	}
	if speaks(text, other) {
		c.add(Finding{
			Rule: ruleMediumOther, Section: q.name,
			Message: fmt.Sprintf("%s speaks of the medium that was not chosen; the candidate chose %s", q.name, c.want.Medium),
		})
	}
}

func (c *checker) asksForOne(q question) {
	subject := speaks(q.text, workWords) || speaks(q.text, seriesWords) || speaks(q.text, filmWords) ||
		len(c.named(q.text)) > 0 || namesSomeone(q.text)
	if !subject || !speaks(q.text, oneWords) {
		c.add(Finding{
			Rule: ruleOneWork, Section: q.name,
			Message: q.name + " must ask for one work, the one that matters most",
		})
	}
}
