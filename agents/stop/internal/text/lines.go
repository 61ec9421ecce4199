package text

import "strings"

// line is a line of a text.
type line struct {
	first  int    // offset of the first character that is not a space
	end    int    // of the text, without the space at its end
	stop   int    // of the line, without the line break
	indent int    // columns of space before the text; a tab goes to the next multiple of 4
	text   string // from first to end
}

// next reads the next line.
func (d *dialect) next() line {
	l := line{first: d.at, stop: len(d.s)}
	if n := strings.IndexByte(d.s[d.at:], '\n'); n >= 0 {
		l.stop = d.at + n
	}
	d.at = min(l.stop+1, len(d.s))
	for ; l.first < l.stop && (d.s[l.first] == ' ' || d.s[l.first] == '\t'); l.first++ {
		l.indent++
		for d.s[l.first] == '\t' && l.indent%4 > 0 {
			l.indent++
		}
	}
	l.text = strings.TrimRight(d.s[l.first:l.stop], " \t")
	l.end = l.first + len(l.text)
	return l
}

// fence is the line that opens a fenced code block.
type fence struct {
	mark  byte
	size  int
	holds bool // it contains Markdown, which may contain fences
}

// readFence reads "```go"; the size is 0 if s is not a fence.
func readFence(s string) (f fence) {
	tag := strings.TrimLeft(s, s[:min(1, len(s))])
	f.size = len(s) - len(tag)
	if f.size < 3 || s[0] != '`' && s[0] != '~' || s[0] == '`' && strings.Contains(tag, "`") {
		return fence{}
	}
	f.mark = s[0]
	tag = strings.TrimSpace(tag)
	f.holds = strings.EqualFold(tag, "markdown") || strings.EqualFold(tag, "md")
	return f
}

func isFence(s string) bool { return readFence(s).size > 0 }

// code reads a fenced code block that begins with the line, and writes a placeholder for it.
// A fence of Markdown may contain fences: agents wrap whole documents, and only the tags show
// which fence opens and which closes.
func (d *dialect) code(prefix string, l line) {
	if d.open > 0 && !d.inItem {
		d.endText()
	}
	f, depth := readFence(l.text), 0
	for d.at < len(d.s) && depth >= 0 {
		next := d.next()
		if next.text == "" {
			continue
		}
		l.end = next.end
		inner := readFence(next.text)
		switch {
		case inner.mark != f.mark:
		case len(next.text) > inner.size:
			if f.holds && inner.size <= f.size {
				depth++
			}
		case depth > 0 || inner.size >= f.size:
			depth--
		}
	}
	pad := strings.Repeat(" ", len(prefix))
	d.put(prefix+"```\n"+pad+".\n"+pad+"```\n", l)
	d.open = 0
}

// tagsOnly reports whether the text is nothing but tags, such as "</details>".
func tagsOnly(s string) bool {
	for len(s) > 0 {
		n := tagLen(s)
		if n == 0 {
			return false
		}
		s = strings.TrimLeft(s[n:], " \t")
	}
	return true
}
