package grammar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// maxNesting is how deep parentheses and brackets may be in each other.
const maxNesting = 8

// stand is the node that the terms so far lead to; cross is true if a gap may follow.
type stand struct {
	node  int32
	cross bool
}

// pattern reads the pattern of one line and builds its nodes on the way.
type pattern struct {
	c     *compiler
	line  string // behind the token
	token string // the current one, "" at the end
	depth int    // parentheses and brackets that are open
	// last says that a "$" was read, which nothing may follow.
	last bool
}

// build adds the nodes of the pattern with the number.
func (c *compiler) build(line string, number int32) error {
	p := pattern{c: c, line: line}
	c.stands = c.stands[:0]
	p.next()
	root := rootOf(anywhere, c.lang)
	if p.token == "^" {
		root = rootOf(sentenceStart, c.lang)
		p.next()
	}
	first := len(c.edges)
	to, err := p.sequence(c.list(stand{node: root}))
	switch {
	case err != nil:
		return err
	case p.token != "":
		return fmt.Errorf("%q closes nothing", p.token)
	case slices.ContainsFunc(c.edges[first:], func(e link) bool { return e.from == root && e.kind == anyEdge }):
		return fmt.Errorf("the pattern begins with any word: begin it with one or with a set")
	}
	for _, s := range to {
		if s.node == root {
			return fmt.Errorf("the pattern matches no word at all: make one of its words required")
		}
		c.ends = append(c.ends, finish{s.node, end{number, c.g.Patterns[number].Class, p.last}})
	}
	return nil
}

// next reads the next token: a mark, or what is between spaces and marks.
func (p *pattern) next() {
	start := 0
	for start < len(p.line) && space(p.line[start]) {
		start++
	}
	end := start
	for end < len(p.line) && !space(p.line[end]) && !mark(p.line[end]) {
		end++
	}
	if end == start && end < len(p.line) {
		end++
	}
	p.token, p.line = p.line[start:end], p.line[end:]
}

func space(c byte) bool { return c == ' ' || c == '\t' }

// mark reports whether a character is a token by itself.
func mark(c byte) bool {
	switch c {
	case '(', ')', '[', ']', '|', '*', '^', '$', ',':
		return true
	}
	return false
}

// sequence leads from some states over terms to those behind the last one.
func (p *pattern) sequence(from []stand) ([]stand, error) {
	for {
		switch p.token {
		case "", ")", "]", "|":
			return from, nil
		}
		if p.last {
			return nil, fmt.Errorf("%q stands behind $, the end of the sentence", p.token)
		}
		to, err := p.repeated(from)
		if err != nil {
			return nil, err
		}
		from = to
	}
}

// repeated leads over a term, or with "*" behind it over up to two of it.
func (p *pattern) repeated(from []stand) ([]stand, error) {
	start := *p
	to, err := p.term(from)
	if err != nil || p.token != "*" {
		return to, err
	}
	p.next()
	after := *p
	*p = start
	more, err := p.term(to)
	*p = after
	return p.c.union(p.c.union(from, to), more), err
}

// term leads over one term.
func (p *pattern) term(from []stand) ([]stand, error) {
	c, token := p.c, p.token
	switch token {
	case "(":
		return p.choice(from, ")")
	case "[":
		to, err := p.choice(from, "]")
		return c.union(from, to), err
	case "*":
		return nil, fmt.Errorf("nothing stands before *")
	case "^":
		return nil, fmt.Errorf("^ stands at the beginning of a pattern only")
	case "$":
		if p.depth > 0 {
			return nil, fmt.Errorf("$ stands at the end of a pattern only")
		}
		p.next()
		p.last = true
		return from, nil
	}
	p.next()
	switch token {
	case "..":
		return c.gap(from), nil
	case ".":
		return c.step(from, anyEdge, 0), nil
	case ",":
		return c.crossing(from), nil
	}
	if token[0] == '<' {
		name := strings.Trim(token, "<>")
		bit, ok := c.set(name)
		if !ok {
			return nil, fmt.Errorf("no set is called <%s>", name)
		}
		return c.step(from, setEdge, bit), nil
	}
	id, err := c.word(token)
	return c.step(from, wordEdge, id), err
}

// choice leads over one of some sequences.
func (p *pattern) choice(from []stand, closing string) ([]stand, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, fmt.Errorf("parentheses stand in each other more than %d deep", maxNesting)
	}
	target := p.c.node()
	all := p.c.list(stand{node: target})
	for {
		p.next()
		if p.token == "|" || p.token == closing {
			return nil, fmt.Errorf("an alternative is empty")
		}
		firstEdge := len(p.c.edges)
		to, err := p.sequence(from)
		if err != nil {
			return nil, err
		}
		all = p.c.union(all, p.c.redirect(to, firstEdge, target))
		switch p.token {
		case "|":
		case closing:
			p.depth--
			p.next()
			return all, nil
		default:
			return nil, fmt.Errorf("%q is missing", closing)
		}
	}
}

// list makes a list of states in the space for those of one pattern.
func (c *compiler) list(s ...stand) []stand { return c.union(nil, s) }

// union returns a list of the states of both lists.
func (c *compiler) union(a, b []stand) []stand {
	start := len(c.stands)
	c.stands = append(c.stands, a...)
	for _, s := range b {
		if !slices.Contains(c.stands[start:], s) {
			c.stands = append(c.stands, s)
		}
	}
	return c.stands[start:len(c.stands):len(c.stands)]
}

func (c *compiler) node() int32 {
	c.nodes++
	return c.nodes - 1
}

// step leads from the states over an edge to a new one.
func (c *compiler) step(from []stand, kind, symbol int32) []stand {
	to := c.node()
	for _, s := range from {
		c.edges = append(c.edges, link{s.node, kind, edge{symbol, to, s.cross}})
	}
	return c.list(stand{node: to})
}

// gap leads over up to three words.
func (c *compiler) gap(from []stand) []stand {
	all := c.crossing(from)
	for range 3 {
		from = c.step(from, anyEdge, 0)
		all = c.union(all, c.crossing(from))
	}
	return all
}

// crossing lets a gap stand behind the states.
func (c *compiler) crossing(from []stand) []stand {
	all := c.list(from...)
	for i := range all {
		all[i].cross = true
	}
	return all
}

// redirect lets the edges of an alternative end at the target, where they lead to
// a state that nothing leads on from, and returns the other states: else each
// alternative would need the edges of what follows the choice.
func (c *compiler) redirect(to []stand, firstEdge int, target int32) []stand {
	all := c.list(stand{node: target})
	edges := c.edges[firstEdge:]
	for _, s := range to {
		leads := func(e link) bool { return e.from == s.node }
		if s.cross || slices.ContainsFunc(edges, leads) {
			all = c.union(all, c.list(s))
			continue
		}
		for i := range edges {
			if edges[i].to == s.node {
				edges[i].to = target
			}
		}
	}
	return all
}

// word returns the number of a word, a new one if it has none.
func (c *compiler) word(w string) (int32, error) {
	if folded := text.Fold(w); folded != w {
		return 0, fmt.Errorf("%q is not folded, so that no text holds it: write %q", w, folded)
	}
	id := c.g.Words.Add(w)
	if id > maxWords {
		return 0, fmt.Errorf("there are more than %d words", maxWords)
	}
	for int(id) >= len(c.g.traits) {
		c.g.traits = append(c.g.traits, trait{bit: otherBit})
	}
	return id, nil
}
