package grammar

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// Compile builds the grammar of some lexicons whose phrases belong to the
// classes named. The languages are numbered in the order of the sources. An
// error names the language and the line.
func Compile(classes []string, sources ...Source) (*Grammar, error) {
	if len(classes) > maxClasses {
		return nil, fmt.Errorf("%d classes are more than %d", len(classes), maxClasses)
	}
	if len(sources) > maxLangs {
		return nil, fmt.Errorf("%d languages are more than %d", len(sources), maxLangs)
	}
	c := compiler{
		g:     &Grammar{Words: &text.Vocabulary{}, named: map[string]uint64{}, sets: []uint64{0}},
		nodes: 2 * maxLangs,
	}
	for lang, s := range sources {
		if err := c.source(classes, Lang(lang), s); err != nil {
			return nil, err
		}
	}
	c.layOut()
	return c.g, nil
}

// compiler builds the nodes of a grammar. A pattern has its own nodes, except for
// those that all of a language begin at: the first ones, anywhere before
// sentenceStart for each language.
type compiler struct {
	g     *Grammar
	name  string // of the language
	lang  Lang
	nodes int32
	edges []link
	ends  []finish
}

// link is an edge of a node.
type link struct {
	from int32
	kind int32
	edge
}

// The kinds of edge.
const (
	wordEdge int32 = iota
	setEdge
	anyEdge
)

// finish is a pattern that ends at a node.
type finish struct {
	node int32
	end
}

// state is a node that the terms so far lead to; cross says that a gap may follow.
type state struct {
	node  int32
	cross bool
}

func (c *compiler) source(classes []string, lang Lang, s Source) error {
	c.name, c.lang = s.Name, lang
	for _, name := range slices.Sorted(maps.Keys(s.Sets)) {
		if err := c.set(name, s.Sets[name]); err != nil {
			return fmt.Errorf("lexicon %s: %w", s.Name, err)
		}
	}
	class := -1
	number := 0
	for line := range strings.Lines(s.Text) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if err := c.line(classes, &class, lang, line); err != nil {
			return fmt.Errorf("lexicon %s, line %d: %w", s.Name, number, err)
		}
	}
	return nil
}

func (c *compiler) line(classes []string, class *int, lang Lang, line string) error {
	if name, words, ok := strings.Cut(line, ">:"); ok && line[0] == '<' {
		return c.set(name[1:], strings.Fields(words))
	}
	if line[0] == '[' && strings.HasSuffix(line, "]") && !strings.ContainsAny(line[1:], "[ |") {
		*class = slices.Index(classes, line[1:len(line)-1])
		if *class < 0 {
			return fmt.Errorf("no class is called %s", line)
		}
		return nil
	}
	if *class < 0 {
		return fmt.Errorf("a pattern stands before the first class")
	}
	terms, err := parsePattern(line)
	if err != nil {
		return err
	}
	c.g.Patterns = append(c.g.Patterns, Pattern{Class(*class), lang, line})
	return c.pattern(terms, int32(len(c.g.Patterns)-1))
}

// set declares a set of the language, or adds to it.
func (c *compiler) set(name string, words []string) error {
	name = c.name + "." + name
	bit, ok := c.g.named[name]
	if !ok {
		if len(c.g.named) == 64 {
			return fmt.Errorf("there are more than 64 sets")
		}
		bit = 1 << len(c.g.named)
		c.g.named[name] = bit
	}
	for _, w := range words {
		c.g.sets[c.word(w)] |= bit
	}
	return nil
}

// word is the number of a word, a new one if it has none.
func (c *compiler) word(w string) int32 {
	id := c.g.Words.Add(w)
	for int(id) >= len(c.g.sets) {
		c.g.sets = append(c.g.sets, 0)
	}
	return id
}

func (c *compiler) node() int32 {
	c.nodes++
	return c.nodes - 1
}

func (c *compiler) pattern(terms []term, number int32) error {
	root := 2*int32(c.lang) + anywhere
	if terms[0].kind == startTerm {
		root = 2*int32(c.lang) + sentenceStart
		terms = terms[1:]
	}
	from := []state{{node: root}}
	last := len(terms) > 0 && terms[len(terms)-1].kind == lastTerm
	if last {
		terms = terms[:len(terms)-1]
	}
	to, err := c.sequence(from, terms)
	if err != nil {
		return err
	}
	for _, s := range to {
		if s.node == root {
			return fmt.Errorf("the pattern matches no word at all")
		}
		c.ends = append(c.ends, finish{s.node, end{number, last}})
	}
	return nil
}

// sequence leads from some states over the terms, and returns where to.
func (c *compiler) sequence(from []state, terms []term) ([]state, error) {
	for i := range terms {
		to, err := c.term(from, &terms[i], -1)
		if err != nil {
			return nil, err
		}
		from = to
	}
	return from, nil
}

// sequenceTo is sequence with the last step leading to the target where it can.
func (c *compiler) sequenceTo(from []state, terms []term, target int32) ([]state, error) {
	from, err := c.sequence(from, terms[:len(terms)-1])
	if err != nil {
		return nil, err
	}
	return c.term(from, &terms[len(terms)-1], target)
}

// term leads over one term, to the target if that is a node.
func (c *compiler) term(from []state, t *term, target int32) ([]state, error) {
	all := from
	if t.min > 0 {
		all = nil
	}
	for range t.max {
		to, err := c.once(from, t, target)
		if err != nil {
			return nil, err
		}
		all = append(slices.Clip(all), to...)
		from, target = to, -1
	}
	slices.SortFunc(all, func(a, b state) int { return cmp.Compare(a.node, b.node) })
	return slices.Compact(all), nil
}

func (c *compiler) once(from []state, t *term, target int32) ([]state, error) {
	switch t.kind {
	case wordTerm:
		return c.step(from, wordEdge, c.word(t.word), target), nil
	case setTerm:
		bit := c.g.named[c.name+"."+t.word]
		if bit == 0 {
			return nil, fmt.Errorf("no set is called <%s>", t.word)
		}
		return c.step(from, setEdge, int32(bits.TrailingZeros64(bit)), target), nil
	case anyTerm:
		return c.step(from, anyEdge, 0, target), nil
	case gapTerm:
		return c.gap(from), nil
	case commaTerm:
		return crossing(from), nil
	case choiceTerm:
		return c.choice(from, t, target)
	default:
		return nil, fmt.Errorf("^ and $ stand at the ends of a pattern only")
	}
}

func (c *compiler) step(from []state, kind, symbol, target int32) []state {
	if target < 0 {
		target = c.node()
	}
	for _, s := range from {
		c.edges = append(c.edges, link{s.node, kind, edge{symbol, target, s.cross}})
	}
	return []state{{node: target}}
}

// gap leads over up to three words.
func (c *compiler) gap(from []state) []state {
	all := crossing(from)
	for range 3 {
		from = c.step(from, anyEdge, 0, -1)
		all = append(all, crossing(from)...)
	}
	return all
}

func crossing(from []state) []state {
	var all []state
	for _, s := range from {
		all = append(all, state{s.node, true})
	}
	return all
}

func (c *compiler) choice(from []state, t *term, target int32) ([]state, error) {
	if target < 0 {
		target = c.node()
	}
	all := []state{{node: target}}
	for _, terms := range t.terms {
		to, err := c.sequenceTo(from, terms, target)
		if err != nil {
			return nil, err
		}
		all = append(all, to...)
	}
	return all, nil
}

// layOut puts the edges of each node in order and lays out the nodes.
func (c *compiler) layOut() {
	g := c.g
	slices.SortFunc(c.edges, func(a, b link) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.kind, b.kind), cmp.Compare(a.symbol, b.symbol), cmp.Compare(a.to, b.to))
	})
	slices.SortStableFunc(c.ends, func(a, b finish) int { return cmp.Compare(a.node, b.node) })
	g.nodes = make([]node, c.nodes)
	edges := make([]edge, len(c.edges))
	ends := make([]end, len(c.ends))
	for i, l := range c.edges {
		edges[i] = l.edge
		n := &g.nodes[l.from]
		list := [...]*[]edge{&n.words, &n.sets, &n.all}[l.kind]
		if l.kind == setEdge {
			n.setMask |= 1 << l.symbol
		}
		*list = edges[i-len(*list) : i+1 : i+1]
	}
	for i, f := range c.ends {
		ends[i] = f.end
		n := &g.nodes[f.node]
		n.ends = ends[i-len(n.ends) : i+1 : i+1]
	}
	for place := range g.roots {
		for lang := range g.roots[place] {
			g.roots[place][lang] = g.nodes[2*lang+place]
		}
		for lang := range g.after[place] {
			g.after[place][lang] = make([]atomic.Pointer[node], g.Words.Len()+1)
		}
	}
}
