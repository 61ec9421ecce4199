// Package intrusion estimates the probability that a text asks about, or infers, the private situation of the
// person whom it addresses, by a linear model over its words. It finds roundabout wording that a lexicon does not
// list, and explains each estimate by the words with the largest weights.
package intrusion

import (
	_ "embed"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/textfold"
)

//go:embed concepts.txt
var conceptFile string

// concepts maps words to the names of concepts.
var concepts = sync.OnceValue(func() *textfold.PhraseSet[string] {
	set, err := loadConcepts()
	if err != nil {
		panic(err) // the file is part of the program, and a test loads it
	}
	return set
})

func loadConcepts() (*textfold.PhraseSet[string], error) {
	set := new(textfold.PhraseSet[string])
	for list, line := range textfold.LexiconLines(conceptFile) {
		if err := set.Add(line, list); err != nil {
			return nil, fmt.Errorf("concept %s: %w", list, err)
		}
	}
	return set, nil
}

// feature is a property of a text.
type feature struct {
	name  string
	value float64
	// start and end delimit the place in the text that has it; both are 0 for the whole text.
	start, end int
}

// public are the concepts of works and of work; the others are of private life.
var public = textfold.WordSet("story trait taste job conduct telling opinion")

// Words that address the candidate, that refer to others, and that introduce a question for an opinion.
var (
	second   = textfold.WordSet("tu te t toi ton ta tes vous votre vos tien tienne tiens tiennes you your yours yourself")
	third    = textfold.WordSet("il elle ils elles lui leur leurs son sa ses he she they him her them his hers their its")
	opinions = textfold.WordSet("selon d apres avis pour a do in")
)

// word is a word of a sentence.
type word struct {
	text       string
	start, end int
	capital    bool
}

// sentence is a sentence of a text.
type sentence struct {
	words    []word
	question bool
	// addresses is true if it has a word for the candidate, other than in a question for an opinion, and
	// names if it has a capital within.
	addresses, names, third bool
}

// sentencesOf splits a text.
func sentencesOf(text string) []sentence {
	var all []sentence
	var s sentence
	finish := func(gap string) {
		if len(s.words) == 0 {
			return
		}
		s.question = strings.ContainsAny(gap, "?？")
		for i, w := range s.words {
			s.addresses = s.addresses || second[w.text] && (i == 0 || !opinions[s.words[i-1].text])
			s.third = s.third || third[w.text]
			s.names = s.names || i > 0 && w.capital && w.text != "i"
		}
		all, s = append(all, s), sentence{}
	}
	r := textfold.NewReader(text)
	end := 0
	for w, ok := r.Next(); ok; w, ok = r.Next() {
		if strings.ContainsAny(w.Gap, ".!?？…\n") {
			finish(w.Gap)
		}
		first, _ := utf8.DecodeRuneInString(text[w.Start:])
		s.words = append(s.words, word{string(w.Text), w.Start, w.End, unicode.IsUpper(first)})
		end = w.End
	}
	finish(text[end:])
	return all
}

// The lengths of the beginnings of words that stand for their inflections.
const (
	stemLetters = 5
	minLetters  = 2
)

// reader collects the features of a text.
type reader struct {
	values map[string]*feature
	list   []*feature
}

func (r *reader) add(name string, value float64, start, end int) {
	if f := r.values[name]; f != nil {
		f.value = max(f.value, value)
		return
	}
	f := &feature{name, value, start, end}
	r.values[name] = f
	r.list = append(r.list, f)
}

// features returns the features of a text, sorted by name. The values of words are scaled so that long texts do
// not weigh more than short ones.
func features(text string) []feature {
	r := reader{values: map[string]*feature{}}
	sentences := sentencesOf(text)
	n := 0
	for i, s := range sentences {
		r.sentence(s, i == len(sentences)-1)
		n += len(s.words)
	}
	scale := 1 / math.Sqrt(float64(max(n, 6)))
	all := make([]feature, 0, len(r.list))
	for _, f := range r.list {
		if !strings.HasPrefix(f.name, "@") {
			f.value *= 3 * scale
		}
		all = append(all, *f)
	}
	slices.SortFunc(all, func(a, b feature) int { return strings.Compare(a.name, b.name) })
	return all
}

// sentence adds the features of one sentence.
func (r *reader) sentence(s sentence, last bool) {
	r.form(s, last)
	scope := "-"
	if s.addresses {
		scope = "+"
	}
	for i, w := range s.words {
		if i > 0 && w.capital && w.text != "i" {
			continue // a name
		}
		if utf8.RuneCountInString(w.text) >= minLetters {
			r.add(w.text, 1, w.start, w.end)
			r.add(scope+stem(w.text), 1, w.start, w.end)
		}
	}
	r.concepts(s, scope)
}

func stem(w string) string {
	if len(w) <= stemLetters {
		return w
	}
	return w[:stemLetters] + "*"
}

// form adds who is addressed, and how.
func (r *reader) form(s sentence, last bool) {
	kind := "@statement"
	if s.question {
		kind = "@question"
	}
	if s.addresses {
		kind += " to you"
	}
	r.add(kind, 0.5, 0, 0)
	if s.names {
		kind += ", names"
		r.add(kind, 0.5, 0, 0)
	}
	if s.third {
		r.add(kind+", third person", 0.5, 0, 0)
	}
	if last {
		r.add("@last "+kind, 0.5, 0, 0)
	}
}

// concepts adds the concepts of a sentence, how many of them are private, and how many public.
func (r *reader) concepts(s sentence, scope string) {
	found := map[string]word{}
	set := concepts()
	for i := range s.words {
		rest := func(yield func(string) bool) {
			for _, w := range s.words[i:] {
				if !yield(w.text) {
					return
				}
			}
		}
		for n, name := range set.Prefixes(rest) {
			w := s.words[i]
			w.end = s.words[i+n-1].end
			if i > 0 && w.capital {
				continue
			}
			if _, ok := found[name]; !ok {
				found[name] = w
			}
		}
	}
	private, others := 0.0, 0.0
	for name, w := range found {
		r.add("@"+scope+name, 0.7, w.start, w.end)
		if public[name] {
			others++
		} else {
			private++
		}
	}
	r.add("@"+scope+"private", math.Log1p(private), 0, 0)
	r.add("@"+scope+"public", math.Log1p(others), 0, 0)
	r.add("@"+scope+"share", (private-others)/(private+others+1), 0, 0)
}
