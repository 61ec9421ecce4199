// Package lexicon finds the phrases of word lists in a text that was read, in one
// pass and without allocation.
//
// A list is text. A line "[class]" begins a class, "#" a comment, and every other
// line is a phrase of the class:
//
//	[future]
//	let me (now)? run|test|check   # alternatives of one word: no spaces
//	(as soon as|once) _ is done    # in parentheses, alternatives of several
//	next step(s)                   # "step" or "steps"
//	i'll _? (re)?start             # at most one word of any kind between
//	done , next                    # a comma, colon, dash or parenthesis must stand
//
// Words are compared as package text folds them, so accents and capitals are free
// and "I'll" is two words. Between the words of a phrase the text may have space,
// apostrophes, hyphens, emphasis, emoji and a single line break.
package lexicon

import (
	"slices"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Source is a word list; its classes are called "Name.class".
type Source struct{ Name, Text string }

// Class is the number of a class, from 0, in the order of the sources.
type Class int

// Phrase is a line of a source.
type Phrase struct {
	Class  Class
	Text   string // as it is written
	Source string // the source's name
	Line   int    // from 1
}

// Hit is a phrase found in the words of a sentence.
type Hit struct {
	Class    Class
	Phrase   int
	Sentence int
	// First and End are the range of words.
	First, End int
}

// TextHit is a phrase found in a text without structure.
type TextHit struct {
	text.Span
	Class  Class
	Phrase int
}

// Lexicon is a compiled set of word lists. It is immutable.
type Lexicon struct {
	classes []string
	phrases []Phrase
	words   *text.Vocabulary
	machine machine
}

// Vocabulary numbers the words of the lexicon; a text must be read with it. It is
// not to be added to.
func (l *Lexicon) Vocabulary() *text.Vocabulary { return l.words }

// Classes are the names of the classes, by number.
func (l *Lexicon) Classes() []string { return slices.Clone(l.classes) }

// Class is the number of the class with the name.
func (l *Lexicon) Class(name string) (Class, bool) {
	i := slices.Index(l.classes, name)
	return Class(i), i >= 0
}

// Phrases are all phrases, in the order of the sources; a hit's Phrase is an index.
func (l *Lexicon) Phrases() []Phrase { return slices.Clone(l.phrases) }

// Phrase is the phrase that a hit names.
func (l *Lexicon) Phrase(i int) Phrase { return l.phrases[i] }

// Scan appends to hits the phrases in the sentences of doc: from each word on, of
// each class the longest. They are in the order of their first words.
func (l *Lexicon) Scan(doc *text.Doc, hits []Hit) []Hit {
	m := &l.machine
	for at := range doc.Sentences {
		s := &doc.Sentences[at]
		words := doc.Words[s.First:s.End]
		for i := range words {
			state := m.start(words[i].ID)
			if state == 0 {
				continue
			}
			base := len(hits)
			for k := i + 1; ; k++ {
				for _, a := range m.accepted(state) {
					hits = keep(hits, base, Hit{a.class, a.phrase, at, s.First + i, s.First + k})
				}
				if k == len(words) {
					break
				}
				if state = m.step(state, words[k].ID, words[k].Flags); state == 0 {
					break
				}
			}
		}
	}
	return hits
}

// keep appends a hit, or puts it in the place of the shorter one of its class
// that begins at the same word.
func keep(hits []Hit, base int, h Hit) []Hit {
	for i := base; i < len(hits); i++ {
		if hits[i].Class == h.Class {
			hits[i] = h
			return hits
		}
	}
	return append(hits, h)
}
