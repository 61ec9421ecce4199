package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// mark is the meaning of the pictures in an item or a row.
type mark uint8

// The marks.
const (
	doneMark mark = 1 << iota
	badMark       // not done, or simply bad
	openMark      // in progress or to come
)

// marked finds items, rows and lines that a picture marks as open among others
// that are marked as done. Check boxes at the start of items are found by boxes.
func (r *reading) marked() {
	blocks := r.doc.Blocks
	for from := 0; from < len(blocks); {
		end := from + 1
		for end < len(blocks) && blocks[end].Kind == blocks[from].Kind && blocks[end].Lead == blocks[from].Lead {
			end++
		}
		switch blocks[from].Kind {
		case text.Item, text.Table:
			r.markedIn(r.blockUnits(from, end))
		case text.Paragraph:
			for i := from; i < end; i++ {
				r.markedIn(r.lineUnits(i))
			}
		default:
		}
		from = end
	}
}

// unit is an item, a row or a line with the meaning of its pictures.
type unit struct {
	span  Span
	block int
	mark  mark
	boxed bool // it has an open check box, which counts by itself
}

// blockUnits returns the blocks of one list or table that bear a mark.
func (r *reading) blockUnits(from, end int) []unit {
	units := r.units[:0]
	for i := from; i < end; i++ {
		b := &r.doc.Blocks[i]
		if m := boxMarks[b.Box] | pictures(excerptOf(r.doc.Raw, b.Span)); m != 0 {
			units = append(units, unit{Span(b.Span), i, m, b.Box == text.Begun || b.Box == text.Open})
		}
	}
	r.units = units
	return units
}

// lineUnits returns the lines of a paragraph that bear a mark.
func (r *reading) lineUnits(block int) []unit {
	at := r.doc.Blocks[block].Span
	raw := excerptOf(r.doc.Raw, at)
	if pictures(raw) == 0 || !strings.Contains(raw, "\n") {
		return nil
	}
	units := r.units[:0]
	for line := range strings.Lines(raw) {
		end := at.Start + len(line)
		if m := pictures(line); m != 0 {
			units = append(units, unit{span: Span{at.Start, at.Start + len(strings.TrimRight(line, "\r\n"))}, block: block, mark: m})
		}
		at.Start = end
	}
	r.units = units
	return units
}

// markedIn judges what is beside each other. A cross is taken for open only
// where ticks prevail: elsewhere it may separate bad from good. What has a tick beside
// another mark compares.
func (r *reading) markedIn(units []unit) {
	var count [doneMark | badMark | openMark + 1]int
	for _, u := range units {
		count[u.mark]++
	}
	crosses := count[doneMark] > 1 && count[badMark] < count[doneMark]
	if count[doneMark] == 0 || !crosses && count[openMark] == 0 {
		return
	}
	for _, u := range units {
		if u.boxed || u.mark != openMark && (u.mark != badMark || !crosses) {
			continue
		}
		r.evidence.see(pendingRows, u.span)
		m := mention{
			category: RemainingTasks, pattern: "mark", span: u.span, sentence: -1, block: u.block,
			form: box, real: true, why: "it is marked as open among others that are done", severity: Medium,
		}
		if b := &r.doc.Blocks[u.block]; b.Kind == text.Paragraph && b.End > b.First {
			m.form, m.sentence = prose, r.sentenceAt(b, u.span) // the line is the step, not its block
		}
		r.add(m)
	}
}

// sentenceAt returns the last sentence of the block that begins before the end of the
// span.
func (r *reading) sentenceAt(b *text.Block, at Span) int {
	s := b.First
	for s+1 < b.End && r.sentenceSpan(s+1).Start < at.End {
		s++
	}
	return s
}

// pictures returns the marks of a piece of the message.
func pictures(raw string) (m mark) {
	if strings.IndexByte(raw, '\xe2') < 0 && strings.IndexByte(raw, '\xf0') < 0 {
		return 0 // nothing of UTF-8 that could be a picture
	}
	for _, c := range raw {
		switch c {
		case '✅', '☑', '✔', '🟢':
			m |= doneMark
		case '❌', '🔴':
			m |= badMark
		case '⏳', '⌛', '🔜', '🚧', '🔲', '⬜', '🔄', '🟡':
			m |= openMark
		}
	}
	return m
}

var boxMarks = [...]mark{text.NoBox: 0, text.Open: openMark, text.Begun: openMark, text.Ticked: doneMark, text.Crossed: badMark}
