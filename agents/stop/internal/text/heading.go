package text

import (
	"strings"
	"unicode"
)

// head records the last block as a heading of the level.
func (r *Reader) head(level int) {
	b := &r.blocks
	h := r.last()
	at := len(r.doc.Blocks) - 1
	h.Kind, h.Level, h.Section = Heading, level, -1
	for k := level - 1; k > 0 && h.Section < 0; k-- {
		h.Section = b.titles[k]
	}
	b.titles[level] = at
	for k := level + 1; k < len(b.titles); k++ {
		b.titles[k] = -1
	}
	b.section = at
}

// title adds a heading of one line whose text is s[start:end].
func (r *Reader) title(l line, level, start, end int) {
	r.endList()
	r.add(Heading, l)
	r.head(level)
	r.sentences(start, end)
	r.blocks.table = false
}

// numberSigns reads "## Title". From two signs on the space may be missing.
func (r *Reader) numberSigns(l line) bool {
	s := r.doc.Raw
	at := l.first
	for at < l.end && s[at] == '#' {
		at++
	}
	level := at - l.first
	text := skipSpace(s, at, l.end)
	if level > 6 || text == at && at < l.end && (level < 2 || s[at] < 'A' || s[at] > 'Z') {
		return false
	}
	end := l.end
	if closed := strings.TrimRight(s[text:end], "#"); closed == "" || strings.HasSuffix(closed, " ") {
		end = text + len(strings.TrimRight(closed, " \t"))
	}
	r.title(l, level, text, end)
	return true
}

// underline reads the line under a title. A line of hyphens after a sentence is a
// rule: its author left out the blank line.
func (r *Reader) underline(l line) bool {
	b := &r.blocks
	s := r.doc.Raw
	c := s[l.first]
	if c != '=' && c != '-' || !b.open || len(b.items) > 0 || strings.Trim(s[l.first:l.end], s[l.first:l.first+1]) != "" {
		return false
	}
	last := r.last()
	level := 1
	if c == '-' {
		level = 2
		text := strings.TrimRight(s[last.Start:last.Span.End], "*_ ")
		if b.count > 1 || len(text) > maxTitle || strings.ContainsRune(".!?:", rune(text[max(0, len(text)-1)])) {
			return false
		}
	}
	r.closeBlock()
	last.Span.End = l.end
	r.head(level)
	return true
}

// strongLine reads a line that is all strong text, with a colon, a number or an
// emoji perhaps: people write headings like this. A whole strong sentence is not a heading.
func (r *Reader) strongLine(l line) bool {
	if l.end-l.first > maxTitle || l.indent > 3 {
		return false
	}
	s := r.doc.Raw[l.first:l.end]
	mark := strings.IndexAny(s, "*_")
	if mark < 0 || mark+5 > len(s) || s[mark:mark+2] != "**" && s[mark:mark+2] != "__" || !ornament(s[:mark]) {
		return false
	}
	body, after, ok := strings.Cut(s[mark+2:], s[mark:mark+2])
	body = strings.TrimSpace(body)
	after = strings.Trim(after, "*_ ")
	if !ok || body == "" || after != "" && after != ":" && !ornament(after) {
		return false
	}
	if c := body[len(body)-1]; c == '.' || c == '!' || c == '?' {
		return false
	}
	r.title(l, 7, l.first, l.end)
	return true
}

// ornament reports whether s holds no letters and nothing that starts a list.
func ornament(s string) bool {
	for i, r := range s {
		if unicode.IsLetter(r) || i == 0 && strings.ContainsRune("-+*•–|>[", r) {
			return false
		}
	}
	return len(s) < 16
}

// introduce makes a short paragraph that ends with a colon the heading of the
// list that follows it; it governs that list only.
func (r *Reader) introduce() {
	b := &r.blocks
	p := r.last()
	if p == nil || p.Kind != Paragraph || p.Parent >= 0 || b.count != 1 || p.Span.End-p.Start > maxTitle/2 ||
		!endsWithColon(r.doc.Raw[p.Start:p.Span.End]) {
		return
	}
	b.outer = b.section
	section := b.section
	titles := b.titles
	r.head(7)
	p.Section = section
	b.titles = titles
}
