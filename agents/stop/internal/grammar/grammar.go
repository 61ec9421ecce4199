// Package grammar finds phrases in the sentences of a message. A phrase is a
// pattern over folded words in which sets of words (all verbs of work in the
// infinitive, say) stand for their members, so that a rule is written once for a
// construction of the language and not once for each verb.
package grammar

import (
	"cmp"
	"math/bits"
	"slices"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Class numbers the classes of phrases, in the order given to Compile.
type Class uint8

// Lang numbers the languages, in the order of the sources given to Compile.
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

	sets  []uint64 // of each word, the sets that it is in
	named map[string]uint64
	nodes []node
	// roots are the edges that phrases begin with, of each language: anywhere, and at
	// the start of a sentence.
	roots [2][maxLangs]node
	// after holds, for each word, where the phrases stand that it begins. It is filled
	// as words are met, since most words of a lexicon are not in a message.
	after [2][maxLangs + 1][]atomic.Pointer[node]
}

// edge leads to another node over a word.
type edge struct {
	symbol int32 // a word's number, or that of a set
	to     int32
	// cross says that the word may stand behind a comma, a colon or the like.
	cross bool
}

// node is a state: what may come next, and the patterns that end here.
type node struct {
	words   []edge // by number
	sets    []edge
	all     []edge // over any word
	setMask uint64
	ends    []end
}

type end struct {
	pattern int32
	// last says that the sentence must end here as well.
	last bool
}

// nowhere is the node of words that begin no phrase.
var nowhere node

// The places that phrases begin at.
const (
	anywhere      = 0
	sentenceStart = 1
)

const (
	// longest is how many words a phrase may have.
	longest = 16
	// longestLabel is how many words may stand before the start of a sentence: a
	// number, or a label or an exclamation such as "Next:" and "All right,".
	longestLabel = 3
	maxClasses   = 64
	maxLangs     = 2
)

// Sets are the sets that the word with the number is in, one bit each.
func (g *Grammar) Sets(id int32) uint64 { return g.sets[id] }

// Set is the bit of a set, named "language.set"; 0 if there is none.
func (g *Grammar) Set(name string) uint64 { return g.named[name] }

// Scan appends the phrases of a language in a sentence to hits, in the order of
// their first words. Of the phrases of one class that begin at one word it keeps
// the longest.
func (g *Grammar) Scan(doc *text.Doc, sentence int, lang Lang, hits []Hit) []Hit {
	s := &doc.Sentences[sentence]
	m := matcher{g: g, words: doc.Words[s.First:s.End]}
	starts := true
	for i := range m.words {
		w := &m.words[i]
		starts = i == 0 || starts && m.words[i-1].Flags&text.Digits != 0 || i <= longestLabel && afterGap(w)
		if w.ID == 0 {
			continue
		}
		m.found, m.first = 0, i
		if n := g.begun(anywhere, lang, w.ID); n != &nowhere {
			m.follow(n, i+1)
		}
		if starts {
			if n := g.begun(sentenceStart, lang, w.ID); n != &nowhere {
				m.follow(n, i+1)
			}
		}
		for ; m.found != 0; m.found &= m.found - 1 {
			class := bits.TrailingZeros64(m.found)
			b := &m.reach[class]
			hits = append(hits, Hit{Class(class), b.pattern, int32(sentence), int32(s.First + i), int32(s.First + b.end)})
		}
	}
	return hits
}

// begun is the node behind the first word of phrases: all that the word leads to
// as one.
func (g *Grammar) begun(place int, lang Lang, id int32) *node {
	known := &g.after[place][lang][id]
	if n := known.Load(); n != nil {
		return n
	}
	n := g.join(place, lang, id)
	known.Store(n)
	return n
}

// join merges the nodes that a word leads to from the roots.
func (g *Grammar) join(place int, lang Lang, id int32) *node {
	var to []int32
	for l := range g.roots[place] {
		if lang != Any && Lang(l) != lang {
			continue
		}
		root := &g.roots[place][l]
		for _, e := range find(root.words, id) {
			to = append(to, e.to)
		}
		for _, e := range root.sets {
			if g.sets[id]>>uint(e.symbol)&1 != 0 {
				to = append(to, e.to)
			}
		}
	}
	switch len(to) {
	case 0:
		return &nowhere
	case 1:
		return &g.nodes[to[0]]
	}
	all := &node{}
	for _, t := range to {
		n := &g.nodes[t]
		all.words = append(all.words, n.words...)
		all.sets = append(all.sets, n.sets...)
		all.all = append(all.all, n.all...)
		all.ends = append(all.ends, n.ends...)
		all.setMask |= n.setMask
	}
	for _, edges := range [][]edge{all.words, all.sets} {
		slices.SortStableFunc(edges, func(a, b edge) int { return cmp.Compare(a.symbol, b.symbol) })
	}
	return all
}

// matcher follows the patterns over the words of one sentence.
type matcher struct {
	g     *Grammar
	words []text.Word
	first int
	found uint64 // the classes with a phrase that begins at first
	reach [maxClasses]best
}

type best struct {
	end     int
	pattern int32
}

// follow records what ends at the node and goes on with the word at i.
func (m *matcher) follow(n *node, i int) {
	for _, e := range n.ends {
		if !e.last || i == len(m.words) {
			m.record(e.pattern, i)
		}
	}
	if i == len(m.words) || i-m.first >= longest {
		return
	}
	w := &m.words[i]
	if w.ID != 0 {
		gap := afterGap(w)
		for _, e := range find(n.words, w.ID) {
			if !gap || e.cross {
				m.follow(&m.g.nodes[e.to], i+1)
			}
		}
		if sets := m.g.sets[w.ID] & n.setMask; sets != 0 {
			for _, e := range n.sets {
				if sets>>uint(e.symbol)&1 != 0 && (!gap || e.cross) {
					m.follow(&m.g.nodes[e.to], i+1)
				}
			}
		}
	}
	for _, e := range n.all {
		m.follow(&m.g.nodes[e.to], i+1)
	}
}

func (m *matcher) record(pattern int32, end int) {
	class := m.g.Patterns[pattern].Class
	if b := &m.reach[class]; m.found>>class&1 == 0 || end > b.end {
		*b = best{end, pattern}
	}
	m.found |= 1 << class
}

// afterGap says whether a comma, a colon or the like stands before the word; a
// line break alone is none.
func afterGap(w *text.Word) bool {
	return w.Flags&(text.AfterGap|text.AfterLine) == text.AfterGap
}

// find are the edges of the symbol.
func find(edges []edge, symbol int32) []edge {
	from, to := 0, len(edges)
	for from < to {
		if middle := int(uint(from+to) >> 1); edges[middle].symbol < symbol {
			from = middle + 1
		} else {
			to = middle
		}
	}
	for to < len(edges) && edges[to].symbol == symbol {
		to++
	}
	return edges[from:to]
}
