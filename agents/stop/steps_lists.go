package stop

import (
	"slices"
	"strconv"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// maxBlocks is how many blocks behind its introduction a list is looked for.
const maxBlocks = 200

// itemsOf returns the items of the list that a block introduces, or of all lists in the
// section of a heading, sections below it included, up to a rule behind a list.
// Numbered lines and paragraphs that count themselves are items, too. Of an item with a nested
// list, the item counts if it names a task, else the items below it. Where there are
// check boxes, only items with one count.
func (x *extractor) itemsOf(block int) []int {
	blocks := x.doc.Blocks
	titled := blocks[block].Kind == text.Heading
	in := map[int]bool{block: true} // the introduction, and items that only group others
	under := map[int]bool{}         // items that are tasks, and all that is below them
	var items []int
	heads, boxes := 0, false
scan:
	for i := block + 1; i < min(len(blocks), block+maxBlocks) && len(items) <= maxSteps; i++ {
		b := blocks[i]
		counts := x.counts(i, heads+1) || titled && x.numbered(i)
		switch {
		case b.Kind == text.Item:
			if !titled && b.Lead != block && !in[x.parent(i)] && !under[x.parent(i)] {
				continue
			}
		case (b.Kind == text.Paragraph || b.Kind == text.Heading) && counts:
		case b.Kind == text.Heading && (!titled || b.Level <= blocks[block].Level),
			b.Kind == text.Paragraph && !titled && heads == 0,
			b.Kind == text.Rule && titled && len(items) > 0:
			break scan
		default:
			continue
		}
		switch parent := x.parent(i); {
		case under[parent]:
			under[i] = true
		case x.groups(i):
			in[i] = true
		default:
			items, under[i] = append(items, i), true
			boxes = boxes || b.Box != text.NoBox
		}
		if parent := x.parent(i); parent < 0 || parent == block {
			heads++
		}
	}
	if boxes {
		items = slices.DeleteFunc(items, func(i int) bool { return blocks[i].Box == text.NoBox })
	}
	return items
}

// parent returns the item or the numbered line that an item is below, -1 if there is none.
func (x *extractor) parent(i int) int {
	b := x.doc.Blocks[i]
	switch {
	case b.Kind != text.Item || b.Parent >= 0:
		return b.Parent
	case b.Section < 0 || !x.numbered(b.Section), b.Ordered && b.Number > 1 && x.counts(b.Section, b.Number-1):
		return -1
	}
	return b.Section
}

// groups reports whether an item is a mere label of the items below it.
func (x *extractor) groups(i int) bool {
	const longest = 3 // words
	first, end := x.firstSentence(i)
	return i+1 < len(x.doc.Blocks) && x.parent(i+1) == i && end-first <= longest && !x.task(i)
}

// numbered reports whether a heading begins with a number, as an item does.
func (x *extractor) numbered(block int) bool {
	b := x.doc.Blocks[block]
	return b.Level > 6 && b.First < b.End && x.numbers(x.doc.Sentences[b.First].First, x.doc.Sentences[b.First].End, 0)
}

// counts reports whether a block begins with the number n.
func (x *extractor) counts(block, n int) bool {
	b := x.doc.Blocks[block]
	if b.First >= b.End {
		return false
	}
	s := x.doc.Sentences[b.First]
	return s.End-s.First > 1 && x.doc.Words[s.First].Fold == strconv.Itoa(n)
}
