package grammar

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Source is the lexicon of a language.
type Source struct {
	// Name is the name of the language, for the names of sets and for errors.
	Name string
	// Text are the sets and patterns: "[class]" opens a class, "<set>: words"
	// declares a set, "#" begins a comment, another line is a pattern.
	Text string
	// Sets are sets that are made elsewhere, verb forms for instance.
	Sets map[string][]string
}

// Classes and sets are bits of a number.
const (
	maxClasses = 64
	maxSets    = 64
)

// Compile builds the grammar of some lexicons whose phrases belong to the
// classes named, at most 64. The languages are numbered in the order of the
// sources. An error names the language and the line.
func Compile(classes []string, sources ...Source) (*Grammar, error) {
	if len(classes) > maxClasses {
		return nil, fmt.Errorf("%d classes are more than %d", len(classes), maxClasses)
	}
	c := compiler{
		g:       &Grammar{Words: &text.Vocabulary{}, named: map[string]uint64{}, sets: []uint64{0}},
		classes: classes,
	}
	for lang, s := range sources {
		if err := c.source(Lang(lang), s); err != nil {
			return nil, fmt.Errorf("lexicon %s%w", s.Name, err)
		}
	}
	c.index()
	return c.g, nil
}

type compiler struct {
	g       *Grammar
	classes []string
	name    string // of the language
	lang    Lang
	open    []term // of the sequences that are being read
	block   []term // memory for the sequences that were read
}

// retain returns a copy of the terms in a larger block, which takes less time than one allocation each.
func (c *compiler) retain(list []term) []term {
	if len(list) > cap(c.block)-len(c.block) {
		c.block = make([]term, 0, max(1024, len(list)))
	}
	from := len(c.block)
	c.block = append(c.block, list...)
	return c.block[from:len(c.block):len(c.block)]
}

func (c *compiler) source(lang Lang, s Source) error {
	c.name, c.lang = s.Name, lang
	for _, name := range slices.Sorted(maps.Keys(s.Sets)) {
		if err := c.declare(name, slices.Values(s.Sets[name])); err != nil {
			return fmt.Errorf(", set <%s>: %w", name, err)
		}
	}
	class, number := -1, 0
	for line := range strings.Lines(s.Text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.line(&class, line); err != nil {
			return fmt.Errorf(", line %d: %w", number, err)
		}
	}
	return nil
}

func (c *compiler) line(class *int, line string) error {
	if name, words, ok := strings.Cut(line, ">:"); ok && line[0] == '<' {
		return c.declare(name[1:], strings.FieldsSeq(words))
	}
	if line[0] == '[' && strings.HasSuffix(line, "]") && !strings.ContainsAny(line[1:], "[ |") {
		*class = slices.Index(c.classes, line[1:len(line)-1])
		if *class < 0 {
			return fmt.Errorf("no class is called %s", line)
		}
		return nil
	}
	if *class < 0 {
		return fmt.Errorf("a pattern stands before the first class; put it behind one")
	}
	t, err := c.parse(line)
	c.g.Patterns = append(c.g.Patterns, Pattern{Class(*class), c.lang, line})
	c.g.terms = append(c.g.terms, t)
	return err
}

// declare adds words to a set of the language.
func (c *compiler) declare(name string, words func(func(string) bool)) error {
	name = c.name + "." + name
	bit, ok := c.g.named[name]
	if !ok {
		if len(c.g.named) == maxSets {
			return fmt.Errorf("there are more than %d sets", maxSets)
		}
		bit = 1 << len(c.g.named)
		c.g.named[name] = bit
	}
	for w := range words {
		id, err := c.word(w)
		if err != nil {
			return err
		}
		c.g.sets[id] |= bit
	}
	return nil
}

// word returns the number of a word, a new one if it has none.
func (c *compiler) word(w string) (int32, error) {
	if folded := text.Fold(w); folded != w {
		return 0, fmt.Errorf("%q is not folded, so that no text contains it: write %q", w, folded)
	}
	id := c.g.Words.Add(w)
	for int(id) >= len(c.g.sets) {
		c.g.sets = append(c.g.sets, 0)
	}
	return id, nil
}

// index lists for each word the patterns that may begin with it, by class.
func (c *compiler) index() {
	g := c.g
	var members [maxSets][]int32
	for id, sets := range g.sets {
		for ; sets != 0; sets &= sets - 1 {
			n := bits.TrailingZeros64(sets)
			members[n] = append(members[n], int32(id))
		}
	}
	g.begins = make([][]int32, len(g.sets))
	for _, k := range g.byClass() {
		first := g.terms[k].outlook[0]
		for sets := first.sets; sets != 0; sets &= sets - 1 {
			first.words = append(first.words, members[bits.TrailingZeros64(sets)]...)
		}
		for _, id := range first.words {
			if at := g.begins[id]; len(at) == 0 || at[len(at)-1] != k {
				g.begins[id] = append(at, k)
			}
		}
	}
}

// byClass returns the numbers of the patterns in the order of their classes.
func (g *Grammar) byClass() []int32 {
	order := make([]int32, len(g.Patterns))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortStableFunc(order, func(a, b int32) int { return cmp.Compare(g.Patterns[a].Class, g.Patterns[b].Class) })
	return order
}
