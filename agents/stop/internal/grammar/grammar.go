// Package grammar finds phrases in the sentences of a message. A phrase is a
// pattern over folded words in which sets of words (all verbs of work in the
// infinitive, say) stand for their members, so that a rule is written once for a
// construction of the language and not once for each verb.
package grammar

import "github.com/rehearse-dev/rehearse/agents/stop/internal/text"

// Class numbers the classes of phrases, in the order given to Compile.
type Class uint8

// Lang numbers the languages, in the order of the sources given to Compile.
type Lang uint8

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
	edges []edge // of each node: by word first, ascending, then by set, then any
	roots [2][]span
	// rootSets are the sets that a phrase may begin with: anywhere, and at the
	// start of a sentence.
	rootSets [2]uint64
}

type span struct{ from, to int32 }

// edge leads to another node over a word.
type edge struct {
	symbol int32 // a word's number, ^set, or anyWord
	to     int32
	// cross says that the word may stand behind a comma, a colon or the like.
	cross bool
}

const anyWord = -1 << 30

// node is a state: what may come next, and the patterns that end here.
type node struct {
	words, sets, all span // of edges
	setMask          uint64
	ends             []end
}

type end struct {
	pattern int32
	// last says that the sentence must end here as well.
	last bool
}

// The nodes that phrases begin at.
const (
	anywhere      = 0
	sentenceStart = 1
)

// longest is how many words a phrase may have.
const longest = 16

// longestLabel is how many words may stand before the start of a sentence: a
// number, or a label or an exclamation such as "Next:" and "All right,".
const longestLabel = 3

// maxClasses is how many classes a grammar may have.
const maxClasses = 64

// Sets are the sets that the word with the number is in, one bit each.
func (g *Grammar) Sets(id int32) uint64 { return g.sets[id] }

// Set is the bit of a set, named "language.set"; 0 if there is none.
func (g *Grammar) Set(name string) uint64 { return g.named[name] }

// Scan appends the phrases of a sentence to hits, in the order of their first
// words. Of the phrases of one class that begin at one word it keeps the longest.
func (g *Grammar) Scan(doc *text.Doc, sentence int, hits []Hit) []Hit {
	s := doc.Sentences[sentence]
	m := matcher{g: g, words: doc.Words[s.First:s.End]}
	starts := true
	for i := range m.words {
		w := &m.words[i]
		starts = i == 0 || starts && m.words[i-1].Flags&text.Digits != 0 ||
			i <= longestLabel && w.Flags&(text.AfterGap|text.AfterLine) == text.AfterGap
		id := w.ID
		if id == 0 {
			continue
		}
		m.found = 0
		m.start(anywhere, id, i)
		if starts {
			m.start(sentenceStart, id, i)
		}
		for class := Class(0); m.found != 0; class, m.found = class+1, m.found>>1 {
			if m.found&1 != 0 {
				b := m.reach[class]
				hits = append(hits, Hit{class, b.pattern, int32(sentence), int32(s.First + i), int32(s.First + b.end)})
			}
		}
	}
	return hits
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

func (m *matcher) start(root int, id int32, i int) {
	m.first = i
	if sp := m.g.roots[root][id]; sp.to > sp.from {
		for _, e := range m.g.edges[sp.from:sp.to] {
			m.follow(e.to, i+1)
		}
	}
	if sets := m.g.sets[id] & m.g.rootSets[root]; sets != 0 {
		m.viaSets(&m.g.nodes[root], sets, false, i)
	}
}

// follow records what ends at the node and goes on with the word at i.
func (m *matcher) follow(at int32, i int) {
	n := &m.g.nodes[at]
	for _, e := range n.ends {
		if !e.last || i == len(m.words) {
			m.record(e.pattern, i)
		}
	}
	if i == len(m.words) || i-m.first >= longest {
		return
	}
	w := &m.words[i]
	gap := w.Flags&(text.AfterGap|text.AfterLine) == text.AfterGap
	if w.ID != 0 {
		for _, e := range m.g.edges[n.words.from:n.words.to] {
			if e.symbol >= w.ID {
				if e.symbol > w.ID {
					break
				}
				if !gap || e.cross {
					m.follow(e.to, i+1)
				}
			}
		}
		if sets := m.g.sets[w.ID] & n.setMask; sets != 0 {
			m.viaSets(n, sets, gap, i)
		}
	}
	for _, e := range m.g.edges[n.all.from:n.all.to] {
		m.follow(e.to, i+1)
	}
}

func (m *matcher) viaSets(n *node, sets uint64, gap bool, i int) {
	for _, e := range m.g.edges[n.sets.from:n.sets.to] {
		if sets>>uint(^e.symbol)&1 != 0 && (!gap || e.cross) {
			m.follow(e.to, i+1)
		}
	}
}

func (m *matcher) record(pattern int32, end int) {
	class := m.g.Patterns[pattern].Class
	if b := &m.reach[class]; m.found>>class&1 == 0 || end > b.end {
		*b = best{end, pattern}
	}
	m.found |= 1 << class
}
