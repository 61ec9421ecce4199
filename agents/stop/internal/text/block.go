package text

import "strings"

// item is an item that following lines may belong to.
type item struct {
	block   int
	marker  int // column of the marker
	content int // column of the text
	ordered bool
}

// blocks is the state of the pass over the lines.
type blocks struct {
	open    bool // the last block may be continued by the next line
	text    int  // offset of the open block's text
	count   int  // lines of the open block
	blank   bool // the last line was blank
	table   bool // rows of a table may follow
	fence   fence
	items   []item // the innermost item last
	lead    int    // of the list that is being read
	section int    // governs the next block
	outer   int    // governs what follows the list under a heading with a colon, -2 if none
	titles  [8]int // the last heading of each level, -1 if none
	hidden  int    // lines before this offset are not read
	unended [2]bool
}

// fence is an open fenced code block.
type fence struct {
	char  byte // 0 if there is none
	size  int
	depth int // fences open within one that holds Markdown
	holds bool
}

// maxTitle is the longest line, in bytes, that can be a heading by its look.
const maxTitle = 120

func (b *blocks) reset() {
	*b = blocks{items: b.items[:0], blank: true, lead: -1, section: -1, outer: -2}
	for i := range b.titles {
		b.titles[i] = -1
	}
}

// line reads one line into the structure.
func (r *Reader) line(l line) {
	b := &r.blocks
	switch {
	case l.end <= b.hidden:
		return
	case b.fence.char != 0:
		r.fenced(l)
		return
	}
	if l.start < b.hidden {
		l = measure(r.doc.Raw, b.hidden, l.end, 0)
	}
	if l.first >= l.end || r.hides(l) || tagsOnly(r.doc.Raw[l.first:l.end]) {
		r.closeBlock()
		b.blank, b.table = true, false
		return
	}
	if !r.starts(l) {
		r.paragraph(l)
	}
	b.blank = false
}

// starts reads a line that begins a block other than a paragraph, or adds a row.
func (r *Reader) starts(l line) bool {
	s := r.doc.Raw
	if r.indented(l) {
		return true
	}
	switch c := s[l.first]; {
	case c == '`' || c == '~':
		return r.fenceStart(l)
	case c == '#':
		return r.numberSigns(l)
	case c == '>':
		r.quoted(l)
		return true
	case c == '|' || r.blocks.table && strings.IndexByte(s[l.first:l.end], '|') >= 0:
		r.row(l)
		return true
	}
	return r.underline(l) || r.rule(l) || r.delimiters(l) || r.strongLine(l) || r.item(l)
}

// add closes the open block and appends one that holds the line.
func (r *Reader) add(kind Kind, l line) *Block {
	r.closeBlock()
	sentences := len(r.doc.Sentences)
	r.doc.Blocks = add(r.doc.Blocks, Block{
		Span: Span{l.first, l.end}, Kind: kind, Section: r.blocks.section,
		Lead: -1, Parent: -1, First: sentences, End: sentences,
	}, l.start, len(r.doc.Raw))
	return r.last()
}

// begin adds a block that the next lines may continue; its text starts at text.
func (r *Reader) begin(kind Kind, l line, text int) *Block {
	b := r.add(kind, l)
	r.blocks.open, r.blocks.text, r.blocks.count = true, text, 1
	return b
}

// last returns the last block, nil if there is none.
func (r *Reader) last() *Block {
	if len(r.doc.Blocks) == 0 {
		return nil
	}
	return &r.doc.Blocks[len(r.doc.Blocks)-1]
}

// closeBlock reads the sentences of the open block, if there is one.
func (r *Reader) closeBlock() {
	if !r.blocks.open {
		return
	}
	r.blocks.open = false
	r.sentences(r.blocks.text, r.last().Span.End)
}

// sentences reads the text s[start:end] as sentences of the last block.
func (r *Reader) sentences(start, end int) {
	if start < end {
		r.inline(start, end)
	}
	r.last().End = len(r.doc.Sentences)
}

// quoted adds a line of a block quotation.
func (r *Reader) quoted(l line) {
	r.leaveItems(l)
	if b := r.last(); b != nil && !r.blocks.blank && !r.blocks.open && b.Kind == Quote {
		b.Span.End = l.end
		return
	}
	r.add(Quote, l)
}

// rule adds a thematic break.
func (r *Reader) rule(l line) bool {
	text := r.doc.Raw[l.first:l.end]
	c := text[0]
	if c != '-' && c != '*' && c != '_' && c != '=' || !only(text, c, 3) {
		return false
	}
	r.endList()
	r.add(Rule, l)
	return true
}

// paragraph starts or continues a paragraph, or continues the text of an item.
func (r *Reader) paragraph(l line) {
	b := &r.blocks
	if b.open && !r.leavesText(l) {
		r.last().Span.End = l.end
		b.count++
		return
	}
	b.table = false
	r.leaveItems(l)
	parent := -1
	if n := len(b.items); n > 0 {
		parent = b.items[n-1].block
	}
	r.begin(Paragraph, l, l.first).Parent = parent
}

// leavesText reports whether a line ends the text of the open item although no
// blank line is between: Markdown would go on with the item, but a writer
// who starts a sentence at the margin means a new paragraph.
func (r *Reader) leavesText(l line) bool {
	n := len(r.blocks.items)
	if r.last().Kind != Item || n == 0 || l.indent > r.blocks.items[0].marker {
		return false
	}
	return startsSentence(r.doc.Raw, l.first, l.end)
}
