package textfold

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// PhraseSet is a set of phrases with values, which finds phrases among the words of a text. The
// zero value is an empty set.
//
// A lexicon lists phrases under names, separated by commas; an indented line continues the
// list before it, and "#" begins a comment:
//
//	union: {un ,ce ,}syndicat{,s}, syndiqu*,
//	  member of * union
//
// The words of a phrase are folded as those of the text are. Braces contain alternatives, as in
// a shell, and may be nested. A word that ends in "*" matches every word with that beginning;
// "*" alone matches any one word.
type PhraseSet[T comparable] struct {
	nodes   []node[T]
	edges   map[edge]PhraseState
	longest int
}

// PhraseState identifies the words of one or several phrases that have been read.
type PhraseState int32

// noWords is the state before the first word.
const noWords PhraseState = 0

type edge struct {
	from PhraseState
	word string
}

type node[T comparable] struct {
	stems  map[byte][]stem // by their first letter, 0 for the stem of every word
	values []T
}

// stem is the edge to a state for every word with a beginning.
type stem struct {
	text string
	to   PhraseState
}

// Add adds the phrases of one line of a lexicon.
func (s *PhraseSet[T]) Add(line string, value T) error {
	for _, part := range split(line) {
		texts, err := expand(part)
		if err != nil {
			return err
		}
		for _, text := range texts {
			s.AddWords(strings.Fields(text), value)
		}
	}
	return nil
}

// AddWords adds one phrase; one without words is ignored.
func (s *PhraseSet[T]) AddWords(words []string, value T) {
	if len(words) == 0 {
		return
	}
	if s.edges == nil {
		s.edges, s.nodes = map[edge]PhraseState{}, make([]node[T], 1)
	}
	at := noWords
	for _, w := range words {
		at = s.child(at, w)
	}
	if n := &s.nodes[at]; !slices.Contains(n.values, value) {
		n.values = append(n.values, value)
	}
	s.longest = max(s.longest, len(words))
}

func (s *PhraseSet[T]) child(from PhraseState, word string) PhraseState {
	key := edge{from, word}
	if to, ok := s.edges[key]; ok {
		return to
	}
	to := PhraseState(len(s.nodes)) //nolint:gosec // lexicons have some ten thousand nodes
	s.nodes, s.edges[key] = append(s.nodes, node[T]{}), to
	if text, open := strings.CutSuffix(word, "*"); open {
		n := &s.nodes[from]
		if n.stems == nil {
			n.stems = map[byte][]stem{}
		}
		n.stems[initial(text)] = append(n.stems[initial(text)], stem{text, to})
	}
	return to
}

// initial returns the first byte of a word, 0 for none.
func initial(word string) byte {
	if word == "" {
		return 0
	}
	return word[0]
}

// Longest returns the number of words of the longest phrase.
func (s *PhraseSet[T]) Longest() int { return s.longest }

// Next returns the states after one more word.
func (s *PhraseSet[T]) Next(from PhraseState, word string) iter.Seq[PhraseState] {
	return func(yield func(PhraseState) bool) {
		if len(s.nodes) == 0 {
			return
		}
		if to, ok := s.edges[edge{from, word}]; ok && !yield(to) {
			return
		}
		stems := s.nodes[from].stems
		if stems == nil {
			return
		}
		for _, st := range stems[initial(word)] {
			if strings.HasPrefix(word, st.text) && !yield(st.to) {
				return
			}
		}
		for _, st := range stems[0] {
			if !yield(st.to) {
				return
			}
		}
	}
}

// Values returns the values of the phrases that end at a state.
func (s *PhraseSet[T]) Values(at PhraseState) []T { return s.nodes[at].values }

// Prefixes returns the lengths in words and the values of the phrases at the beginning of words.
func (s *PhraseSet[T]) Prefixes(words iter.Seq[string]) iter.Seq2[int, T] {
	return func(yield func(int, T) bool) {
		states, n := []PhraseState{noWords}, 0
		for w := range words {
			var next []PhraseState
			n++
			for _, at := range states {
				for to := range s.Next(at, w) {
					next = append(next, to)
					for _, v := range s.Values(to) {
						if !yield(n, v) {
							return
						}
					}
				}
			}
			if states = next; len(states) == 0 {
				return
			}
		}
	}
}

// LexiconLines returns the lines of a lexicon with the names of their lists.
func LexiconLines(lexicon string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		name := ""
		for line := range strings.Lines(lexicon) {
			if strings.HasPrefix(strings.TrimSpace(line), "#") {
				continue
			}
			if head, rest, ok := strings.Cut(line, ":"); ok {
				name, line = head, rest
			}
			if line = strings.TrimSpace(line); line != "" && !yield(name, line) {
				return
			}
		}
	}
}

// maxPhrases is the largest number of phrases for one part of a line.
const maxPhrases = 5000

// expand replaces the braces of a text by their alternatives.
func expand(text string) ([]string, error) {
	open := strings.IndexByte(text, '{')
	if open < 0 {
		if strings.Contains(text, "}") {
			return nil, fmt.Errorf("%q: closing brace without an opening one", text)
		}
		return []string{text}, nil
	}
	length := closing(text[open:])
	if length == 0 {
		return nil, fmt.Errorf("%q: opening brace without a closing one", text)
	}
	tails, err := expand(text[open+length:])
	if err != nil {
		return nil, err
	}
	var all []string
	for _, choice := range split(text[open+1 : open+length-1]) {
		heads, err := expand(choice)
		if err != nil {
			return nil, err
		}
		for _, head := range heads {
			for _, tail := range tails {
				all = append(all, text[:open]+head+tail)
			}
		}
	}
	if len(all) > maxPhrases {
		return nil, fmt.Errorf("%q stands for %d phrases; at most %d are allowed", text, len(all), maxPhrases)
	}
	return all, nil
}

// closing returns the length of the braces at the beginning of a text; 0 if they are not closed.
func closing(text string) int {
	depth := 0
	for i, c := range text {
		switch c {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return 0
}

// split splits a text at the commas outside its braces.
func split(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range text {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case c == ',' && depth == 0:
			parts, from = append(parts, text[from:i]), i+1
		}
	}
	return append(parts, text[from:])
}
