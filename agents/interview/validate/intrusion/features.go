// Package intrusion estimates the probability that a text asks about, or infers, the private situation of the
// person whom it addresses, by a linear model over its words, its pairs of words and the letters in its words. It finds
// roundabout wording that a lexicon does not list.
package intrusion

import (
	"math"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// columns is the number of weights. Features share a weight if their names have the same hash.
const columns = 1 << 18

// group is a kind of features. The values of a group are scaled by their number, so that long texts do not weigh more
// than short ones.
type group uint8

const (
	wordGroup   group = iota // words, pairs of words, and their beginnings with whether their sentence addresses the reader
	letterGroup              // sequences of letters within words
	formGroup                // who is addressed, and how
	groups
)

// The value of a feature is the share of its group divided by the root of the number of features in it, of which short
// texts have at least fewest.
var (
	share  = [groups]float64{2, 2, 0.5}
	fewest = [groups]float64{16, 30, 1}
)

// feature is a property of a text.
type feature struct {
	column uint32
	group  group
	word   int32 // the word that has it, or noWord
}

const noWord = -1

// hash is the FNV-1a hash of a name.
type hash uint32

const emptyHash hash = 2166136261

func (h hash) add(s string) hash {
	for i := range len(s) {
		h = h.addByte(s[i])
	}
	return h
}

func (h hash) addByte(b byte) hash { return (h ^ hash(b)) * 16777619 }

// column returns the column of a feature. The upper bits of the hash are mixed into the lower ones.
func (h hash) column() uint32 { return uint32(h^h>>15) % columns }

// Words that address the candidate, that refer to others, and that introduce a question for an opinion.
var (
	second   = textfold.WordSet("tu te t toi ton ta tes vous votre vos tien tienne tiens tiennes you your yours yourself")
	third    = textfold.WordSet("il elle ils elles lui leur leurs son sa ses he she they him her them his hers their its")
	opinions = textfold.WordSet("selon d apres avis pour a do in")
)

// word is a word of a text, with its place.
type word struct {
	text       string
	start, end int
}

// reader collects the features of a text.
type reader struct {
	words    []word
	features []feature
	counts   [groups]float64

	// The sentence that is being read.
	first                    int // its first word
	addresses, names, others bool
}

// read returns the features of a text.
func read(text string) *reader {
	r := &reader{words: make([]word, 0, len(text)/4), features: make([]feature, 0, 5*len(text))}
	var last hash // of the form of the last sentence
	words := textfold.NewReader(text)
	end := 0
	for w, ok := words.Next(); ok; w, ok = words.Next() {
		if strings.ContainsAny(w.Gap, ".!?？…\n") && len(r.words) > r.first {
			last = r.finish(w.Gap)
		}
		initial, _ := utf8.DecodeRuneInString(text[w.Start:])
		r.see(word{string(w.Text), w.Start, w.End}, unicode.IsUpper(initial))
		end = w.End
	}
	if len(r.words) > r.first {
		last = r.finish(text[end:])
	}
	if len(r.words) > 0 {
		r.add(formGroup, last.add(" at the end"), noWord)
	}
	return r
}

func (r *reader) add(g group, h hash, word int) {
	r.features = append(r.features, feature{h.column(), g, int32(word)}) //nolint:gosec // texts are short
	r.counts[g]++
}

// see reads the next word of the sentence.
func (r *reader) see(w word, capital bool) {
	i := len(r.words)
	r.words = append(r.words, w)
	r.addresses = r.addresses || second[w.text] && (i == r.first || !opinions[r.words[i-1].text])
	r.others = r.others || third[w.text]
	r.names = r.names || capital && i > r.first && w.text != "i"

	r.add(wordGroup, emptyHash.add(w.text), i)
	if i > 0 {
		r.add(wordGroup, emptyHash.add(r.words[i-1].text).addByte(' ').add(w.text), i)
	}
	r.letters(w.text, i)
}

// The lengths of sequences of letters.
const (
	minLetters = 3
	maxLetters = 5
)

// letters adds the sequences of letters in a word, which begins and ends with a mark.
func (r *reader) letters(text string, i int) {
	at := func(k int) byte {
		if k < 0 || k == len(text) {
			return '_'
		}
		return text[k]
	}
	for start := -1; start+minLetters <= len(text)+1; start++ {
		h := emptyHash.addByte('#')
		for k := start; k < min(start+maxLetters, len(text)+1); k++ {
			h = h.addByte(at(k))
			if k-start+1 >= minLetters {
				r.add(letterGroup, h, i)
			}
		}
	}
}

// stemLetters is the length of the beginning of a word that stands for its inflections.
const stemLetters = 5

// finish adds the features of the sentence that ends before a gap, and returns the name of its form.
func (r *reader) finish(gap string) hash {
	scope := byte('-')
	if r.addresses {
		scope = '+'
	}
	for i, w := range r.words[r.first:] {
		r.add(wordGroup, emptyHash.addByte(scope).add(w.text[:min(len(w.text), stemLetters)]), r.first+i)
	}
	form := emptyHash.add("@statement")
	if strings.ContainsAny(gap, "?？") {
		form = emptyHash.add("@question")
	}
	if r.addresses {
		form = form.add(" to you")
	}
	r.add(formGroup, form, noWord)
	if r.names {
		form = form.add(" with names")
		r.add(formGroup, form, noWord)
	}
	if r.others {
		r.add(formGroup, form.add(" about others"), noWord)
	}
	r.first, r.addresses, r.names, r.others = len(r.words), false, false, false
	return form
}

// value returns the value of each feature of a group.
func (r *reader) value(g group) float64 {
	if g == formGroup {
		return share[g]
	}
	return share[g] / math.Sqrt(max(r.counts[g], fewest[g]))
}
