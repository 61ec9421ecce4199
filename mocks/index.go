package mocks

import (
	"slices"
	"sync"

	ahocorasick "github.com/petar-dambovaliev/aho-corasick"
)

// fewTexts is the number of substrings up to which searching for each of them is
// faster than one pass of the automaton: 60 ns against 1.9 µs in a text of 200
// bytes, 5.6 µs against 190 µs in one of 20 KB.
//
// The automaton is the sparse one of petar-dambovaliev/aho-corasick: 9 MB and
// 60 ms for 10,000 substrings. Its dense one takes 30 MB and 570 ms for a search
// twice as fast, and BobuSumisu/aho-corasick 190 MB.
const fewTexts = 32

// key is a condition on equality under which rules are filed.
type key struct {
	kind  keyKind
	value string
}

type keyKind uint8

const (
	userKey keyKind = iota
	stateKey
	purposeKey
	modelKey
)

// index finds the rules that may fit a request without trying all of them.
// Each rule is filed once, under its most selective condition: equality of the
// last user text, a substring of it, its state, purpose or model. Only rules
// with none of these are tried for each request.
type index struct {
	keys map[key][]int
	// texts are the distinct substrings, each with its rules, ascending.
	texts   []string
	byText  [][]int
	rest    []int
	build   sync.Once
	find    ahocorasick.AhoCorasick
	scratch sync.Pool // of *candidates
}

func newIndex(lines []line) *index {
	x := &index{keys: map[key][]int{}}
	x.scratch.New = func() any { return &candidates{seen: make([]bool, len(x.texts))} }
	texts := map[string]int{}
	for i, l := range lines {
		if text, ok := l.userText(); ok {
			n, known := texts[text]
			if !known {
				n = len(x.texts)
				texts[text] = n
				x.texts, x.byText = append(x.texts, text), append(x.byText, nil)
			}
			x.byText[n] = append(x.byText[n], i)
		} else if k, ok := l.key(); ok {
			x.keys[k] = append(x.keys[k], i)
		} else {
			x.rest = append(x.rest, i)
		}
	}
	return x
}

// userText returns the substring that the last user text must contain.
func (l *line) userText() (string, bool) {
	if l.When == nil || l.When.User == nil {
		return "", false
	}
	return l.When.User.Contains, l.When.User.Contains != ""
}

func (l *line) key() (key, bool) {
	w := l.When
	switch {
	case w != nil && w.User != nil && w.User.Equals != "":
		return key{userKey, w.User.Equals}, true
	case l.In != "":
		return key{stateKey, l.In}, true
	case w != nil && w.Purpose != "":
		return key{purposeKey, w.Purpose}, true
	case w != nil && w.Model != "":
		return key{modelKey, w.Model}, true
	}
	return key{}, false
}

// candidates is the reusable memory of one look-up.
type candidates struct {
	rules []int
	seen  []bool // by number of text
	found []int  // the texts to forget in seen
}

// lookUp begins with the rules whose substring occurs in the last user text. It
// needs no lock; engines call it outside of theirs. Give the result to done.
func (x *index) lookUp(v *view) *candidates {
	c := x.scratch.Get().(*candidates)
	c.rules = c.rules[:0]
	if len(x.texts) > fewTexts {
		x.search(v.user, c)
	}
	return c
}

func (x *index) search(text string, c *candidates) {
	x.build.Do(func() {
		builder := ahocorasick.NewAhoCorasickBuilder(ahocorasick.Opts{MatchKind: ahocorasick.StandardMatch})
		x.find = builder.Build(x.texts)
	})
	matches := x.find.IterOverlapping(text)
	for m := matches.Next(); m != nil; m = matches.Next() {
		if n := m.Pattern(); !c.seen[n] {
			c.seen[n] = true
			c.found = append(c.found, n)
			c.rules = append(c.rules, x.byText[n]...)
		}
	}
	for _, n := range c.found {
		c.seen[n] = false
	}
	c.found = c.found[:0]
}

// order completes the candidates with what depends on the state and sorts them,
// for the first rule that fits wins.
func (x *index) order(v *view, state string, c *candidates) []int {
	if len(x.texts) <= fewTexts {
		for _, rules := range x.byText {
			c.rules = append(c.rules, rules...)
		}
	}
	for _, k := range [...]key{
		{userKey, v.user}, {stateKey, state}, {purposeKey, v.call.Purpose}, {modelKey, v.call.Model},
	} {
		c.rules = append(c.rules, x.keys[k]...)
	}
	c.rules = append(c.rules, x.rest...)
	slices.Sort(c.rules)
	return c.rules
}

func (x *index) done(c *candidates) { x.scratch.Put(c) }
