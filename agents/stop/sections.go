package stop

import (
	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// backlog finds next steps and work that is left, in headings, lists and prose.
func (r *reading) backlog() {
	for s := range r.sentences {
		if h, ok := r.first(s, label); ok && !r.named(s) && (r.colonAfter(h, 0) || r.heads(s)) {
			r.backlogIn(s, h)
			continue
		}
		for _, class := range [...]grammar.Class{next, left} {
			if h, ok := r.first(s, class); ok {
				r.backlogIn(s, h)
			}
		}
		if r.heads(s) && !r.hasAny(s, next, left) {
			r.backlogHeading(s)
		}
	}
	r.boxes()
	r.marked()
}

// heads reports whether the sentence is a heading or introduces a list.
func (r *reading) heads(s int) bool {
	b := r.doc.Sentences[s].Block
	return r.doc.Blocks[b].Kind == text.Heading ||
		r.doc.Sentences[s].Ending == text.Colon && b+1 < len(r.doc.Blocks) && r.doc.Blocks[b+1].Lead == b
}

// backlogHeading judges a heading that says by its form alone that work is left:
// "Not finished", "Open".
func (r *reading) backlogHeading(s int) {
	if h, ok := r.first(s, undone); ok {
		r.backlogIn(s, h)
	} else if h, ok := r.first(s, cell); ok && r.listUnder(r.doc.Sentences[s].Block, s).items > 1 {
		r.backlogIn(s, h)
	}
}

// named reports whether the sentence names next steps, or work that is left, with
// more than one word.
func (r *reading) named(s int) bool {
	h, ok := r.first(s, next)
	return r.has(s, left) || ok && h.End-h.First > 1
}

func categoryOf(class grammar.Class) Category {
	if class == next {
		return NextSteps
	}
	return RemainingTasks
}

// backlogIn judges a phrase that names next steps or work that is left.
func (r *reading) backlogIn(s int, h grammar.Hit) {
	m := r.mention(categoryOf(h.Class), h)
	b := r.block(s)
	sentence := &r.doc.Sentences[s]
	list := r.listUnder(m.block, s)
	leads := b.Kind == text.Heading || sentence.Ending == text.Colon ||
		sentence.End-sentence.First <= shortLabel && list.items+list.finished > 0 && sentence.Ending == text.None ||
		r.startsWith(s, h) && r.colonAfter(h, 2)
	switch {
	case b.Kind == text.Table:
		return
	case r.isReference(s, h):
		m.why = "it names a document or a part of one, or says that nothing is left"
	case r.before(s, h.First, past):
		m.why = "it tells what was said before"
	case r.before(s, h.First, condition, user):
		m.real, m.why = true, "it depends on something"
	case leads && h.Class == left && r.has(s, known):
		m.why = "it lists what is old or expected"
	case r.answering() && m.form != box:
		m.why = "the message answers a question"
	case leads && h.Class == left && r.describes(s, h):
		m.why = "it describes what there is"
	case leads && list.items+list.finished == 0 && r.delivered(m.block):
		m.why = "what it heads is shown"
	case leads && list.nothing:
		m.why = "it says that nothing is left"
	case leads && (list.items+list.inline > 0 || list.finished > 0):
		m.form = lead
		if b.Kind == text.Heading {
			m.form = heading
		}
		r.judgeList(&m, h, list)
		if m.real && list.items+list.user+list.asks > 1 {
			whole := m
			whole.category = EnumerativeList
			r.add(whole)
		}
	case b.Kind == text.Heading:
		m.form = heading
		m.real, m.severity, m.why = true, Medium, "it heads a section"
		r.evidence.see(nextMention, m.span)
	case h.Class == next && b.Kind == text.Item && !r.hasAny(s, announce, need, could, left):
		m.why = "an item that only names them"
	case h.End-h.First == 1 && h.Class == next || h.Class == label || h.Class == undone || h.Class == cell:
		m.why = "a word of order"
	default:
		r.judgeSentence(&m, h, s)
	}
	r.add(m)
}

// shortLabel is how many words a line may have that heads a list without a colon.
const shortLabel = 6

// list is what is under a heading or a lead.
type list struct {
	items    int // that the agent could do
	user     int // that only the user can do
	finished int // reported as done
	ticked   int // of them, by a check box
	tasks    int // of the items, those that begin with what is to be done
	asks     int // questions
	inline   int // words that follow in the sentence itself, or sentences of a section
	optional bool
	forUser  bool
	nothing  bool // "none"
}

// listUnder counts the items that the block introduces or heads.
func (r *reading) listUnder(b, s int) list {
	var l list
	l.flags(r, s)
	if h := r.doc.Sentences[s]; r.doc.Blocks[b].Kind != text.Heading {
		for _, w := range r.doc.Words[h.First:h.End] {
			if w.Flags&text.AfterGap != 0 {
				l.inline = h.End - h.First
				break
			}
		}
		if s+1 < r.doc.Blocks[b].End || h.Ending == text.Colon && s+1 < len(r.sentences) {
			l.inline++
		}
	}
	for i := b + 1; i < len(r.doc.Blocks) && i < b+200; i++ {
		item := &r.doc.Blocks[i]
		if item.Lead != b && item.Section != b {
			if endsList(&r.doc.Blocks[b], item) {
				break
			}
			continue
		}
		switch item.Kind {
		case text.Item:
			if item.Parent < 0 {
				l.item(r, item)
			}
		case text.Paragraph, text.Heading:
			for k := item.First; k < item.End; k++ {
				if l.inline == 0 && l.items == 0 || r.doc.Sentences[k].Ending == text.Colon {
					l.flags(r, k)
				}
				l.inline++
				n := r.doc.Sentences[k].End - r.doc.Sentences[k].First
				l.nothing = l.nothing || l.items == 0 && n > 0 && r.beginsWithNothing(k)
			}
		default:
		}
	}
	return l
}

// endsList reports whether next, which is not part of what a block introduces, ends it.
func endsList(block, next *text.Block) bool {
	if block.Kind == text.Heading {
		return next.Kind == text.Heading && next.Level <= block.Level
	}
	return next.Parent < 0 && next.Kind != text.Code
}

func (l *list) flags(r *reading, s int) {
	l.optional = l.optional || r.hasAny(s, optional, could, offers)
	l.forUser = l.forUser || r.has(s, you)
	if r.doc.Sentences[s].Ending == text.Question {
		l.asks++
	}
}

func (l *list) item(r *reading, item *text.Block) {
	if item.End == item.First {
		return
	}
	s := item.First
	switch {
	case r.finishedItem(item):
		l.finished++
		if item.Box == text.Ticked {
			l.ticked++
		}
	case r.doc.Sentences[item.End-1].Ending == text.Question:
		l.asks++
	case r.has(s, you) && !r.ownAim(s):
		l.user++
	default:
		l.items++
		if at := r.doc.Sentences[s]; r.firstVerb(at.First, at.End) >= 0 {
			l.tasks++
		}
	}
	if r.has(s, optional) && l.items+l.user <= 1 {
		l.optional = true
	}
}

// done reports whether the list reports finished work: half of its items or more say
// so, and none of the others names something to do. Open boxes count by themselves.
func (l *list) done() bool {
	return l.finished > 0 && l.finished >= l.items+l.user && (l.tasks == 0 || l.ticked > 0)
}

// beginsWithNothing reports whether a sentence begins with "none", "rien" or the like.
func (r *reading) beginsWithNothing(s int) bool {
	h, ok := r.first(s, negation)
	return ok && int(h.First) == r.doc.Sentences[s].First && r.isNothing(h)
}

// judgeList judges a list of next steps or of what is left.
func (r *reading) judgeList(m *mention, h grammar.Hit, l list) {
	m.real, m.severity = true, High
	switch {
	case l.done():
		m.real, m.severity, m.why = false, Low, "its items are reported as done"
	case l.asks > 0 && l.items == 0:
		m.severity, m.why = Low, "it asks the user"
		r.evidence.see(nextOptional, m.span)
	case l.optional:
		m.severity, m.why = Medium, "it lists what could be done"
		r.evidence.see(nextOptional, m.span)
	case l.forUser || l.user > l.items:
		m.severity, m.why = Low, "it lists what the user can do"
		r.evidence.see(nextUser, m.span)
	case h.Class == next:
		m.why = "it lists steps that were not taken"
		r.evidence.see(nextOwn, m.span)
	default:
		m.why = "it lists work that is left"
		r.evidence.see(leftSection, m.span)
	}
}

// judgeSentence judges a mention in running text.
func (r *reading) judgeSentence(m *mention, h grammar.Hit, s int) {
	m.real, m.severity = true, Medium
	switch {
	case r.doc.Sentences[s].Ending == text.Question:
		m.form, m.severity, m.why = offer, Low, "it asks the user"
	case r.before(s, h.First, condition, optional) || r.has(s, user):
		m.severity, m.why = Low, "it depends on the user"
	case h.Class == left && r.has(s, known):
		m.severity, m.why = Low, "it is old or expected"
	case h.Class == next && r.near(s) && r.isNext(s, h) && !r.hasAny(s, optional, you):
		m.why = "it says what comes next"
		r.evidence.see(nextIs, m.span)
	case h.Class == next:
		m.why = "it names what comes next"
		r.evidence.see(nextMention, m.span)
	default:
		m.why = "it says that work is left"
		if r.near(s) {
			r.evidence.see(leftNear, m.span)
		} else if r.after(s) <= 8 || s < 3 {
			r.evidence.see(leftFar, m.span)
		}
	}
}

// boxes finds check boxes that are not ticked, and rows of a table that say that
// something is not done.
func (r *reading) boxes() {
	todo := -1 // the column of the current table whose head says so
	for i := range r.doc.Blocks {
		b := &r.doc.Blocks[i]
		switch {
		case b.Kind == text.Item && (b.Box == text.Open || b.Box == text.Begun):
			r.evidence.see(openBoxes, Span(b.Span))
			r.add(mention{
				category: RemainingTasks, pattern: "box", span: Span(b.Span), sentence: b.First, block: i,
				form: box, real: true, why: "its box is not ticked", severity: High,
			})
		case b.Header:
			todo = r.todoColumn(b)
		case b.Kind == text.Table || b.Kind == text.Item && b.End > b.First && r.has(b.First, cell):
			r.row(b, todo)
		default:
			todo = -1
		}
	}
}

// todoColumn returns the column of the head of a table that says that what is below it is not
// done, -1 if there is none, or if another one says that it is done: such tables count.
func (r *reading) todoColumn(head *text.Block) int {
	column := -1
	for s := head.First; s < head.End; s++ {
		switch {
		case r.has(s, done):
			return -1
		case r.has(s, cell):
			column = r.doc.Sentences[s].Column
		}
	}
	return column
}

// row adds a mention of a row that says that it is not done, or whose cell in the column todo
// names work.
func (r *reading) row(b *text.Block, todo int) {
	for s := b.First; s < b.End; s++ {
		at := r.doc.Sentences[s]
		h, ok := r.first(s, cell)
		if !ok {
			h, ok = r.first(s, left)
		}
		_, reported := r.report(s)
		open := !reported && !r.has(s, negation)
		m := mention{category: RemainingTasks, pattern: "column", span: Span(at.Span), block: at.Block}
		switch {
		case ok && (h.Class == cell || open):
			m = r.mention(RemainingTasks, h)
		case b.Kind != text.Table || at.Column != todo || at.End-at.First < 2 || !open || r.has(s, done):
			continue
		}
		m.form, m.real, m.why, m.severity, m.sentence = box, true, "a row that is not done", Medium, -1
		r.evidence.see(pendingRows, m.span)
		r.add(m)
		return
	}
}
