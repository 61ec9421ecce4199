// Package grammar finds phrases in the sentences of a message. A phrase is a
// pattern over folded words in which sets of words (all verbs of work in the
// infinitive, say) stand for their members, so a rule is written once for a
// construction of the language, not once for each verb.
//
// A lexicon is text, a rule on each line:
//
//	# a comment
//	<do>: run test deploy           a set of words, which other lines may add to
//	[announce]                      the class of the patterns that follow
//	(i ll|i will) [now|also] <do>   one of some sequences, one that may be absent
//	let me <adv>* <do>              up to two words of a set
//	^ next .. <do> $                the start of the sentence, up to three words of
//	                                any kind, the end of the sentence
//	run . tests                     one word of any kind
//	done , next                     a comma, colon or the like may be between
//
// Words stand as package text folds them: "I'll" is two, i and ll. Between the
// words of a phrase the text may have space, apostrophes, hyphens, emphasis, emoji
// and a line break.
package grammar

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Class is the number of a class of phrases, in the order given to Compile.
type Class uint8

// Lang is the number of a language, in the order of the sources given to Compile.
type Lang uint8

// Any stands for all languages.
const Any Lang = 255

// Hit is a phrase that was found.
type Hit struct {
	Class Class
	// Pattern is the index of the pattern that matched.
	Pattern int32
	// Sentence is the index of the sentence, First and End the range of its words.
	Sentence   int32
	First, End int32
}

// Pattern is a rule of a lexicon.
type Pattern struct {
	Class Class
	Lang  Lang
	// Source is the line that it was compiled from.
	Source string
}

// Grammar is a compiled lexicon. It is immutable and safe for concurrent use.
type Grammar struct {
	// Words are the words of the lexicon: the reader of a text numbers by them.
	Words    *text.Vocabulary
	Patterns []Pattern

	named map[string]uint64 // the bit of each set, by "language.set"
	sets  []uint64          // the sets that each word is in
	// terms runs parallel to Patterns.
	terms []terms
	// begins lists the patterns that may begin with a word, by class.
	begins [][]int32
}

const (
	// longest is how many words a phrase may have.
	longest = 16
	// longestLabel is how many words may be before the start of a sentence: a
	// number, or a label or an exclamation such as "Next:" and "All right,".
	longestLabel = 3
)

// Sets returns the sets that the word with the number is in, one bit each.
func (g *Grammar) Sets(id int32) uint64 { return g.sets[id] }

// Set returns the bit of a set, named "language.set"; 0 if there is none.
func (g *Grammar) Set(name string) uint64 { return g.named[name] }

// Scan appends the phrases of a language in a sentence to hits, in the order of
// their first words. Of the phrases of one class that begin at one word it keeps
// the longest, of equally long ones the one that was written first.
func (g *Grammar) Scan(doc *text.Doc, sentence int, lang Lang, hits []Hit) []Hit {
	s := &doc.Sentences[sentence]
	words := doc.Words[s.First:s.End]
	starts := true
	for i := range words {
		if i > 0 {
			starts = starts && words[i-1].Flags&text.Digits != 0 || i <= longestLabel && afterGap(words[i].Flags)
		}
		next := int32(0)
		if i+1 < len(words) {
			next = words[i+1].ID
		}
		base := len(hits)
		for _, k := range g.begins[words[i].ID] {
			p, t := &g.Patterns[k], &g.terms[k]
			if lang != Any && p.Lang != lang || t.start && !starts || !g.allows(&t.outlook[1], next) {
				continue
			}
			end := g.match(t, words[i:])
			if end == 0 {
				continue
			}
			h := Hit{p.Class, k, int32(sentence), int32(s.First + i), int32(s.First + i + end)}
			if n := len(hits); n == base || hits[n-1].Class != h.Class {
				hits = append(hits, h)
			} else if hits[n-1].End < h.End {
				hits[n-1] = h
			}
		}
	}
	return hits
}

// allows reports whether the word may be among the options. It may be wrong for some
// words that are not.
func (g *Grammar) allows(o *options, word int32) bool {
	return o.any || g.sets[word]&o.sets != 0 || word != 0 && o.bits&bitOf(word) != 0
}

// afterGap reports whether a comma, a colon or the like is before a word; a line
// break alone does not count.
func afterGap(flags text.Flags) bool {
	return flags&(text.AfterGap|text.AfterLine) == text.AfterGap
}
