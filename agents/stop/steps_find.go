package stop

import (
	"slices"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// extractor finds the pieces of work that mentions speak of.
type extractor struct {
	doc    *text.Doc
	small  *stepWords
	verbs  verbSets
	pieces []piece
	// finished reports whether the message reports an item as done.
	finished func(*text.Block) bool
	// taken items are whole steps: sentences in them are not further steps.
	taken map[int]bool
}

// maxPieces bounds the work on a message that is nothing but mentions.
const maxPieces = 4 * maxSteps

// readAll adds the pieces of the real mentions: first those of lists, which name
// what is left one by one, then those of sentences outside them.
func (x *extractor) readAll(mentions []mention) {
	for _, listed := range []bool{true, false} {
		for _, m := range mentions {
			lists := m.form == box || m.form == item || m.form == heading || m.form == lead
			if !m.real || lists != listed || m.block < 0 || m.block >= len(x.doc.Blocks) || x.within(m.block) {
				continue
			}
			x.read(m)
			if len(x.pieces) > maxPieces {
				return
			}
		}
	}
}

// within reports whether a block is, or is under, an item that is a step.
func (x *extractor) within(block int) bool {
	for range 8 {
		b := x.doc.Blocks[block]
		switch {
		case x.taken[block]:
			return true
		case b.Parent >= 0:
			block = b.Parent
		case b.Kind == text.Item && b.Section >= 0:
			block = b.Section
		default:
			return false
		}
	}
	return false
}

// read adds the pieces of one mention.
func (x *extractor) read(m mention) {
	switch m.form {
	case box, item:
		x.taken[m.block] = true
		x.whole(m.block, piece{category: m.category, listed: true})
	case heading:
		x.section(m)
	case lead:
		x.led(m)
	default:
		x.sentence(m)
	}
}

// whole adds a block as one piece like p: an item, or the longest cell of a row.
func (x *extractor) whole(block int, p piece) {
	first, end := x.firstSentence(block)
	if x.doc.Blocks[block].Kind == text.Table {
		first, end = x.longestCell(block)
	}
	end = min(end, first+maxWords)
	if first+1 < end && x.doc.Words[first].Flags&text.Digits != 0 && (x.doc.Blocks[block].Kind != text.Item || x.numbers(first, end, 0)) {
		first++
	}
	if x.parts(first, end, p) {
		return
	}
	first = x.afterLabel(first, end)
	if task := x.skipIntroduction(first, end); x.acts(task, end) && !x.is(first, causing) {
		first = task
	}
	p.first, p.end = first, x.clauseEnd(first, end)
	x.add(p)
}

// parts adds the parts of an inline list, if a range is one.
func (x *extractor) parts(first, end int, p piece) bool {
	parts := x.enumerated(first, end)
	if len(parts) < 2 {
		return false
	}
	p.listed = true
	for _, part := range parts {
		p.first, p.end = part.first, x.clauseEnd(part.first, part.end)
		x.add(p)
	}
	return true
}

// section adds the items of the section that a heading opens, or what is in
// the heading behind a colon, or the first sentence below it.
func (x *extractor) section(m mention) {
	if x.items(x.itemsUnder(m.block), m, firm) || x.rest(m) {
		return
	}
	next := m.block + 1
	if next < len(x.doc.Blocks) && x.doc.Blocks[next].Kind == text.Paragraph && x.doc.Blocks[next].Section == m.block {
		if first, end := x.firstSentence(next); x.acts(first, end) {
			x.split(first, end, piece{category: m.category}, true)
		}
	}
}

// led adds the items that a paragraph introduces, or what follows the mention.
func (x *extractor) led(m mention) {
	if !x.items(x.itemsLedBy(m.block), m, firm) {
		x.rest(m)
	}
}

// sentence adds what a mention in a sentence announces: the items that it
// introduces if it says nothing more itself, else the rest of the sentence.
func (x *extractor) sentence(m mention) {
	if m.sentence < 0 || m.sentence >= len(x.doc.Sentences) {
		x.whole(m.block, piece{category: m.category, rank: loose})
		return
	}
	s := x.doc.Sentences[m.sentence]
	at := x.wordAt(m.span.Start, s.First, s.End)
	first := x.skipIntroduction(at, s.End)
	p := piece{category: m.category, rank: rankOf(m)}
	introduces := m.category != FutureActions || x.fills(piece{first: first, end: s.End, rank: offered})
	if introduces && m.sentence+1 == x.doc.Blocks[m.block].End && x.items(x.itemsLedBy(m.block), m, max(p.rank, choiceIf(m.form == offer))) {
		return
	}
	if first < s.End && x.doc.Words[first].Fold == "know" {
		return // "let me know"
	}
	switch to := x.complement(at, s.End); {
	case x.acts(first, s.End) && (first != at || !listing(m.category)): // not "the test still fails"
	case to >= 0:
		first = to
	default:
		first = x.clauseStart(s.First, at)
		p.rank = max(p.rank, loose)
	}
	x.split(first, s.End, p, listing(m.category) && m.form != offer)
}

// rankOf returns the rank of a piece that a mention in a sentence names.
func rankOf(m mention) rank {
	switch {
	case m.form == offer:
		return offered
	case m.category == ConditionalIntentions,
		strings.HasPrefix(m.pattern, classNames[fails]), strings.HasPrefix(m.pattern, classNames[stub]):
		return loose
	}
	return firm
}

func choiceIf(is bool) rank {
	if is {
		return choice
	}
	return firm
}

// complement returns where the work begins in "the next step is to …" and "Ready for
// step 2: do …", -1 if it is not said that way.
func (x *extractor) complement(at, end int) int {
	const reach = 12
	for i := at; i+2 < min(end, at+reach); i++ {
		if i > at && x.gapHas(i, ":") && x.verbs.begins(x.doc.Words[i]) {
			return i
		}
		if w := x.doc.Words[i+1].Fold; x.is(i, copulas) && (w == "to" || w == "de" || w == "d") {
			return i + 2
		}
	}
	return -1
}

// rest adds what follows a mention in its block: an inline list, or the rest of
// the sentence.
func (x *extractor) rest(m mention) bool {
	b := x.doc.Blocks[m.block]
	if b.First >= b.End || m.sentence < b.First || m.sentence >= b.End {
		return false
	}
	s := x.doc.Sentences[m.sentence]
	last := x.doc.Sentences[b.End-1].End
	at := x.wordAt(m.span.End, s.First, last)
	n := len(x.pieces)
	p := piece{category: m.category}
	if x.parts(at, last, p) {
		return true
	}
	end := s.End
	if at >= end && m.sentence+1 < b.End { // the colon ended the sentence
		end = x.doc.Sentences[m.sentence+1].End
	}
	first := x.skipIntroduction(at, end)
	if !x.acts(first, end) {
		if to := x.complement(at, end); to >= 0 {
			first = to
		}
	}
	if first < end {
		x.split(first, end, p, true)
	}
	return len(x.pieces) > n
}

// items adds items as pieces of a rank and reports whether there were any.
func (x *extractor) items(items []int, m mention, r rank) bool {
	if len(items) == 0 {
		return false
	}
	chained := x.inOrder(m.block)
	if r == firm && m.category == RemainingTasks && !x.tasks(items) {
		r = state
	}
	for _, i := range items[:min(len(items), maxSteps)] {
		if b := &x.doc.Blocks[i]; b.Box == text.Ticked || x.finished != nil && b.Kind == text.Item && x.finished(b) {
			continue
		}
		x.taken[i] = x.taken[i] || r <= state && m.form != prose && m.form != offer
		x.whole(i, piece{category: m.category, rank: r, listed: true, chained: chained, list: m.block + 1})
	}
	return true
}

// tasks reports whether at least half of the items begin with a verb or have an
// open box.
func (x *extractor) tasks(items []int) bool {
	n := 0
	for _, i := range items {
		first, end := x.firstSentence(i)
		if x.doc.Blocks[i].Box != text.NoBox || x.acts(x.skipIntroduction(x.afterLabel(first, end), end), end) {
			n++
		}
	}
	return 2*n >= len(items)
}

// itemsUnder returns the outer items of the lists in the section of a heading,
// sections below it included, up to a rule behind a list. A numbered line that
// heads a list of its own is an item too, and then what is under it is not.
// Where there are check boxes, only items with one count.
func (x *extractor) itemsUnder(heading int) []int {
	blocks := x.doc.Blocks
	level := blocks[heading].Level
	var items []int
	under, boxes := -1, false
	for i := heading + 1; i < min(len(blocks), heading+maxBlocks) && len(items) <= maxSteps; i++ {
		b := blocks[i]
		if b.Kind == text.Heading && b.Level <= level && !x.numbered(i) || b.Kind == text.Rule && len(items) > 0 {
			break
		}
		sibling := under < 0 || b.Section != under || b.Ordered && b.Number == len(items)+1 && b.Number > 1
		switch {
		case b.Kind == text.Heading && x.numbered(i):
			items, under = append(items, i), i
		case b.Kind == text.Item && b.Parent < 0 && sibling:
			items = append(items, i)
			boxes = boxes || b.Box != text.NoBox
		}
	}
	if boxes {
		items = slices.DeleteFunc(items, func(i int) bool { return blocks[i].Box == text.NoBox })
	}
	return items
}

// numbered reports whether a heading begins with a number, as an item does.
func (x *extractor) numbered(block int) bool {
	first, end := x.firstSentence(block)
	return x.doc.Blocks[block].Level > 6 && first < end && x.numbers(first, end, 0)
}

// itemsLedBy returns the outer items of the list that a block introduces. An item
// that introduces a nested list leads the items below it. Paragraphs that count
// themselves are items too.
func (x *extractor) itemsLedBy(block int) []int {
	blocks := x.doc.Blocks
	var items []int
	for i := block + 1; i < min(len(blocks), block+maxBlocks) && len(items) <= maxSteps; i++ {
		b := blocks[i]
		led := b.Kind == text.Item && (b.Lead == block && b.Parent < 0 || b.Parent == block)
		if led || (b.Kind == text.Paragraph || b.Kind == text.Heading) && x.counts(i, len(items)+1) {
			items = append(items, i)
		} else if b.Kind == text.Heading || b.Kind == text.Paragraph && len(items) == 0 {
			break
		}
	}
	return items
}

// counts reports whether a paragraph begins with the number n.
func (x *extractor) counts(block, n int) bool {
	first, end := x.firstSentence(block)
	return end-first > 1 && x.doc.Words[first].Fold == strconv.Itoa(n)
}

// firstSentence returns the range of words of the first sentence of a block.
func (x *extractor) firstSentence(block int) (first, end int) {
	b := x.doc.Blocks[block]
	if b.First >= b.End {
		return 0, 0
	}
	s := x.doc.Sentences[b.First]
	return s.First, s.End
}

// longestCell returns the range of words of the cell with the most words.
func (x *extractor) longestCell(block int) (first, end int) {
	b := x.doc.Blocks[block]
	for _, s := range x.doc.Sentences[b.First:b.End] {
		if s.End-s.First > end-first {
			first, end = s.First, s.End
		}
	}
	return first, end
}

// wordAt returns the first word in a range that ends behind an offset.
func (x *extractor) wordAt(offset, first, end int) int {
	i, _ := slices.BinarySearchFunc(x.doc.Words[first:end], offset, func(w text.Word, at int) int {
		if w.End <= at {
			return -1
		}
		return 1
	})
	return first + i
}

// gap returns what is before a word, back to the word before it.
func (x *extractor) gap(i int) string {
	from := 0
	if i > 0 {
		from = x.doc.Words[i-1].End
	}
	to := x.doc.Words[i].Start
	return x.doc.Raw[max(from, to-maxGap):to]
}

// maxWords is how many words of one sentence are read for the steps in it.
const maxWords = 300

// maxBlocks is how many blocks behind its introduction a list is looked for.
const maxBlocks = 200

// maxGap is how far before a word its punctuation is looked for.
const maxGap = 32

// gapHas reports whether one of some characters is before a word.
func (x *extractor) gapHas(i int, chars string) bool {
	return x.doc.Words[i].Flags&text.AfterGap != 0 && strings.ContainsAny(x.gap(i), chars)
}

// listing reports whether several steps of one sentence are to be told apart: a
// sentence that says what is left is a list, one that announces what comes now is
// one step.
func listing(c Category) bool { return c == NextSteps || c == RemainingTasks || c == EnumerativeList }
