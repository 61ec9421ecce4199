package text

import "unicode"

// item reads a line that begins an item, or several: "- 1. text".
func (r *Reader) item(l line) bool {
	b := &r.blocks
	s := r.doc.Raw
	m, ok := itemMarker(s, l.first, l.end)
	if !ok || b.open && r.last().Kind == Paragraph && !interrupts(s, l, m) {
		return false
	}
	column := l.indent
	r.closeBlock()
	b.table = false
	if len(b.items) == 0 {
		r.startList()
	}
	r.popItems(column, m.ordered)
	for {
		block := r.begin(Item, l, m.text)
		block.Level, block.Lead = len(b.items), b.lead
		block.Ordered, block.Number, block.Box = m.ordered, m.number, m.box
		if n := len(b.items); n > 0 {
			block.Parent = b.items[n-1].block
		}
		b.items = append(b.items, item{len(r.doc.Blocks) - 1, column, column + m.width, m.ordered})
		inner, ok := itemMarker(s, m.text, l.end)
		if !ok || inner.picture || m.picture || inner.text >= l.end {
			break
		}
		b.open = false // all the text is that of the inner item
		column += m.width
		l.first, m = m.text, inner
	}
	r.fenceInItem(line{start: m.text, end: l.end, first: m.text, indent: column + m.width})
	return true
}

// fenceInItem opens the code block that is all the text of an item.
func (r *Reader) fenceInItem(l line) {
	if l.first >= l.end {
		return
	}
	if f, ok := openingFence(r.doc.Raw[l.first:l.end]); ok {
		r.blocks.open = false
		r.add(Code, l)
		r.blocks.fence = f
	}
}

// interrupts reports whether a marker may begin a list right under the line of a
// paragraph. An unlikely first number and a lone letter are part of the text.
func interrupts(s string, l line, m marker) bool {
	return !m.ordered || m.number <= 1 || m.number < 100 && startsSentence(s, m.text, l.end)
}

// popItems leaves the items that an item at the column does not belong to. Under
// "1." people indent bullets by two or three columns, too few for Markdown.
func (r *Reader) popItems(column int, ordered bool) {
	b := &r.blocks
	for n := len(b.items); n > 0; n-- {
		top := b.items[n-1]
		if column >= top.content || top.ordered && !ordered && column >= top.marker+2 {
			break
		}
		b.items = b.items[:n-1]
	}
}

// leaveItems leaves the items whose text the line does not stand under.
func (r *Reader) leaveItems(l line) {
	b := &r.blocks
	n := len(b.items)
	for n > 0 && l.indent < b.items[n-1].content {
		n--
	}
	if n == 0 {
		r.endList()
		return
	}
	b.items = b.items[:n]
}

// startList notes what introduces the list that begins.
func (r *Reader) startList() {
	r.endList()
	r.introduce()
	if last := r.last(); last != nil && (last.Kind == Paragraph || last.Kind == Heading) {
		r.blocks.lead = len(r.doc.Blocks) - 1
	}
}

// endList leaves the list, and the heading that introduced nothing else.
func (r *Reader) endList() {
	b := &r.blocks
	b.items, b.lead = b.items[:0], -1
	if b.outer != -2 {
		b.section, b.outer = b.outer, -2
	}
}

// startsSentence reports whether the text at s[i:end] looks like the start of a
// sentence: a capital that does not begin an acronym, an emoji, or emphasis.
func startsSentence(s string, i, end int) bool {
	for i < end && (s[i] == '*' || s[i] == '_' || s[i] == '(' || s[i] == '"') {
		i++
	}
	if i >= end {
		return false
	}
	if c := s[i]; c < 0x80 {
		if c < 'A' || c > 'Z' {
			return false
		}
		next := s[min(i+1, end-1)]
		return next < 'A' || next > 'Z' || i+1 == end
	}
	r, _ := decode(s, i)
	return unicode.IsUpper(r) || sortOf(r) == sign || sortOf(r) == opening
}
