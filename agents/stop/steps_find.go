package stop

import (
	"slices"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// extractor finds the pieces of work that mentions speak of.
type extractor struct {
	doc    *text.Doc
	pieces []piece
	// finished reports whether the message reports an item as done.
	finished func(*text.Block) bool
}

// Bounds of the work on long messages.
const (
	maxPieces = 4 * maxSteps
	maxWords  = 300 // words of one sentence that are read for the steps in it
	maxGap    = 32  // bytes before a word in which its punctuation is looked for
)

// read adds the pieces of the real mentions.
func (x *extractor) read(mentions []mention) {
	for _, m := range mentions {
		if !m.real || m.block < 0 || m.block >= len(x.doc.Blocks) || len(x.pieces) > maxPieces {
			continue
		}
		p := piece{category: m.category}
		if m.form == box || m.form == item || m.sentence < 0 || m.sentence >= len(x.doc.Sentences) {
			if !x.over(m.block) {
				x.whole(m.block, p)
			}
			continue
		}
		p.since = x.doc.Sentences[m.sentence].First
		if m.form != heading && m.form != lead {
			x.sentence(m, p)
			continue
		}
		p.passing = m.category == FutureActions
		if !x.items(m, p) && !x.rest(m, p) {
			x.below(m.block, p)
		}
	}
}

// whole adds a block as one piece like p: an item, or the cell of a row that names
// the step.
func (x *extractor) whole(block int, p piece) {
	first, end := x.firstSentence(block)
	if x.doc.Blocks[block].Kind == text.Table {
		first, end = x.cell(block)
	}
	end = min(end, first+maxWords)
	if !x.parts(first, end, p) {
		p.first, p.end = first, end
		x.add(p, true)
	}
}

// below adds the first sentence of the paragraph below a heading.
func (x *extractor) below(heading int, p piece) {
	next := heading + 1
	if next < len(x.doc.Blocks) && x.doc.Blocks[next].Kind == text.Paragraph && x.doc.Blocks[next].Section == heading {
		if first, end := x.firstSentence(next); x.acts(first, end) {
			x.split(first, end, p, true)
		}
	}
}

// sentence adds what a mention in a sentence announces: the items that it
// introduces if it says nothing more itself, else the rest of the sentence.
func (x *extractor) sentence(m mention, p piece) {
	s := x.doc.Sentences[m.sentence]
	need := strings.HasPrefix(m.pattern, classNames[need])
	p.offered = m.form == offer
	p.passing = !p.offered && (m.category == FutureActions || need)
	switch {
	case p.offered:
		p.rank = open
	case m.category == ConditionalIntentions:
		p.rank = loose
	}
	at := x.wordAt(m.span.Start, s.First, s.End)
	first := x.skipIntroduction(at, s.End)
	if m.sentence+1 == x.doc.Blocks[m.block].End && x.items(m, p) {
		return
	}
	if first < s.End && x.doc.Words[first].Fold == "know" {
		return // "let me know"
	}
	if !x.acts(first, s.End) || strings.HasPrefix(m.pattern, signalPattern) {
		p.rank, first = max(p.rank, loose), s.First
	}
	if m.category == FutureActions && !p.offered {
		x.announced(at, first, s, p)
		return
	}
	x.split(first, s.End, p, m.category != ConditionalIntentions && !p.offered)
}

// announced adds the pieces of a sentence from its word first on, which a phrase at the word
// at announces. A colon before a capital ends an announcement, and another may follow: "Let me
// look at the log: Now let me fix it:".
func (x *extractor) announced(at, first int, s text.Sentence, p piece) {
	const shortest = 3 // words
	for {
		end := first + 1
		for end < s.End && (x.doc.Words[end].Flags&text.Capital == 0 || !x.gapHas(end, ":")) {
			end++
		}
		if end-first <= shortest && x.fills(piece{first: first, end: end}) { // "Let me fix this"
			p.first, p.end = at, end
			x.add(p, true)
		} else {
			x.split(first, end, p, false)
		}
		for at = end; ; at++ {
			if at >= s.End {
				return
			}
			first = x.skipIntroduction(at, s.End)
			if first > at && x.acts(first, s.End) && x.gapHas(at, ":") {
				break
			}
		}
		p.since = at
	}
}

// rest adds what follows a mention in its block: an inline list, or the rest of
// the sentence.
func (x *extractor) rest(m mention, p piece) bool {
	b := x.doc.Blocks[m.block]
	s := x.doc.Sentences[m.sentence]
	last := x.doc.Sentences[b.End-1].End
	at := x.wordAt(m.span.End, s.First, last)
	if x.parts(at, last, p) {
		return true
	}
	end := s.End
	if at >= end && m.sentence+1 < b.End { // the colon ended the sentence
		end = x.doc.Sentences[m.sentence+1].End
	}
	n := len(x.pieces)
	p.passing = p.passing || m.category == NextSteps
	x.split(x.skipIntroduction(at, end), end, p, true)
	return len(x.pieces) > n
}

// items adds the items of the list that a mention introduces and reports whether there
// are any, done ones included.
func (x *extractor) items(m mention, p piece) bool {
	items := x.itemsOf(m.block)
	switch {
	case p.offered:
		p.rank = max(p.rank, open)
	case p.rank == firm && m.category == RemainingTasks && !x.tasks(items):
		p.rank = open
	}
	p.chained, p.list = x.inOrder(m.block), m.block+1
	for n, i := range items[:min(len(items), maxSteps)] {
		if x.over(i) {
			continue
		}
		p.number = n + 1
		if b := x.doc.Blocks[i]; b.Ordered {
			p.number = b.Number
		}
		x.whole(i, p)
	}
	return len(items) > 0
}

// over reports whether an item is reported as done, or struck out.
func (x *extractor) over(block int) bool {
	b := &x.doc.Blocks[block]
	raw := strings.TrimRight(excerptOf(x.doc.Raw, b.Span), " \r\n\ufe0f")
	_, mark := utf8.DecodeLastRuneInString(raw)
	return b.Box == text.Ticked || b.Kind == text.Item && (strings.Count(raw, "~~") > 1 && strings.HasSuffix(raw, "~~") ||
		pictures(raw[len(raw)-mark:]) == doneMark || x.finished != nil && x.finished(b))
}

// tasks reports whether at least half of the items begin with a verb or have an
// open box.
func (x *extractor) tasks(items []int) bool {
	n := 0
	for _, i := range items {
		if x.doc.Blocks[i].Box != text.NoBox || x.task(i) {
			n++
		}
	}
	return 2*n >= len(items)
}

// task reports whether an item begins with a verb.
func (x *extractor) task(item int) bool {
	first, end := x.firstSentence(item)
	return x.acts(x.skipIntroduction(first, end), end)
}

// firstSentence returns the range of words of the first sentence of a block, without the number
// of an item.
func (x *extractor) firstSentence(block int) (first, end int) {
	b := x.doc.Blocks[block]
	if b.First >= b.End {
		return 0, 0
	}
	s := x.doc.Sentences[b.First]
	first = s.First
	if first+1 < s.End && (x.numbers(first, s.End, 0) || b.Kind != text.Item && x.doc.Words[first].Flags&text.Digits != 0) {
		first++
	}
	return first, s.End
}

func (x *extractor) sentenceOf(word int) text.Sentence {
	return x.doc.Sentences[sort.Search(len(x.doc.Sentences)-1, func(i int) bool { return x.doc.Sentences[i].End > word })]
}

// wordAt returns the first word in a range that ends behind an offset.
func (x *extractor) wordAt(offset, first, end int) int {
	return first + sort.Search(end-first, func(i int) bool { return x.doc.Words[first+i].End > offset })
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

// gapHas reports whether one of some characters is before a word.
func (x *extractor) gapHas(i int, chars string) bool {
	return x.doc.Words[i].Flags&text.AfterGap != 0 && strings.ContainsAny(x.gap(i), chars)
}

// cell returns the range of words of the cell of a row that names the step: the longest
// of the columns that the head of the table calls so, else the longest of all.
func (x *extractor) cell(row int) (first, end int) {
	head := row
	for head > 0 && !x.doc.Blocks[head].Header && x.doc.Blocks[head-1].Kind == text.Table {
		head--
	}
	named := map[int]bool{}
	for _, s := range x.sentencesOf(head) {
		words := x.doc.Words[s.First:s.End]
		named[s.Column] = head < row && slices.ContainsFunc(words, func(w text.Word) bool { return titleWords[w.Fold] })
	}
	best := -1
	for _, s := range x.sentencesOf(row) {
		size := s.End - s.First
		if named[s.Column] && x.doc.Words[s.End-1].Flags&text.Digits == 0 {
			size += maxWords
		}
		if size > best {
			first, end, best = s.First, s.End, size
		}
	}
	return first, end
}

// sentencesOf returns the first sentences of a row.
func (x *extractor) sentencesOf(row int) []text.Sentence {
	b := x.doc.Blocks[row]
	return x.doc.Sentences[b.First:min(b.End, b.First+maxSteps)]
}
