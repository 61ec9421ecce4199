package reflect

import (
	"slices"
	"strconv"
)

// facts are what an observation shows, so that each can be looked up at once.
type facts struct {
	names map[string]bool
	// numbers are the values with the words beside them, wherever they stand.
	numbers map[string]map[string]bool
	// stems says in how many lines a word stands.
	stems map[string]int
	// content are the words that may be facts.
	content map[string]bool
	// counts are how many items, lines or names there are.
	counts map[string]bool
	// absent are the words of the phrases that deny something.
	absent map[string]bool
	denies bool
	tokens int
}

// read gathers the facts of an observation.
func read(tokens []token) *facts {
	f := &facts{
		names: map[string]bool{}, numbers: map[string]map[string]bool{}, stems: map[string]int{},
		content: map[string]bool{}, counts: map[string]bool{}, absent: map[string]bool{}, tokens: len(tokens),
	}
	last := map[string]int{} // the line in which a stem was seen last
	for i, t := range tokens {
		switch t.kind {
		case name:
			f.names[t.text] = true
			if t.class == content {
				f.content[t.stem] = true
			}
		case number:
			f.number(tokens, i)
		case word:
			f.word(tokens, i, last)
		}
	}
	f.count(tokens)
	return f
}

func (f *facts) number(tokens []token, i int) {
	t := tokens[i]
	beside := f.numbers[t.text]
	if beside == nil {
		beside = map[string]bool{}
		f.numbers[t.text] = beside
	}
	b := around(tokens, i)
	for _, w := range b.all() {
		beside[w.stem] = true
	}
	if t.text == "0" {
		f.deny(b.all())
	}
}

func (f *facts) word(tokens []token, i int, last map[string]int) {
	t := tokens[i]
	if line, ok := last[t.stem]; !ok || line != t.line {
		last[t.stem] = t.line
		f.stems[t.stem]++
	}
	switch t.class {
	case content:
		f.content[t.stem] = true
		if t.proper {
			f.names[t.text] = true
		}
	case denial:
		b := around(tokens, i)
		f.deny(b.all())
	}
}

// deny takes note of what is said not to be there.
func (f *facts) deny(objects []token) {
	f.denies = true
	for _, w := range objects {
		f.absent[w.stem] = true
	}
}

// count finds how many things an observation lists.
func (f *facts) count(tokens []token) {
	var items, lines int
	line := -1
	for _, t := range tokens {
		if t.item {
			items++
		}
		if t.line != line {
			line = t.line
			lines++
		}
	}
	for _, n := range []int{items, lines, lines - 1, len(f.names)} {
		if n >= 2 {
			f.counts[strconv.Itoa(n)] = true
		}
	}
}

func (f *facts) empty() bool { return f.tokens == 0 }

// beside are the telling words next to a token, within its phrase and up to the
// next number.
type beside struct{ before, after []token }

// all are those behind first, then those before.
func (b beside) all() []token { return slices.Concat(b.after, b.before) }

const (
	reach = 6 // tokens that are looked at on either side
	near  = 3 // telling words behind a number
)

// around returns the words next to tokens[i]: three behind, and one before unless
// it belongs to a number of its own.
func around(tokens []token, i int) beside {
	var b beside
	for j := i + 1; j < min(len(tokens), i+1+reach) && len(b.after) < near; j++ {
		if tokens[j].phrase != tokens[i].phrase || tokens[j].kind == number {
			break
		}
		if telling(tokens[j]) {
			b.after = append(b.after, tokens[j])
		}
	}
	for j := i - 1; j >= max(0, i-reach); j-- {
		if tokens[j].phrase != tokens[i].phrase || tokens[j].kind == number {
			break
		}
		if !telling(tokens[j]) {
			continue
		}
		if len(b.after) > 0 && j > 0 && tokens[j-1].kind == number {
			break
		}
		b.before = append(b.before, tokens[j])
		if len(b.before) == 1 {
			break
		}
	}
	return b
}

func telling(t token) bool {
	return t.kind == word && (t.class == content || t.class == generic || t.class == plan)
}
