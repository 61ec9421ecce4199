package text

import "strings"

// row adds a row of a table, with a sentence at least for each cell; the line
// under the head of a table adds nothing.
func (r *Reader) row(l line) {
	if r.delimiters(l) {
		return
	}
	r.leaveItems(l)
	r.add(Table, l)
	r.blocks.table = true
	s := r.doc.Raw
	for at := l.first; at < l.end; {
		end := at
		for end < l.end && (s[end] != '|' || end > at && s[end-1] == '\\') {
			end++
		}
		r.sentences(at, end)
		at = end + 1
	}
}

// delimiters reads the line under the head of a table: "|---|:--:|". The line
// above it is a row, whatever it was taken for.
func (r *Reader) delimiters(l line) bool {
	s := r.doc.Raw[l.first:l.end]
	if strings.IndexByte(s, '|') < 0 || strings.IndexByte(s, '-') < 0 || strings.Trim(s, "|:- \t") != "" {
		return false
	}
	b := &r.blocks
	if b.open && r.last().Kind == Paragraph && b.count == 1 {
		b.open = false
		r.last().Kind = Table
		r.sentences(b.text, r.last().Span.End)
	}
	r.closeBlock()
	b.table = true
	return true
}
