package lexicon

import (
	"fmt"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// maxWords is the most words that a phrase may have.
const maxWords = 24

// Compile reads word lists. An error names the source and the line.
func Compile(sources ...Source) (*Lexicon, error) {
	c := compiler{lexicon: &Lexicon{words: &text.Vocabulary{}}}
	c.state() // the root
	for _, source := range sources {
		if err := c.source(source); err != nil {
			return nil, err
		}
	}
	machine, err := c.determine()
	if err != nil {
		return nil, fmt.Errorf("compile the lexicon: %w", err)
	}
	c.lexicon.machine = machine
	return c.lexicon, nil
}

// compiler builds a nondeterministic automaton of all phrases. Its states are
// indices of nodes; state 0 is the root.
type compiler struct {
	lexicon *Lexicon
	nodes   []node
}

// node is a state: edges that read a word, and edges that read nothing.
type node struct {
	words []edge
	any   []int // edges that read any word
	comma []int // edges that read a gap before the next word
	empty []int
	ends  []accept // phrases that end here
}

type edge struct {
	word int32
	to   int
}

// accept is a phrase that ends in a state.
type accept struct {
	class  Class
	phrase int
}

func (c *compiler) state() int {
	c.nodes = append(c.nodes, node{})
	return len(c.nodes) - 1
}

func (c *compiler) source(source Source) error {
	class := -1
	number := 0
	for line := range strings.Lines(source.Text) {
		number++
		line, _, _ = strings.Cut(line, "#")
		line = strings.TrimSpace(line)
		var err error
		switch {
		case line == "":
		case line[0] == '[':
			class, err = c.class(source.Name, line)
		case class < 0:
			err = fmt.Errorf("a phrase stands before the first [class]; put it behind one")
		default:
			err = c.phrase(Phrase{Class(class), line, source.Name, number})
		}
		if err != nil {
			return fmt.Errorf("lexicon %s:%d: %q: %w", source.Name, number, line, err)
		}
	}
	return nil
}

// class reads "[name]" and returns the number of the class; one that comes again
// goes on.
func (c *compiler) class(source, line string) (int, error) {
	name, ok := strings.CutSuffix(line[1:], "]")
	if !ok || name == "" || strings.ContainsAny(name, "[] \t") {
		return -1, fmt.Errorf("a class is written [name]")
	}
	name = source + "." + name
	if n, ok := c.lexicon.Class(name); ok {
		return int(n), nil
	}
	c.lexicon.classes = append(c.lexicon.classes, name)
	return len(c.lexicon.classes) - 1, nil
}

// phrase adds a phrase to the automaton.
func (c *compiler) phrase(p Phrase) error {
	parsed, err := parse(p.Text)
	if err != nil {
		return err
	}
	start := c.state()
	end, err := c.build(parsed, start)
	if err != nil {
		return err
	}
	number := len(c.lexicon.phrases)
	c.nodes[end].ends = append(c.nodes[end].ends, accept{p.Class, number})
	for _, at := range c.closure([]int{start}) {
		switch n := c.nodes[at]; {
		case len(n.any) > 0:
			return fmt.Errorf("a phrase cannot begin with _: begin it with a word")
		case len(n.comma) > 0:
			return fmt.Errorf("a phrase cannot begin with a comma: begin it with a word")
		case len(n.ends) > 0:
			return fmt.Errorf("every word is optional: make one of them required")
		}
	}
	c.nodes[0].empty = append(c.nodes[0].empty, start)
	c.lexicon.phrases = append(c.lexicon.phrases, p)
	return nil
}

// build adds the states that read e from the state given and returns the last.
func (c *compiler) build(e expression, from int) (int, error) {
	switch e.kind {
	case wordExpression:
		words := strings.Fields(text.Fold(e.word))
		if len(words) == 0 {
			return 0, fmt.Errorf("%q holds no letter", e.word)
		}
		for _, word := range words {
			to := c.state()
			c.nodes[from].words = append(c.nodes[from].words, edge{c.lexicon.words.Add(word), to})
			from = to
		}
		return from, nil
	case anyExpression:
		to := c.state()
		c.nodes[from].any = append(c.nodes[from].any, to)
		return to, nil
	case commaExpression:
		to := c.state()
		c.nodes[from].comma = append(c.nodes[from].comma, to)
		return to, nil
	case optional:
		to, err := c.build(e.parts[0], from)
		if err == nil {
			c.nodes[from].empty = append(c.nodes[from].empty, to)
		}
		return to, err
	case sequence:
		var err error
		for i := 0; i < len(e.parts) && err == nil; i++ {
			from, err = c.build(e.parts[i], from)
		}
		return from, err
	default:
		end := c.state()
		for _, part := range e.parts {
			to, err := c.build(part, from)
			if err != nil {
				return 0, err
			}
			c.nodes[to].empty = append(c.nodes[to].empty, end)
		}
		return end, nil
	}
}
