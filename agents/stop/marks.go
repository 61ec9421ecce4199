package stop

import (
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// mark is what the pictures of an item or a row say of it.
type mark uint8

// The marks.
const (
	doneMark mark = 1 << iota
	badMark       // not done, or simply bad
	openMark      // under way or to come
)

// marked finds items and rows that a picture marks as open in a list or a table
// that marks others as done. Check boxes at the start of items are found by boxes.
func (r *reading) marked() {
	blocks := r.doc.Blocks
	for from := 0; from < len(blocks); {
		end := from + 1
		for end < len(blocks) && blocks[end].Kind == blocks[from].Kind && blocks[end].Lead == blocks[from].Lead {
			end++
		}
		if kind := blocks[from].Kind; kind == text.Item || kind == text.Table {
			r.markedIn(from, end)
		}
		from = end
	}
}

// markedIn judges the items or rows of one list or table. A cross is taken for
// open only where ticks prevail: elsewhere it may tell bad from good. What has a
// tick beside another mark compares.
func (r *reading) markedIn(from, end int) {
	var count [doneMark | badMark | openMark + 1]int
	for i := from; i < end; i++ {
		count[r.mark(&r.doc.Blocks[i])]++
	}
	crosses := count[doneMark] > 1 && count[badMark] < count[doneMark]
	if count[doneMark] == 0 || !crosses && count[openMark] == 0 {
		return
	}
	for i := from; i < end; i++ {
		b := &r.doc.Blocks[i]
		m := r.mark(b)
		if b.Box == text.Begun || b.Box == text.Open || m != openMark && (m != badMark || !crosses) {
			continue
		}
		r.evidence.see(pendingRows, Span(b.Span))
		r.add(mention{
			category: RemainingTasks, pattern: "mark", span: Span(b.Span), sentence: -1, block: i,
			form: box, real: true, why: "it is marked as open among others that are done", severity: Medium,
		})
	}
}

// mark reads the box and the pictures of a block.
func (r *reading) mark(b *text.Block) mark {
	m := boxMarks[b.Box]
	raw := excerptOf(r.doc.Raw, b.Span)
	if strings.IndexByte(raw, '\xe2') < 0 && strings.IndexByte(raw, '\xf0') < 0 {
		return m // nothing of UTF-8 that could be a picture
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
