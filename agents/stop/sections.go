package stop

import (
	"strings"

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
}

// heads says whether the sentence is a heading or introduces a list.
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

// named says whether the sentence names next steps, or work that is left, with
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

// list is what stands under a heading or a lead.
type list struct {
	items    int // that the agent could do
	user     int // that only the user can do
	finished int // reported as done
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
		under := item.Lead == b || item.Section == b
		if !under && (item.Kind == text.Heading && r.doc.Blocks[b].Kind == text.Heading && item.Level <= r.doc.Blocks[b].Level || r.doc.Blocks[b].Kind != text.Heading && item.Parent < 0 && item.Kind != text.Code) {
			break
		}
		if !under {
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
		}
	}
	return l
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
	case item.Box == text.Ticked || r.has(s, done) && !r.hasAny(s, left, need, fails):
		l.finished++
	case r.doc.Sentences[item.End-1].Ending == text.Question:
		l.asks++
	case r.has(s, you):
		l.user++
	default:
		l.items++
	}
	if r.has(s, optional) && l.items+l.user <= 1 {
		l.optional = true
	}
}

// beginsWithNothing says whether a sentence begins with "none", "rien" or the like.
func (r *reading) beginsWithNothing(s int) bool {
	h, ok := r.first(s, negation)
	return ok && int(h.First) == r.doc.Sentences[s].First && r.isNothing(h)
}

// judgeList judges a list of next steps or of what is left.
func (r *reading) judgeList(m *mention, h grammar.Hit, l list) {
	m.real, m.severity = true, High
	switch {
	case l.finished > 0 && l.finished >= l.items+l.user:
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

// isNext says whether a form of "to be" follows the phrase: what comes next is
// said then.
func (r *reading) isNext(s int, h grammar.Hit) bool {
	end := min(int(h.End)+3, r.doc.Sentences[s].End)
	for _, w := range r.doc.Words[h.End:end] {
		switch w.Fold {
		case "is", "are", "will", "est", "sont", "sera", "seront", "consiste", "consistent":
			return true
		}
	}
	return false
}

// describes says whether the sentence says what the things left are, and not
// that they are undone: "the remaining tests are unit tests:".
func (r *reading) describes(s int, h grammar.Hit) bool {
	if r.hasAny(s, fails, need, undone) || r.doc.Sentences[s].Ending != text.Colon {
		return false
	}
	for _, w := range r.doc.Words[h.End:r.doc.Sentences[s].End] {
		if w.Fold == "are" || w.Fold == "is" || w.Fold == "sont" || w.Fold == "est" {
			return true
		}
	}
	return false
}

// isReference says whether a phrase names no work: nothing is left, a document
// has such a section, the past is told.
func (r *reading) isReference(s int, h grammar.Hit) bool {
	if h.Class == left && r.finished(s, h) || r.nothingLeft(s, h) {
		return true
	}
	if lead := r.block(s).Lead; lead >= 0 && r.doc.Blocks[lead].End > r.doc.Blocks[lead].First &&
		r.hasAny(r.doc.Blocks[lead].End-1, document, answers) && h.Class == next {
		return true
	}
	if int(h.First) > r.doc.Sentences[s].First && r.doc.Words[h.First-1].Flags&text.Digits != 0 && r.doc.Words[h.First-1].Fold == "0" {
		return true
	}
	for _, p := range r.phrases(s) {
		if p.Class == done && h.Class == next && p.End <= h.First && !r.gapBetween(p.End, h.First) {
			return true
		}
		reach := int32(2)
		if h.Class != next {
			reach = 1
		}
		near := p.End <= h.First && h.First-p.End <= reach && !r.gapBetween(p.End, h.First) ||
			p.First >= h.End && p.First-h.End < reach && !r.gapBetween(h.End, p.First)
		subject := p.End <= h.First && r.isVerbal(h)
		if near && (p.Class == document && !subject || p.Class == negation && p.First < h.First || p.Class == history && p.End <= h.First) {
			return true
		}
	}
	return false
}

// finished says whether the sentence says that what is left is done: "the
// remaining cases were fixed", "fixed it, the last remaining issue".
func (r *reading) finished(s int, h grammar.Hit) bool {
	if r.hasAny(s, fails, need, undone) {
		return false
	}
	switch r.doc.Words[max(int(h.First)-1, r.doc.Sentences[s].First)].Fold {
	case "last", "final", "dernier", "derniere":
		return !r.isNext(s, h) && !r.colonAfter(h, 3)
	}
	d, ok := r.first(s, done)
	return ok && !r.has(s, negation) && d.First >= h.End && d.First-h.End <= 12 && r.doc.Words[h.First].Fold != "still"
}

// isVerbal says whether a phrase begins with a verb or a negation: a document
// before it is its subject then, as in "the page is not done".
func (r *reading) isVerbal(h grammar.Hit) bool {
	switch r.doc.Words[h.First].Fold {
	case "is", "are", "was", "were", "has", "have", "isn", "aren", "hasn", "haven", "not", "never", "still", "yet", "need",
		"needs", "remain", "remains", "n", "ne", "est", "sont", "reste", "restent", "pas", "a", "doit", "doivent", "manque":
		return true
	default:
		return false
	}
}

// nothingLeft says whether the phrase is followed by "nothing" or the like.
func (r *reading) nothingLeft(s int, h grammar.Hit) bool {
	for _, p := range r.phrases(s) {
		if h.Class == undone && p.First >= h.First && p.End <= h.End {
			continue // "nothing was tested"
		}
		if p.Class == negation && h.Class != next && h.First-p.End <= 2 && p.First-h.End <= 2 && r.isNothing(p) &&
			(p.First < h.End || !r.gapBetween(h.End, p.First) || r.colonAfter(h, 0)) {
			return true
		}
	}
	return false
}

// isNothing says whether a negation is one of things: "none", "rien".
func (r *reading) isNothing(h grammar.Hit) bool {
	switch r.doc.Words[h.First].Fold {
	case "nothing", "none", "nobody", "rien", "aucun", "aucune":
		return true
	default:
		return false
	}
}

// startsWith says whether a phrase begins its sentence, small words apart.
func (r *reading) startsWith(s int, h grammar.Hit) bool {
	return int(h.First)-r.doc.Sentences[s].First <= 2
}

// colonAfter says whether a colon follows the phrase within its sentence, behind
// so many words at most.
func (r *reading) colonAfter(h grammar.Hit, words int) bool {
	s := &r.doc.Sentences[h.Sentence]
	end := s.Span.End
	if after := int(h.End) + words; after < s.End {
		end = r.doc.Words[after].Start
	}
	at := r.span(h.First, h.End).End
	return at <= end && strings.Contains(r.doc.Raw[at:end], ":")
}

// gapBetween says whether a comma, a colon or the like stands before one of the
// words from first to last.
func (r *reading) gapBetween(first, last int32) bool {
	for _, w := range r.doc.Words[first : last+1] {
		if w.Flags&(text.AfterGap|text.AfterLine) == text.AfterGap {
			return true
		}
	}
	return false
}

// boxes finds check boxes that are not ticked, and rows of a table that say that
// something is not done.
func (r *reading) boxes() {
	for i := range r.doc.Blocks {
		b := &r.doc.Blocks[i]
		switch {
		case b.Kind == text.Item && (b.Box == text.Open || b.Box == text.Begun):
			r.evidence.see(openBoxes, Span(b.Span))
			r.add(mention{
				category: RemainingTasks, pattern: "box", span: Span(b.Span), sentence: b.First, block: i,
				form: box, real: true, why: "its box is not ticked", severity: High,
			})
		case b.Kind == text.Table || b.Kind == text.Item && b.End > b.First && r.has(b.First, cell):
			r.row(b)
		}
	}
}

func (r *reading) row(b *text.Block) {
	for s := b.First; s < b.End; s++ {
		h, ok := r.first(s, cell)
		if !ok {
			h, ok = r.first(s, left)
		}
		if ok && (h.Class == cell || !r.hasAny(s, done, negation)) {
			m := r.mention(RemainingTasks, h)
			m.form, m.real, m.why, m.severity, m.sentence = box, true, "a row that is not done", Medium, -1
			r.evidence.see(pendingRows, m.span)
			r.add(m)
			return
		}
	}
}
