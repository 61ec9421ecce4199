package text

import (
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	gtext "github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxPart is how many bytes of the beginning and of the end of a longer message are read.
const maxPart = 128 << 10

// Reader reads messages. Its zero value is ready; it keeps its buffers from one
// message to the next and serves one goroutine.
type Reader struct {
	doc    Doc
	words  *Vocabulary
	clean  source // the message in plain spelling
	md     source // the message in CommonMark
	titles map[int]bool
	struc  structure
	in     inline
}

// structure is where the blocks that were read stand.
type structure struct {
	items   []int  // the items that the next block belongs to, the innermost last
	lead    int    // of the list that is being read
	section int    // governs the next block
	outer   int    // governs what follows the list under a heading with a colon, -2 if there is none
	titles  [8]int // the last heading of each level, -1 if there is none
	text    string // of the last paragraph
	column  int    // of the cell that is being read
}

// NewReader returns a Reader whose words carry the numbers of v.
func NewReader(v *Vocabulary) *Reader { return &Reader{words: v} }

// markdown parses blocks only: the text of blocks is read by inline.
var markdown = parser.NewParser(
	parser.WithBlockParsers(
		util.Prioritized(parser.NewSetextHeadingParser(), 100),
		util.Prioritized(parser.NewThematicBreakParser(), 200),
		util.Prioritized(parser.NewListParser(), 300),
		util.Prioritized(parser.NewListItemParser(), 400),
		util.Prioritized(parser.NewCodeBlockParser(), 500),
		util.Prioritized(parser.NewATXHeadingParser(), 600),
		util.Prioritized(parser.NewFencedCodeBlockParser(), 700),
		util.Prioritized(parser.NewBlockquoteParser(), 800),
		util.Prioritized(parser.NewParagraphParser(), 1000),
	),
)

// Read parses a message: all of it up to 256 KiB; of a longer one the first 128 KiB and
// the last, cut between lines where there are any. The Doc is valid until the next Read.
func (r *Reader) Read(message string) *Doc {
	r.doc = Doc{Raw: message, Blocks: r.doc.Blocks[:0], Sentences: r.doc.Sentences[:0], Words: r.doc.Words[:0]}
	r.struc = structure{items: r.struc.items[:0], lead: -1, section: -1, outer: -2}
	for i := range r.struc.titles {
		r.struc.titles[i] = -1
	}
	r.md.reset()
	r.titles = map[int]bool{}
	for _, part := range parts(message) {
		r.clean.reset()
		r.clean.clean(message, part)
		d := dialect{in: &r.clean, out: &r.md, titles: r.titles}
		d.rewrite()
	}
	r.in.s = string(r.md.text)
	r.children(markdown.Parse(gtext.NewReader(r.md.text)))
	return &r.doc
}

// parts returns the parts of a message that are read.
func parts(s string) []Span {
	if len(s) <= 2*maxPart {
		return []Span{{0, len(s)}}
	}
	head, tail := maxPart, len(s)-maxPart
	if n := strings.LastIndexByte(s[:head], '\n'); n >= 0 {
		head = n + 1
	}
	if n := strings.IndexByte(s[tail:], '\n'); n >= 0 && tail+n+1 < len(s) {
		tail += n + 1
	}
	for head > 0 && s[head]>>6 == 2 { // within a character
		head--
	}
	for tail < len(s) && s[tail]>>6 == 2 {
		tail++
	}
	return []Span{{0, head}, {tail, len(s)}}
}

func (r *Reader) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		r.node(c)
	}
}

func (r *Reader) node(n ast.Node) {
	st := &r.struc
	if k := n.Kind(); k != ast.KindList && k != ast.KindListItem && len(st.items) == 0 {
		r.endList()
	}
	switch n := n.(type) {
	case *ast.List:
		if p := n.PreviousSibling(); len(st.items) == 0 && (p == nil || p.Kind() != ast.KindList) {
			r.startList()
		}
		r.children(n)
	case *ast.ListItem:
		r.item(n)
	case *ast.Heading:
		start, end := r.extent(n)
		if len(st.items) > 0 {
			r.paragraph(start, end)
			return
		}
		r.add(Heading, n.Pos(), max(end, n.Pos()+n.Level))
		level := n.Level
		if r.titles[n.Pos()] {
			level = 7
		}
		r.head(level)
		r.sentences(start, end)
	case *ast.Paragraph, *ast.TextBlock:
		r.paragraph(r.extent(n))
	case *ast.FencedCodeBlock, *ast.CodeBlock:
		start, end := r.extent(n)
		r.add(Code, start, end)
	case *ast.Blockquote:
		start, end := n.Pos(), n.Pos()+1
		if p := n.FirstChild(); p != nil {
			start, end = r.extent(p)
		}
		r.add(Quote, start, end)
	case *ast.ThematicBreak:
		r.add(Rule, n.Pos(), n.Pos()+1)
	default:
		r.children(n)
	}
}

// extent returns where the lines of a node begin and end, without the space around.
func (r *Reader) extent(n ast.Node) (start, end int) {
	lines := n.Lines()
	if lines.Len() == 0 {
		return n.Pos(), n.Pos()
	}
	start, end = lines.At(0).Start, lines.At(lines.Len()-1).Stop
	start = skipSpace(r.in.s[:end], start)
	return start, max(start, start+len(strings.TrimRight(r.in.s[start:end], " \t\n")))
}

// add appends a block for the text from start to end.
func (r *Reader) add(kind Kind, start, end int) *Block {
	n := len(r.doc.Sentences)
	r.doc.Blocks = append(r.doc.Blocks, Block{
		Span: r.md.span(start, end), Kind: kind, Section: r.struc.section, Lead: -1, Parent: -1, First: n, End: n,
	})
	return r.last()
}

// last returns the last block, nil if there is none.
func (r *Reader) last() *Block {
	if len(r.doc.Blocks) == 0 {
		return nil
	}
	return &r.doc.Blocks[len(r.doc.Blocks)-1]
}

// sentences reads a text as sentences of the last block.
func (r *Reader) sentences(start, end int) {
	if start < end {
		r.inline(start, end)
	}
	r.last().End = len(r.doc.Sentences)
}

// head records the last block as a heading of the level.
func (r *Reader) head(level int) {
	st, h := &r.struc, r.last()
	h.Kind, h.Level, h.Section = Heading, level, -1
	for k := level - 1; k > 0 && h.Section < 0; k-- {
		h.Section = st.titles[k]
	}
	st.section = len(r.doc.Blocks) - 1
	st.titles[level] = st.section
	for k := level + 1; k < len(st.titles); k++ {
		st.titles[k] = -1
	}
}

// startList notes what introduces the list that begins. A short paragraph that ends with a
// colon becomes a heading that governs that list only.
func (r *Reader) startList() {
	r.endList()
	st, p := &r.struc, r.last()
	if p == nil || p.Kind != Paragraph && p.Kind != Heading {
		return
	}
	st.lead = len(r.doc.Blocks) - 1
	if p.Kind == Heading || p.Parent >= 0 || len(st.text) > maxTitle/2 || strings.Contains(st.text, "\n") || !endsWithColon(st.text) {
		return
	}
	section, titles := st.section, st.titles
	st.outer = section
	r.head(7)
	p.Section, st.titles = section, titles
}

// endList leaves the list, and the heading that introduced nothing else.
func (r *Reader) endList() {
	st := &r.struc
	st.lead = -1
	if st.outer != -2 {
		st.section, st.outer = st.outer, -2
	}
}

// item adds an item and the blocks within it.
func (r *Reader) item(n *ast.ListItem) {
	st, s := &r.struc, r.in.s
	m, _ := itemMarker(s[n.Pos():lineEnd(s, n.Pos())])
	start, end := n.Pos()+m.text, n.Pos()+m.text
	first := n.FirstChild()
	switch first.(type) {
	case *ast.Paragraph, *ast.TextBlock, *ast.Heading:
		start, end = r.extent(first)
	default:
		first = nil
	}
	b := r.add(Item, n.Pos(), max(end, n.Pos()+1))
	b.Level, b.Lead, b.Ordered, b.Number = len(st.items), st.lead, m.ordered, m.number
	if len(st.items) > 0 {
		b.Parent = st.items[len(st.items)-1]
	}
	box, size := checkBox(s[start:end])
	b.Box = box
	st.items = append(st.items, len(r.doc.Blocks)-1)
	r.sentences(skipSpace(s[:end], start+size), end)
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c != first {
			r.node(c)
		}
	}
	st.items = st.items[:len(st.items)-1]
}

// paragraph adds a paragraph, or the rows of a table.
func (r *Reader) paragraph(start, end int) {
	lines := strings.SplitAfter(r.in.s[start:end], "\n")
	head := len(lines) > 1 && isDelimiters(strings.TrimSpace(lines[1]))
	if head || strings.HasPrefix(lines[0], "|") {
		for i, l := range lines {
			if l = strings.TrimSpace(l); !isDelimiters(l) {
				at := skipSpace(r.in.s, start)
				r.cells(at, at+len(l))
				r.last().Header = head && i == 0
			}
			start += len(lines[i])
		}
		return
	}
	r.struc.text = r.in.s[start:end]
	b := r.add(Paragraph, start, end)
	if n := len(r.struc.items); n > 0 {
		b.Parent = r.struc.items[n-1]
	}
	r.sentences(start, end)
}

func lineEnd(s string, i int) int {
	if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(s)
}

// cells adds a row of a table with the sentences of its cells.
func (r *Reader) cells(start, end int) {
	s := r.in.s
	r.add(Table, start, end)
	for at := start; at < end; r.struc.column++ {
		stop := at
		for stop < end && (s[stop] != '|' || stop > at && s[stop-1] == '\\') {
			stop++
		}
		if at == start && stop == at { // the bar before the first cell
			r.struc.column--
		}
		r.sentences(at, stop)
		at = stop + 1
	}
	r.struc.column = 0
}
