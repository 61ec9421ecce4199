package text

import "strings"

// fenceStart opens a fenced code block.
func (r *Reader) fenceStart(l line) bool {
	f, ok := openingFence(r.doc.Raw[l.first:l.end])
	if !ok {
		return false
	}
	r.leaveItems(l)
	r.add(Code, l)
	r.blocks.fence = f
	r.blocks.table = false
	return true
}

// openingFence reads "```go". A fence of Markdown may hold fences: agents wrap
// whole documents, and only the tags show which fence opens and which closes.
func openingFence(s string) (f fence, ok bool) {
	f.char = s[0]
	for f.size < len(s) && s[f.size] == f.char {
		f.size++
	}
	tag := strings.TrimSpace(s[f.size:])
	if f.char != '`' && f.char != '~' || f.size < 3 || f.char == '`' && strings.IndexByte(tag, '`') >= 0 {
		return fence{}, false
	}
	f.holds = strings.EqualFold(tag, "markdown") || strings.EqualFold(tag, "md")
	return f, true
}

// fenced adds a line to the open fenced code block, or closes it.
func (r *Reader) fenced(l line) {
	f := &r.blocks.fence
	if l.first >= l.end {
		return
	}
	r.last().Span.End = l.end
	text := r.doc.Raw[l.first:l.end]
	if text[0] != f.char {
		return
	}
	size := len(text) - len(strings.TrimLeft(text, text[:1]))
	switch {
	case size < 3:
	case len(text) > size:
		if inner, ok := openingFence(text); ok && f.holds && inner.size <= f.size {
			f.depth++
		}
	case f.depth > 0:
		f.depth--
	case size >= f.size:
		f.char = 0
		r.blocks.blank = false
	}
}

// indented adds a line of indented code: four columns deeper than the text around
// it, after a blank line or more code.
func (r *Reader) indented(l line) bool {
	b := &r.blocks
	if b.open || l.indent < 4 {
		return false
	}
	base := 0
	for i := len(b.items) - 1; i >= 0; i-- {
		if b.items[i].content <= l.indent {
			base = b.items[i].content
			break
		}
	}
	if l.indent < base+4 {
		return false
	}
	last := r.last()
	if last != nil && last.Kind == Code && !strings.ContainsRune("`~", rune(r.doc.Raw[last.Start])) {
		last.Span.End = l.end
		return true
	}
	if !b.blank && last != nil && last.Kind != Code && last.Kind != Heading {
		return false
	}
	r.add(Code, l)
	return true
}

// hides reports whether the line begins a comment, thoughts or front matter, and if
// so skips their content. What is never closed hides nothing.
func (r *Reader) hides(l line) bool {
	s := r.doc.Raw
	if s[l.first] == '<' {
		rest := s[l.first:]
		switch {
		case strings.HasPrefix(rest, "<!--"):
			return r.hide(0, l.first+4, "-->", l)
		case strings.HasPrefix(rest, "<think>"), strings.HasPrefix(rest, "<thinking>"):
			return r.hide(1, l.first, "</think", l)
		}
		return false
	}
	if l.start > 0 || s[:l.end] != "---" {
		return false
	}
	rest := s[min(len(s), l.end+1):]
	rest = rest[:min(len(rest), 4096)]
	end := strings.Index(rest, "\n---")
	if key, _, _ := strings.Cut(rest, "\n"); end < 0 || strings.IndexByte(key, ':') <= 0 {
		return false
	}
	r.blocks.hidden = l.end + 1 + end + len("\n---")
	return true
}

// hide skips everything up to the closing mark.
func (r *Reader) hide(kind, from int, mark string, l line) bool {
	b := &r.blocks
	if b.unended[kind] {
		return false
	}
	s := r.doc.Raw
	n := strings.Index(s[from:], mark)
	if n < 0 {
		b.unended[kind] = true
		return false
	}
	b.hidden = from + n + len(mark)
	for b.hidden < len(s) && s[b.hidden-1] != '>' && s[b.hidden] != '\n' {
		b.hidden++
	}
	if b.hidden < l.end {
		// The rest of the line is a line of its own.
		r.lines.at = b.hidden
	}
	return true
}

// tagsOnly reports whether the text is nothing but tags, such as "</details>".
func tagsOnly(s string) bool {
	if s[0] != '<' {
		return false
	}
	for len(s) > 0 {
		n := tagLen(s)
		if n == 0 {
			return false
		}
		s = strings.TrimLeft(s[n:], " \t")
	}
	return true
}

// tagLen returns the length of the tag or comment that s begins with, 0 if none.
func tagLen(s string) int {
	if len(s) < 3 || s[0] != '<' {
		return 0
	}
	if strings.HasPrefix(s, "<!--") {
		return 0
	}
	c := s[1]
	if c == '/' {
		c = s[2]
	}
	if c|0x20 < 'a' || c|0x20 > 'z' {
		return 0
	}
	end := strings.IndexAny(s[1:], "<>\n")
	if end < 0 || s[1+end] != '>' || end > 1000 || strings.Contains(s[:end], "://") ||
		strings.IndexByte(s[:end], '@') > 0 && s[1] != '/' && !strings.Contains(s[:end], "=") {
		return 0
	}
	return end + 2
}
