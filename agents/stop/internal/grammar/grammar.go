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
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Class is the number of a class of phrases, in the order given to Compile.
type Class uint8

// Lang is the number of a language, in the order of the sources given to Compile.
type Lang uint8

// Any stands for all languages.
const Any Lang = maxLangs

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

// Grammar is a compiled lexicon. It is safe for concurrent use.
type Grammar struct {
	// Words are the words of the lexicon: the reader of a text numbers by them.
	Words    *text.Vocabulary
	Patterns []Pattern

	traits []trait // by word
	named  map[string]uint64
	// nodes, edges and ends are the nondeterministic automaton of the patterns; the
	// first nodes are those that all phrases begin at.
	nodes   []node
	edges   []edge
	ends    []end
	openers [places][]outlook // by word
	machine atomic.Pointer[machine]
}

// trait is the sets that a word is in, a bit each, and the bit of the word itself, which few others
// share.
type trait struct{ sets, bit uint64 }

// otherBit stands for the words that patterns name only as their first, and for
// those that are not in the lexicon.
const otherBit = 1 << 63

// outlook predicts how phrases continue: the bits of the words and the sets that may follow. All
// bits are set if any word may follow, or if a phrase may end before.
type outlook struct{ words, sets uint64 }

// allows reports whether a word with the traits may follow. Most do not, and which
// do is hard to predict, so there is one branch for all reasons.
func (o outlook) allows(t *trait) bool { return o.words&t.bit|o.sets&t.sets != 0 }

// node is a state of a pattern: where its edges of each kind and the patterns that
// end there begin. They go up to where those of the next kind or node begin.
type node struct {
	edges [3]int32
	ends  int32
}

// edge leads to another node over a word.
type edge struct {
	symbol int32 // a word's number, or that of a set
	to     int32
	// cross is true if the word may follow a comma, a colon or the like.
	cross bool
}

// end is a pattern that ends at a node.
type end struct {
	pattern int32
	class   Class
	// last is true if the sentence must end here as well.
	last bool
}

// The places that phrases begin at.
const (
	anywhere = iota
	sentenceStart
	places
)

// roots is the number of nodes that patterns begin at.
const roots = places * maxLangs

func rootOf(place int, lang Lang) int32 { return int32(place)*maxLangs + int32(lang) }

const (
	// longest is how many words a phrase may have.
	longest = 16
	// longestLabel is how many words may be before the start of a sentence: a
	// number, or a label or an exclamation such as "Next:" and "All right,".
	longestLabel = 3
)

// Sets returns the sets that the word with the number is in, one bit each.
func (g *Grammar) Sets(id int32) uint64 { return g.traits[id].sets }

// Set returns the bit of a set, named "language.set"; 0 if there is none.
func (g *Grammar) Set(name string) uint64 { return g.named[name] }

// edgesOf returns the range of the edges of a kind that leave the node.
func (g *Grammar) edgesOf(n, kind int32) (first, last int32) {
	if kind == anyEdge {
		return g.nodes[n].edges[anyEdge], g.nodes[n+1].edges[0]
	}
	return g.nodes[n].edges[kind], g.nodes[n].edges[kind+1]
}

// Scan appends the phrases of a language in a sentence to hits, in the order of
// their first words. Of the phrases of one class that begin at one word it keeps
// the longest, of equally long ones the one that was written first.
func (g *Grammar) Scan(doc *text.Doc, sentence int, lang Lang, hits []Hit) []Hit {
	s := &doc.Sentences[sentence]
	words := doc.Words[s.First:s.End]
	starts := true
	for i := range words {
		w := &words[i]
		if i > 0 {
			starts = starts && words[i-1].Flags&text.Digits != 0 || i <= longestLabel && afterGap(w.Flags)
		}
		place := anywhere
		if starts {
			place = sentenceStart
		}
		next := int32(0)
		if i+1 < len(words) {
			next = words[i+1].ID
		}
		if !g.openers[place][w.ID].allows(&g.traits[next]) {
			continue
		}
		m := g.machine.Load()
		if at := m.begin(place, lang, w.ID); at != nil {
			base := len(hits)
			hits = m.follow(words[i:], at, hits)
			for k := base; k < len(hits); k++ {
				h := &hits[k]
				h.Sentence = int32(sentence)
				h.First += int32(s.First + i)
				h.End += int32(s.First + i)
			}
		}
	}
	return hits
}

// follow appends the phrases that begin with the first of the words, which led to
// the state at, by class. Their words are counted from the first.
func (m *machine) follow(words []text.Word, at *state, hits []Hit) []Hit {
	base := len(hits)
	for k := 1; ; k++ {
		for _, e := range at.ends {
			if !e.last || k == len(words) {
				hits = keep(hits, base, Hit{Class: e.class, Pattern: e.pattern, End: int32(k)})
			}
		}
		if k == len(words) || k == longest {
			return hits
		}
		if at.all && !m.leads(at, words[k:]) {
			return hits
		}
		w := &words[k]
		if at = m.step(at, w.ID, afterGap(w.Flags)); at == nil {
			return hits
		}
	}
}

// keep puts a hit in the place of the shorter one of its class, or inserts it.
func keep(hits []Hit, base int, h Hit) []Hit {
	i := base
	for i < len(hits) && hits[i].Class < h.Class {
		i++
	}
	if i == len(hits) || hits[i].Class != h.Class {
		hits = append(hits, Hit{})
		copy(hits[i+1:], hits[i:])
	} else if hits[i].End == h.End && hits[i].Pattern <= h.Pattern {
		return hits
	}
	hits[i] = h
	return hits
}

// afterGap reports whether a comma, a colon or the like is before a word; a line
// break alone does not count.
func afterGap(flags text.Flags) bool {
	return flags&(text.AfterGap|text.AfterLine) == text.AfterGap
}
