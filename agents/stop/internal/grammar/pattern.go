package grammar

import (
	"fmt"
	"strings"
)

// maxNesting is how deep parentheses and brackets may be in each other.
const maxNesting = 8

// kind is the kind of a term.
type kind uint8

// The kinds of term.
const (
	word    kind = iota
	set          // <set>
	anyWord      // .
	gap          // ..
	comma        // ,
	choice       // (a|b)
	option       // [a|b]
)

// term is a term of a pattern.
type term struct {
	kind     kind
	repeated bool // "*": up to two, or none
	word     int32
	set      uint64
	choices  [][]term
}

// terms is a pattern that was parsed.
type terms struct {
	list        []term
	start, last bool // "^" and "$": at the start, at the end of its sentence
	outlook     outlook
}

// parser reads the pattern of one line.
type parser struct {
	c     *compiler
	line  string // behind the token
	token string // the current one, "" at the end
	depth int    // parentheses and brackets that are open
	last  bool   // a "$" was read, which nothing may follow
}

// parse reads a pattern. It must have a word at least, and not begin with any word.
func (c *compiler) parse(line string) (t terms, err error) {
	p := parser{c: c, line: line}
	p.next()
	if p.token == "^" {
		t.start = true
		p.next()
	}
	if t.list, err = p.sequence(); err != nil {
		return t, err
	}
	t.last = p.last
	ends := t.outlook.follow(1, t.list)
	t.outlook[1].any = t.outlook[1].any || ends&2 != 0
	switch {
	case p.token != "":
		err = fmt.Errorf("%q closes nothing", p.token)
	case t.outlook[0].any:
		err = fmt.Errorf("the pattern begins with any word: begin it with one or with a set")
	case ends&1 != 0:
		err = fmt.Errorf("the pattern matches no word at all: make one of its words required")
	}
	return t, err
}

// marks are the characters that are tokens by themselves.
const marks = "()[]|*^$,"

// next reads the next token: a mark, or the text between spaces and marks.
func (p *parser) next() {
	start := 0
	for start < len(p.line) && space(p.line[start]) {
		start++
	}
	end := start
	for end < len(p.line) && !space(p.line[end]) && strings.IndexByte(marks, p.line[end]) < 0 {
		end++
	}
	if end == start && end < len(p.line) {
		end++
	}
	p.token, p.line = p.line[start:end], p.line[end:]
}

func space(c byte) bool { return c == ' ' || c == '\t' }

// sequence reads terms up to one that closes them.
func (p *parser) sequence() ([]term, error) {
	open := &p.c.open
	base := len(*open)
	for {
		switch p.token {
		case "", ")", "]", "|":
			list := p.c.retain((*open)[base:])
			*open = (*open)[:base]
			return list, nil
		}
		if p.last {
			return nil, fmt.Errorf("%q stands behind $, the end of the sentence", p.token)
		}
		if p.token == "$" {
			if p.depth > 0 {
				return nil, fmt.Errorf("$ stands at the end of a pattern only")
			}
			p.last = true
			p.next()
			continue
		}
		t, err := p.term()
		if err != nil {
			return nil, err
		}
		if p.token == "*" {
			t.repeated = true
			p.next()
		}
		*open = append(*open, t)
	}
}

func (p *parser) term() (t term, err error) {
	token := p.token
	switch token {
	case "(":
		return p.alternatives(choice, ")")
	case "[":
		return p.alternatives(option, "]")
	case "*":
		return t, fmt.Errorf("nothing stands before *")
	case "^":
		return t, fmt.Errorf("^ stands at the beginning of a pattern only")
	}
	p.next()
	switch token {
	case "..":
		t.kind = gap
	case ".":
		t.kind = anyWord
	case ",":
		t.kind = comma
	default:
		if token[0] != '<' {
			t.word, err = p.c.word(token)
			return t, err
		}
		t.kind, t.set = set, p.c.g.named[p.c.name+"."+strings.Trim(token, "<>")]
		if t.set == 0 {
			err = fmt.Errorf("no set is called <%s>", strings.Trim(token, "<>"))
		}
	}
	return t, err
}

// alternatives reads sequences between bars up to the closing mark.
func (p *parser) alternatives(k kind, closing string) (t term, err error) {
	t.kind = k
	if p.depth++; p.depth > maxNesting {
		return t, fmt.Errorf("parentheses stand in each other more than %d deep", maxNesting)
	}
	for {
		p.next()
		if p.token == "|" || p.token == closing {
			return t, fmt.Errorf("an alternative is empty")
		}
		list, err := p.sequence()
		if err != nil {
			return t, err
		}
		t.choices = append(t.choices, list)
		switch p.token {
		case "|":
		case closing:
			p.depth--
			p.next()
			return t, nil
		default:
			return t, fmt.Errorf("%q is missing", closing)
		}
	}
}
