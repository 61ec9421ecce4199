package validate

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// traitWords show that a question is about a character's traits.
var traitWords = textfold.WordSet("trait traits qualite qualites caractere temperament quality qualities character")

// projective checks the questions of block 2B as a whole: they name each work, and traits belong to a
// character.
func (c *checker) projective(all []question) {
	named := map[int]bool{}
	for _, q := range all {
		for work := range c.named(q.text) {
			named[work] = true
		}
	}
	someone := false
	for _, q := range all {
		name := namesSomeone(c.cut(q.stem))
		someone = someone || name
		if !name && speaks(q.stem, traitWords) {
			c.warnNoCharacter(q.name, q.name+" asks for traits and names no character")
		}
		if name || speaks(q.stem, traitWords) {
			c.traits(q)
		}
	}
	c.missingWorks(named, someone)
	if !someone {
		c.warnNoCharacter("", "no question names a character of the works")
	}
}

// warnNoCharacter adds a warning that no character is named. It is not an error, because a model that
// does not know a work should not invent a name.
func (c *checker) warnNoCharacter(section, message string) {
	c.add(Finding{Rule: ruleCharacterMissing, Section: section, Warning: true, Message: message})
}

// missingWorks adds a finding for works that no question names. It is a warning if a work or a character
// is named, because the model may know the work by another title.
func (c *checker) missingWorks(named map[int]bool, someone bool) {
	missing := c.works.Missing(named)
	if len(missing) == 0 {
		return
	}
	c.add(Finding{
		Rule: ruleWorkMissing, Count: len(named), Limit: len(named) + len(missing), Warning: len(named) > 0 || someone,
		Wanted: missing,
		Message: fmt.Sprintf("the questions name %d of the %s of the candidate; each is named by its title",
			len(named), format.Plural(len(named)+len(missing), "work")),
	})
}

// minEvidence is the minimum number of words in an option that show something of the character.
const minEvidence = 1

// traits adds a warning for each option that would fit any character, since it shows no scene, object,
// gesture or decision, if they are at least a third of the options.
func (c *checker) traits(q question) {
	var generic []option
	for _, o := range q.options {
		if textfold.Count(o.text) > 0 && evidence(c.cut(o.text), minEvidence) < minEvidence {
			generic = append(generic, o)
		}
	}
	if 3*len(generic) < len(q.options) {
		return
	}
	for _, o := range generic {
		c.add(Finding{
			Rule: ruleTraitGeneric, Section: q.name, Warning: true, Words: quoted(o.text), Place: fmt.Sprintf("option %c", o.letter),
			Message: fmt.Sprintf("option %c of %s fits any character; show a scene, an object, a gesture or a decision of this one",
				o.letter, q.name),
		})
	}
}

// namesSomeone reports whether a text contains a name: a capitalized word that does not begin a
// sentence.
func namesSomeone(text string) bool {
	r := textfold.NewReader(text)
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if w.Start == 0 || strings.TrimLeft(text[:w.Start], " *_«\"“") == "" || strings.ContainsAny(w.Gap, ".!?…:\n") {
			continue
		}
		first, size := utf8.DecodeRuneInString(text[w.Start:])
		if !unicode.IsUpper(first) {
			continue
		}
		if strings.IndexFunc(text[w.Start+size:w.End], unicode.IsLower) >= 0 {
			return true
		}
	}
	return false
}

// projectiveMirror checks the mirror of block 2B, which consists of lines without sections.
func (c *checker) projectiveMirror() {
	c.within(maxProjectiveWords)
	lines, watch := 0, 0
	for line := range strings.Lines(c.Text) {
		if textfold.Count(line) == 0 {
			continue
		}
		lines++
		if warns(line) {
			watch++
		}
	}
	if lines < minProjectiveLines || lines > maxProjectiveLines {
		c.add(Finding{
			Rule: ruleLineCount, Count: lines, Limit: min(max(lines, minProjectiveLines), maxProjectiveLines),
			Message: fmt.Sprintf("the mirror has %s; %d to %d are expected",
				format.Plural(lines, "line"), minProjectiveLines, maxProjectiveLines),
		})
	}
	if watch != 1 {
		c.add(Finding{
			Rule: ruleVigilance, Count: watch, Limit: 1,
			Message: fmt.Sprintf("the mirror has %s; exactly one is expected, on a line that begins so",
				format.Plural(watch, "point")+" of vigilance"),
		})
	}
	someone := namesSomeone(c.cut(c.Text))
	named := c.named(c.Text)
	if missing := c.works.Missing(named); len(missing) > 0 && len(named) == 0 {
		c.add(Finding{
			Rule: ruleWorkMissing, Warning: someone, Wanted: missing,
			Message: "the mirror names none of the works that the candidate named",
		})
	}
	if !someone {
		c.warnNoCharacter("", "the mirror names no character")
	}
}

// warns reports whether a line is a point of vigilance.
func warns(line string) bool {
	text := " " + textfold.Join(line) + " "
	for _, mark := range []string{" vigilance ", " watch point ", " watchpoint ", " watch out ", " point to watch "} {
		if strings.Contains(text, mark) {
			return true
		}
	}
	return false
}
