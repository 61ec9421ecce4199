package reflect

import (
	"slices"
	"strconv"
)

// facts are the facts of an observation.
type facts struct {
	names map[string]bool
	// numbers are the values with the stems of their neighbours.
	numbers map[string]map[string]bool
	// stems counts the lines that contain a word.
	stems map[string]int
	// content are the words that may be facts.
	content map[string]bool
	// counts are the numbers of items, lines and names.
	counts map[string]bool
	// absent are the stems of the neighbours of denials.
	absent map[string]bool
	// denies reports whether the observation is that nothing was found.
	denies bool
	// derived are sums and differences of two of the first numbers.
	derived map[string]bool
	tokens  int
}

func factsOf(tokens []token) *facts {
	f := &facts{
		names: map[string]bool{}, numbers: map[string]map[string]bool{}, stems: map[string]int{},
		content: map[string]bool{}, counts: map[string]bool{}, absent: map[string]bool{}, derived: map[string]bool{}, tokens: len(tokens),
	}
	last := map[string]int{} // the last line of each stem
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
	if t.class == denial {
		f.deny(t, around(tokens, i))
	}
	if t.class == content {
		f.content[t.stem] = true
		if t.proper {
			f.names[t.text] = true
		}
	}
}

// deny adds a denial. "No match" and "missing" deny everything that was searched for; "no
// tests" and "not run" only deny their neighbours.
func (f *facts) deny(by token, b *neighbours) {
	for _, w := range b.all() {
		f.absent[w.stem] = true
	}
	if lacks[by.text] || len(b.all()) == 0 || outcomes[b.first().stem] {
		f.denies = true
	}
}

// operands is the number of values from which sums are derived.
const operands = 12

// derive adds the sums and differences of the first numbers. Small results are left out,
// because any two numbers have some.
func (f *facts) derive(tokens []token) {
	var first []int
	for _, t := range tokens {
		if t.kind != number {
			continue
		}
		n, err := strconv.Atoi(t.text)
		if err != nil || slices.Contains(first, n) { // a fraction, or larger than an int
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

// count adds the numbers of listed things.
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
