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

const (
	maxClasses = 64
	maxLangs   = 2
	maxSets    = 64
	maxWords   = 1<<wordBits - 1
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
		g:       &Grammar{Words: &text.Vocabulary{}, named: map[string]uint64{}, traits: []trait{{bit: otherBit}}},
		classes: classes,
		nodes:   roots,
	}
	size := 0
	for _, s := range sources {
		size += len(s.Text)
	}
	c.edges = make([]link, 0, size/4)
	for lang, s := range sources {
		if err := c.source(Lang(lang), s); err != nil {
			return nil, fmt.Errorf("lexicon %s%w", s.Name, err)
		}
	}
	c.layOut()
	c.mark()
	c.foresee()
	c.g.machine.Store(newMachine(c.g, maxStates, maxEdges))
	return c.g, nil
}

// compiler builds the nodes of a grammar. A pattern has its own nodes, except for
// the one that it begins at.
type compiler struct {
	g       *Grammar
	classes []string
	name    string // of the language
	lang    Lang
	nodes   int32 // how many there are
	edges   []link
	ends    []finish
	stands  []stand // of the lists of one pattern
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
	c.g.Patterns = append(c.g.Patterns, Pattern{Class(*class), c.lang, line})
	return c.build(line, int32(len(c.g.Patterns)-1))
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
		c.g.traits[id].sets |= bit
	}
	return nil
}

// set returns the number of a set of the language.
func (c *compiler) set(name string) (int32, bool) {
	bit, ok := c.g.named[c.name+"."+name]
	return int32(bits.TrailingZeros64(bit)), ok
}

// layOut puts the edges of each node side by side, in the order of their kinds.
func (c *compiler) layOut() {
	g := c.g
	g.nodes = make([]node, c.nodes+1)
	for i := range c.edges {
		g.nodes[c.edges[i].from].edges[c.edges[i].kind]++
	}
	for i := range c.ends {
		g.nodes[c.ends[i].node].ends++
	}
	var edges, ends int32
	for i := range g.nodes {
		n := &g.nodes[i]
		for kind := range n.edges {
			edges, n.edges[kind] = edges+n.edges[kind], edges
		}
		ends, n.ends = ends+n.ends, ends
	}
	g.edges = make([]edge, len(c.edges))
	g.ends = make([]end, len(c.ends))
	// Each offset runs to the end of its edges and is set back below.
	for i := range c.edges {
		l := &c.edges[i]
		at := &g.nodes[l.from].edges[l.kind]
		g.edges[*at] = l.edge
		*at++
	}
	for i := range c.ends {
		at := &g.nodes[c.ends[i].node].ends
		g.ends[*at] = c.ends[i].end
		*at++
	}
	edges, ends = 0, 0
	for i := range g.nodes {
		n := &g.nodes[i]
		for kind := range n.edges {
			edges, n.edges[kind] = n.edges[kind], edges
		}
		ends, n.ends = n.ends, ends
	}
	for root := range int32(roots) {
		first, last := g.edgesOf(root, wordEdge)
		slices.SortFunc(g.edges[first:last], func(a, b edge) int { return cmp.Compare(a.symbol, b.symbol) })
	}
}

// mark gives a bit to each word that a pattern names after its first.
func (c *compiler) mark() {
	g, n := c.g, 0
	for i := range c.edges {
		l := &c.edges[i]
		if l.kind == wordEdge && l.from >= roots && g.traits[l.symbol].bit == otherBit {
			g.traits[l.symbol].bit = 1 << (n % 63)
			n++
		}
	}
}

// foresee fills the table of what may follow the first word of phrases.
func (c *compiler) foresee() {
	g := c.g
	for place := range g.openers {
		table := make([]outlook, len(g.traits))
		var bySet [maxSets]outlook
		for p := anywhere; p <= place; p++ {
			for lang := range Lang(maxLangs) {
				root := rootOf(p, lang)
				first, last := g.edgesOf(root, wordEdge)
				for _, e := range g.edges[first:last] {
					table[e.symbol].add(g, e.to)
				}
				first, last = g.edgesOf(root, setEdge)
				for _, e := range g.edges[first:last] {
					bySet[e.symbol].add(g, e.to)
				}
			}
		}
		for id := range table {
			for sets := g.traits[id].sets; sets != 0; sets &= sets - 1 {
				table[id].join(bySet[bits.TrailingZeros64(sets)])
			}
		}
		g.openers[place] = table
	}
}

// add adds what may follow the node.
func (o *outlook) add(g *Grammar, n int32) {
	o.edges(g, n)
	first, last := g.edgesOf(n, anyEdge)
	if first < last || g.nodes[n].ends < g.nodes[n+1].ends {
		o.words = ^uint64(0)
	}
}

// edges adds the words and sets of the edges that leave the node.
func (o *outlook) edges(g *Grammar, n int32) {
	first, last := g.edgesOf(n, wordEdge)
	for _, e := range g.edges[first:last] {
		o.words |= g.traits[e.symbol].bit
	}
	first, last = g.edgesOf(n, setEdge)
	for _, e := range g.edges[first:last] {
		o.sets |= 1 << uint(e.symbol)
	}
}

func (o *outlook) join(other outlook) {
	o.words |= other.words
	o.sets |= other.sets
}
