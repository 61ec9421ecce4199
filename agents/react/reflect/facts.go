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
	// denies says that the observation is that there is nothing of what was looked
	// for, whatever that is.
	denies bool
	// derived are sums and differences of two of the first numbers.
	derived map[string]bool
	tokens  int
}

// read gathers the facts of an observation.
func read(tokens []token) *facts {
	f := &facts{
		names: map[string]bool{}, numbers: map[string]map[string]bool{}, stems: map[string]int{},
		content: map[string]bool{}, counts: map[string]bool{}, absent: map[string]bool{}, derived: map[string]bool{}, tokens: len(tokens),
	}
	last := map[string]int{} // the line in which a stem was seen last
	for i, t := range tokens {
		switch t.kind {
		case name:
			f.names[t.text] = true
		case number:
			f.number(tokens, i)
		case word:
			f.word(tokens, i, last)
		}
	}
	f.count(tokens)
	f.derive(tokens)
	return f
}

func (f *facts) number(tokens []token, i int) {
	b := around(tokens, i)
	value := tokens[i].text
	for _, v := range append(rounded(value), value) {
		if f.numbers[v] == nil {
			f.numbers[v] = map[string]bool{}
		}
		for _, w := range b.all() {
			f.numbers[v][w.stem] = true
		}
	}
	if value == "0" {
		f.deny(tokens[i], b)
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
		f.deny(t, around(tokens, i))
	}
}

// deny takes note of what is said not to be there. "No match" and "missing" say it
// of whatever was looked for; "no tests" and "not run" of that only.
func (f *facts) deny(by token, b *beside) {
	for _, w := range b.all() {
		f.absent[w.stem] = true
	}
	if lacks[by.text] || len(b.all()) == 0 || outcomes[b.first().stem] {
		f.denies = true
	}
}

// operands is how many numbers of an observation sums are made of.
const operands = 12

// derive finds what the first numbers come to: of 87 with 61 taken away, 26 are
// left. Small results are left out, as any two numbers have one.
func (f *facts) derive(tokens []token) {
	var first []int
	for _, t := range tokens {
		if t.kind != number {
			continue
		}
		n, err := strconv.Atoi(t.text)
		if err != nil || slices.Contains(first, n) { // "2.5", and what is larger than an int
			continue
		}
		if first = append(first, n); len(first) == operands {
			break
		}
	}
	for i, a := range first {
		for _, b := range first[:i] {
			for _, n := range []int{a + b, a - b, b - a} {
				if n >= 10 {
					f.derived[strconv.Itoa(n)] = true
				}
			}
		}
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
