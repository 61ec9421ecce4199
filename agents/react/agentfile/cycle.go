package agentfile

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"

	"github.com/rehearse-dev/rehearse/internal/lazyregexp"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// section is one of the four lists of REACT_CYCLE.
type section int

const (
	thoughts section = iota
	actions
	done
	triggers
	outside // of all sections
	unknown // reported as unknown; its content is skipped
)

const cycleTitle = "REACT_CYCLE"

// headings are the titles of the sections in English and French.
var headings = [...][]string{
	thoughts: {"Typical thoughts", "Thoughts typiques"},
	actions:  {"Specific actions", "Actions spécifiques"},
	done:     {"Done criteria", "Critères de done"},
	triggers: {"Escalation triggers", "Triggers d'escalation"},
}

// actionItem matches an item of the list of actions: `id`: purpose.
var actionItem = lazyregexp.New("^`([^`]*)`\\s*(?::\\s*(.*))?$")

// item is one item of a list.
type item struct {
	id, text     string // id only for actions
	file         string
	line, column int
}

func (it item) wrong(message, nearest string) yamlsrc.Diagnostic {
	return yamlsrc.Diagnostic{File: it.file, Line: it.line, Column: it.column, Message: message, Nearest: nearest}
}

// cycle is the parsed Markdown of a file.
type cycle struct {
	file  string
	data  []byte // the whole file, for positions
	md    []byte // its Markdown, the end of data
	found yamlsrc.Diagnostics
	body  string
	items [outside][]item
}

// readCycle parses the Markdown from an offset of a file. Headings in code, quotations or comments are
// ignored.
func readCycle(file string, data []byte, offset int) *cycle {
	c := &cycle{file: file, data: data, md: data[offset:]}
	root := parser.NewParser(parser.WithBlockParsers(parser.DefaultBlockParsers()...)).Parse(text.NewReader(c.md))
	inside, in := 0, outside // level of REACT_CYCLE, or 0; the section
	var cycleAt int          // line of REACT_CYCLE
	var firsts [outside]int  // line of each section
	var body bytes.Buffer
	from := 0 // begin of the part of the body
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, isHeading := n.(*ast.Heading)
		switch {
		case isHeading && (inside == 0 || h.Level <= inside):
			title, at := c.title(h), c.lineStart(n)
			if inside > 0 {
				from, inside, in = at, 0, outside
			}
			if !sameTitle(title, cycleTitle) {
				c.nearCycle(h, title)
				continue
			}
			if body.Write(c.md[from:at]); cycleAt > 0 {
				c.wrong(h, fmt.Sprintf("%s is there twice; first on line %d", cycleTitle, cycleAt), "", "")
			}
			cycleAt, _ = c.place(h)
			inside, from = h.Level, len(c.md)
		case inside == 0 || in == unknown && !isHeading:
		case isHeading:
			in = c.enter(h, firsts[:])
		case in == outside:
			c.prose(n, "the section has no heading", "a heading such as "+headings[thoughts][0])
		default:
			c.read(n, in)
		}
	}
	body.Write(c.md[from:])
	c.body = strings.TrimSpace(body.String())
	return c
}

// nearCycle reports a heading that was probably meant to be REACT_CYCLE.
func (c *cycle) nearCycle(h *ast.Heading, title string) {
	if near := suggest.Nearest(title, []string{cycleTitle}); near != "" {
		c.wrong(h, fmt.Sprintf("unknown section %q", clip(title)), "", near)
	}
}

// enter returns the section of a heading. firsts has the lines of the sections so far.
func (c *cycle) enter(h *ast.Heading, firsts []int) section {
	title := c.title(h)
	var all []string
	for s, known := range headings {
		all = append(all, known...)
		for _, k := range known {
			if !sameTitle(title, k) {
				continue
			}
			if firsts[s] > 0 {
				c.wrong(h, fmt.Sprintf("the section %q is there twice; first on line %d", k, firsts[s]), "", "")
			}
			firsts[s], _ = c.place(h)
			return section(s)
		}
	}
	c.wrong(h, fmt.Sprintf("unknown section %q of %s", clip(title), cycleTitle),
		"one of "+strings.Join(all, ", "), suggest.Nearest(title, all))
	return unknown
}

// read collects the items of a list.
func (c *cycle) read(n ast.Node, in section) {
	list, ok := n.(*ast.List)
	if !ok {
		c.prose(n, fmt.Sprintf("%q contains text that is not a list", headings[in][0]), "a list, one item a line")
		return
	}
	for li := list.FirstChild(); li != nil; li = li.NextSibling() {
		it := item{file: c.file, text: c.text(li)}
		it.line, it.column = c.place(li)
		switch m := actionItem().FindStringSubmatch(it.text); {
		case it.text == "":
			c.found = append(c.found, it.wrong("the item is empty", ""))
			continue
		case in != actions:
		case m == nil || m[1] == "":
			c.found = append(c.found, it.wrong("the item names no action; write \"- `name`: what it is for\"", ""))
			continue
		default:
			it.id, it.text = m[1], strings.TrimSpace(m[2])
		}
		c.items[in] = append(c.items[in], it)
	}
}

// prose reports text in the place of a list; comments are ignored.
func (c *cycle) prose(n ast.Node, message, expected string) {
	if n.Kind() == ast.KindHTMLBlock || n.Kind() == ast.KindThematicBreak {
		return
	}
	c.wrong(n, message, expected, "")
}

// wrong adds an error about a block.
func (c *cycle) wrong(n ast.Node, message, expected, nearest string) {
	line, column := c.place(n)
	c.found = append(c.found, yamlsrc.Diagnostic{
		File: c.file, Line: line, Column: column, Message: message, Expected: expected, Nearest: nearest,
	})
}

// start returns the offset of a block in the Markdown.
func (c *cycle) start(n ast.Node) int {
	if at := n.Pos(); at >= 0 {
		return min(at, len(c.md))
	}
	if n.Type() == ast.TypeBlock && n.Lines().Len() > 0 {
		return n.Lines().At(0).Start
	}
	if child := n.FirstChild(); child != nil {
		return c.start(child)
	}
	if before := n.PreviousSibling(); before != nil {
		return c.start(before)
	}
	return 0
}

// lineStart returns the offset of the line that a block begins on.
func (c *cycle) lineStart(n ast.Node) int {
	return bytes.LastIndexByte(c.md[:c.start(n)], '\n') + 1
}

// place returns the line and column, in characters, of the beginning of a block.
func (c *cycle) place(n ast.Node) (line, column int) {
	at := len(c.data) - len(c.md) + c.start(n)
	line = 1 + bytes.Count(c.data[:at], []byte("\n"))
	begin := bytes.LastIndexByte(c.data[:at], '\n') + 1
	return line, 1 + utf8.RuneCount(c.data[begin:at])
}

func (c *cycle) title(h *ast.Heading) string {
	return strings.Trim(c.text(h), "*_` ")
}

// text returns the text of a block and everything within it, on one line.
func (c *cycle) text(n ast.Node) string {
	var b strings.Builder
	_ = ast.Walk(n, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Type() == ast.TypeBlock {
			for i := range n.Lines().Len() {
				line := n.Lines().At(i)
				b.Write(line.Value(c.md))
				b.WriteByte('\n')
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

var apostrophes = strings.NewReplacer("’", "'", "_", " ", "-", " ")

// sameTitle compares titles without case, the kind of apostrophe, and a colon at the end.
func sameTitle(a, b string) bool {
	fold := func(s string) string { return strings.TrimRight(apostrophes.Replace(s), ": ") }
	return strings.EqualFold(fold(a), fold(b))
}

func texts(items []item) []string {
	var all []string
	for _, it := range items {
		all = append(all, it.text)
	}
	return all
}

func ids(items []item) []string {
	var all []string
	for _, it := range items {
		all = append(all, it.id)
	}
	return all
}

// clip shortens a text of the file for a message.
func clip(s string) string { return sanitize.Line(s, 80) }
