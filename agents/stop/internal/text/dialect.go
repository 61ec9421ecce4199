package text

import "strings"

// maxTitle is the longest line, in bytes, that can be a heading by its look.
const maxTitle = 120

// maxChain is how many markers of lists may be on one line.
const maxChain = 8

// dialect rewrites Markdown as agents write it to CommonMark: bullets beyond ASCII, lettered
// items, boxes without a bullet, headings of strong text and blank lines that were left out.
// Code and quotations become a placeholder that stands for all of their text.
type dialect struct {
	s   string // the text of in
	in  *source
	out *source
	// titles are the offsets, in out, of the headings that were marked by their look only.
	titles map[int]bool

	at      int    // offset of the next line
	open    int    // lines of the paragraph or item that the next line may continue
	last    string // the last of them
	inItem  bool   // it is the text of an item
	inList  bool   // the next line may belong to a list
	margin  int    // the column of the markers of that list
	quote   bool   // the last line was quoted
	row     bool   // the last line was a row of a table
	marker  int    // the column of the marker of the last numbered item, -1 if there is none
	content int    // and that of its text
	from    int    // lines indented by so many columns
	by      int    // are moved by so many
}

// rewrite appends all lines of in to out.
func (d *dialect) rewrite() {
	*d = dialect{s: string(d.in.text), in: d.in, out: d.out, titles: d.titles, marker: -1}
	unended := [len(comments)]bool{}
	for d.at < len(d.s) {
		if !d.hide(&unended) {
			d.line(d.next())
		}
	}
	d.endText()
}

// comments are what begins and ends text that is not shown.
var comments = [...][2]string{{"<!--", "-->"}, {"<think>", "</think>"}, {"<thinking>", "</thinking>"}}

// hide skips a comment or thoughts at the start of a line. Without its end it hides nothing.
func (d *dialect) hide(unended *[len(comments)]bool) bool {
	rest := strings.TrimLeft(d.s[d.at:], " \t")
	for k, c := range comments {
		if unended[k] || !strings.HasPrefix(rest, c[0]) {
			continue
		}
		n := strings.Index(rest, c[1])
		if unended[k] = n < 0; n >= 0 {
			d.at = len(d.s) - len(rest) + n + len(c[1])
			d.endText()
			return true
		}
	}
	return false
}

func (d *dialect) line(l line) {
	if l.text == "" || tagsOnly(l.text) {
		d.endText()
		return
	}
	quote, row := d.quote, d.row
	d.quote, d.row = false, false
	if quote && l.text[0] != '>' || row && !strings.Contains(l.text, "|") {
		d.endText()
	}
	if l.indent >= d.from {
		l.indent += d.by
	} else {
		d.from, d.by = 0, 0
	}
	switch c := l.text[0]; {
	case l.indent >= 4 && d.open == 0 && !d.inList: // indented code
		d.copy(l)
	case isFence(l.text):
		d.code(d.pad(l), l)
	case c == '#' && d.numberSigns(l):
	case c == '>':
		d.quoted(d.pad(l), l)
	case c == '|' || row || isDelimiters(l.text):
		d.tableRow(l, row)
	case d.underlines(l):
		d.copy(l)
		d.open = 0
	case only(l.text, '-'), only(l.text, '*'), only(l.text, '_'), only(l.text, '='):
		d.leaveList()
		d.put("***\n", l)
	case l.indent < 4 && len(l.text) <= maxTitle && strongLine().MatchString(l.text):
		d.leaveList()
		d.titles[len(d.out.text)] = true
		d.put("# ", l)
		d.copy(line{first: l.first, stop: l.stop})
	case !d.item(l):
		d.paragraph(l)
	}
}

// put appends a text that stands for the line.
func (d *dialect) put(text string, l line) {
	d.out.add(text, d.in.span(l.first, l.end))
}

func (d *dialect) copy(l line) {
	at := d.in.span(l.first, l.first)
	d.out.add(strings.Repeat(" ", l.indent), at)
	d.out.copy(d.in, l.first, l.stop)
	d.out.add("\n", Span{d.out.from[len(d.out.from)-1].End, d.out.from[len(d.out.from)-1].End})
}

// pad returns the space before a line, less than that of indented code outside of lists.
func (d *dialect) pad(l line) string {
	if !d.inList {
		return strings.Repeat(" ", min(l.indent, 3))
	}
	return strings.Repeat(" ", l.indent)
}

// endText makes the next line begin a block.
func (d *dialect) endText() {
	if n := len(d.out.from); n > 0 {
		d.out.add("\n", Span{d.out.from[n-1].End, d.out.from[n-1].End})
	}
	d.open, d.quote, d.row = 0, false, false
}

// leaveList makes the next line begin a block outside of lists.
func (d *dialect) leaveList() {
	d.endText()
	d.inList, d.inItem, d.marker = false, false, -1
}

// numberSigns reads "## Title". From two signs on the space may be missing.
func (d *dialect) numberSigns(l line) bool {
	title := strings.TrimLeft(l.text, "#")
	level := len(l.text) - len(title)
	if level > 6 || title != "" && title[0] != ' ' && (level < 2 || title[0] < 'A' || title[0] > 'Z') {
		return false
	}
	d.leaveList()
	d.out.copy(d.in, l.first, l.first+level)
	d.put(" ", line{first: l.first + level, end: l.first + level})
	d.copy(line{first: l.first + level, stop: l.end})
	return true
}

// quoted writes a placeholder for a line of a block quotation.
func (d *dialect) quoted(prefix string, l line) {
	if d.open > 0 && !d.quote {
		d.endText()
	}
	d.put(prefix+"> .\n", l)
	d.open, d.quote = 0, true
}

// tableRow writes a row of a table, or the line under its head.
func (d *dialect) tableRow(l line, row bool) {
	switch {
	case d.open == 0 && isDelimiters(l.text):
		return
	case d.open > 0 && !row && l.text[0] == '|':
		d.endText()
	}
	d.copy(l)
	d.row = true
	d.open++
}

// isDelimiters recognizes the line under the head of a table: "|---|:--:|".
func isDelimiters(s string) bool {
	return strings.Contains(s, "|") && strings.Contains(s, "-") && strings.Trim(s, "|:- ") == ""
}

// underlines reports whether a line is under a title. A line of hyphens after a sentence is
// a rule: its author left out the blank line.
func (d *dialect) underlines(l line) bool {
	if d.open == 0 || d.inList {
		return false
	}
	title := strings.TrimRight(d.last, "*_ ")
	return strings.Trim(l.text, "=") == "" || strings.Trim(l.text, "-") == "" && d.open == 1 && len(title) <= maxTitle &&
		title != "" && !strings.ContainsAny(title[len(title)-1:], ".!?:")
}

// only reports whether s consists of the byte c, three times at least, and space.
func only(s string, c byte) bool {
	return strings.Trim(s, string(c)+" ") == "" && strings.Count(s, string(c)) >= 3
}

// item writes a line that begins an item, or several: "- 1. text".
func (d *dialect) item(l line) bool {
	m, ok := itemMarker(l.text)
	if !ok {
		return false
	}
	if d.open > 0 && !d.inItem {
		// An unlikely first number is part of the text.
		if m.ordered && m.number > 1 && (m.number >= 100 || !startsSentence(l.text[m.text:])) {
			return false
		}
		d.endText()
	} else if d.open > 0 && m.ordered {
		d.endText()
	}
	if l.indent >= 4 && !d.inList {
		d.from, d.by = l.indent, -l.indent
		l.indent = 0
	}
	if !d.inList {
		d.margin, d.marker = l.indent, -1
	}
	switch {
	case m.ordered:
		d.marker, d.content = l.indent, l.indent+len(m.mark)
	case d.marker >= 0 && l.indent >= d.marker+2 && l.indent < d.content:
		// Under "1." people indent bullets by two or three columns, too few for Markdown.
		d.from, d.by = l.indent-d.by, d.content-l.indent+d.by
		l.indent = d.content
	case l.indent <= d.marker:
		d.marker = -1
	}
	d.open, d.last, d.inItem, d.inList = 1, l.text, true, true
	d.markers(l, m)
	return true
}

// markers writes the markers of a line and what follows them.
func (d *dialect) markers(l line, m marker) {
	prefix := strings.Repeat(" ", l.indent)
	for n := 1; ; n++ {
		prefix += m.mark
		l.first, l.text = l.first+m.text, l.text[m.text:]
		inner, ok := itemMarker(l.text)
		if !ok || inner.text == 0 || inner.text == len(l.text) {
			break
		}
		if n == maxChain {
			prefix += `\\` // what follows is text
			break
		}
		at := l.first - m.text
		d.out.add(prefix, d.in.span(at, at+1))
		prefix, m = "", inner
	}
	switch {
	case isFence(l.text):
		d.code(prefix, l)
	case strings.HasPrefix(l.text, ">"):
		d.quoted(prefix, l)
	default:
		d.out.add(prefix, d.in.span(l.first-m.text, l.first-m.text+1))
		d.copy(line{first: l.first, stop: l.stop})
	}
	if l.text == "" {
		d.open = 0
	}
}

// paragraph starts or continues a paragraph, or continues the text of an item. Markdown goes
// on with the item where no blank line is between, but a writer who starts a sentence at the
// margin means a new paragraph.
func (d *dialect) paragraph(l line) {
	switch {
	case d.open > 0 && d.inItem && l.indent <= d.margin && startsSentence(l.text):
		d.leaveList()
	case d.open == 0 && l.indent <= d.margin:
		d.inList, d.marker = false, -1
	}
	if d.open == 0 {
		d.inItem = false
	}
	d.copy(l)
	d.open++
	d.last = l.text
}
