package main

import (
	"fmt"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"

	"github.com/rehearse-dev/rehearse/internal/tty"
)

// page is text that fits a terminal's width.
type page struct {
	b    strings.Builder
	term tty.Terminal
}

// line writes one line, cut if need be.
func (p *page) line(format string, args ...any) {
	p.b.WriteString(strings.TrimRight(tty.Cut(fmt.Sprintf(format, args...), p.term.Columns()), " "))
	p.b.WriteByte('\n')
}

// block writes text of any length, indented, with a mark before its first line.
func (p *page) block(indent int, mark, s string) {
	for line := range strings.SplitSeq(text.WrapSoft(s, p.term.Columns()-indent), "\n") {
		p.line("%-*s%s", indent, mark, strings.TrimSpace(line))
		mark = ""
	}
}
