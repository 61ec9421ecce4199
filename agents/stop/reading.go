package stop

import (
	"encoding/json"
	"hash/maphash"
	"slices"
	"strings"
	"sync"

	"github.com/rehearse-dev/rehearse/agents/stop/internal/grammar"
	"github.com/rehearse-dev/rehearse/agents/stop/internal/text"
)

// reading is a message with the phrases that were found in it. It is kept from
// one message to the next for its buffers.
type reading struct {
	reader *text.Reader
	doc    *text.Doc
	hits   []grammar.Hit
	// sentences runs parallel to those of doc.
	sentences []sentence
	// prose is the number of sentences outside tables.
	prose   int
	classes uint64 // those of all sentences
	// lastDone and lastResult are the last sentences that report something as done
	// and the result of a check, -1 if there are none.
	lastDone, lastResult int
	repeated             trilean // whether the code that ends the message repeats earlier code
	evidence             evidence
	mentions             []mention
	units                []unit // of the list, table or paragraph that marked looks at
	found                int    // mentions, those that were not kept too
	real                 bool   // one of them at least is real
	approval             bool   // a person must approve first
	lang                 grammar.Lang
}

// trilean is a truth that may not be known yet.
type trilean uint8

const (
	unknown trilean = iota
	no
	yes
)

// sentence is what is known of one.
type sentence struct {
	classes  uint64 // those that a phrase was found of
	from, to int32  // its phrases, in hits
	// rank counts the sentences before it outside tables.
	rank int32
}

var readings = sync.Pool{New: func() any {
	return &reading{reader: text.NewReader(lexicon().Words)}
}}

// read finds the phrases of a message.
func (r *reading) read(message string) {
	g := lexicon()
	r.doc = r.reader.Read(unwrapped(message))
	r.hits = slices.Grow(r.hits[:0], len(r.doc.Words)/8)
	r.sentences = slices.Grow(r.sentences[:0], len(r.doc.Sentences))
	r.prose, r.classes = 0, 0
	r.mentions, r.found, r.real = r.mentions[:0], 0, false
	r.evidence, r.approval = evidence{}, false
	whole := r.language(0, len(r.doc.Words), grammar.Any)
	r.lang = whole
	for i := range r.doc.Sentences {
		s := &r.doc.Sentences[i]
		out := sentence{from: int32(len(r.hits)), rank: int32(r.prose)}
		r.hits = g.Scan(r.doc, i, r.language(s.First, s.End, whole), r.hits)
		for _, h := range r.hits[out.from:] {
			out.classes |= 1 << h.Class
		}
		out.to = int32(len(r.hits))
		r.classes |= out.classes
		if r.doc.Blocks[s.Block].Kind != text.Table {
			r.prose++
		}
		r.sentences = append(r.sentences, out)
	}
	r.ends()
}

// ends finds the last sentence that reports something as done, and the last that
// reports the result of a check.
func (r *reading) ends() {
	r.lastDone, r.lastResult, r.repeated = -1, -1, unknown
	for s := len(r.sentences) - 1; s >= 0 && (r.lastDone < 0 || r.lastResult < 0); s-- {
		if r.hasAny(s, condition, need) {
			continue
		}
		if r.lastDone < 0 && r.has(s, done) && !r.hasAny(s, negation, left) {
			r.lastDone = s
		}
		if r.lastResult < 0 && r.has(s, result) {
			r.lastResult = s
		}
	}
}

// language counts the small words of either language, of the first 300 words; it
// is the fallback if there are as many of both.
func (r *reading) language(first, end int, fallback grammar.Lang) grammar.Lang {
	g := lexicon()
	en, fr := functionWords()
	balance := 0
	for _, w := range r.doc.Words[first:min(end, first+300)] {
		sets := g.Sets(w.ID)
		if sets&en != 0 {
			balance++
		}
		if sets&fr != 0 {
			balance--
		}
	}
	switch {
	case balance > 0:
		return english
	case balance < 0:
		return french
	default:
		return fallback
	}
}

var functionWords = sync.OnceValues(func() (en, fr uint64) {
	return lexicon().Set("en.fn"), lexicon().Set("fr.fn")
})

// has reports whether the sentence has a phrase of the class.
func (r *reading) has(s int, c grammar.Class) bool { return r.sentences[s].classes>>c&1 != 0 }

// hasAny reports whether it has one of any of the classes.
func (r *reading) hasAny(s int, cs ...grammar.Class) bool {
	for _, c := range cs {
		if r.has(s, c) {
			return true
		}
	}
	return false
}

// phrases returns those of the sentence.
func (r *reading) phrases(s int) []grammar.Hit {
	return r.hits[r.sentences[s].from:r.sentences[s].to]
}

// first returns the first phrase of the class in the sentence.
func (r *reading) first(s int, c grammar.Class) (grammar.Hit, bool) {
	if r.has(s, c) {
		for _, h := range r.phrases(s) {
			if h.Class == c {
				return h, true
			}
		}
	}
	return grammar.Hit{}, false
}

// before reports whether a phrase of one of the classes begins before the word.
func (r *reading) before(s int, word int32, cs ...grammar.Class) bool {
	if !r.hasAny(s, cs...) {
		return false
	}
	for _, h := range r.phrases(s) {
		if h.First >= word {
			return false
		}
		for _, c := range cs {
			if h.Class == c {
				return true
			}
		}
	}
	return false
}

// kind is the kind of block that the sentence is in.
func (r *reading) block(s int) *text.Block { return &r.doc.Blocks[r.doc.Sentences[s].Block] }

// after counts the sentences outside tables that follow, those of a list that
// its block introduces left out.
func (r *reading) after(s int) int {
	b := r.doc.Sentences[s].Block
	lead := r.doc.Blocks[b].End - 1
	if r.doc.Sentences[lead].Ending != text.Colon {
		return r.prose - int(r.sentences[s].rank) - 1
	}
	last := max(lead, r.lastOfList(b))
	return r.prose - int(r.sentences[last].rank) - 1 + lead - s
}

// near reports whether the sentence stands where a message says what it leaves: at
// its end.
func (r *reading) near(s int) bool { return r.after(s) <= tailSentences }

// lastOfList returns the last sentence of the list that the block introduces, -1 if
// there is none.
func (r *reading) lastOfList(b int) int {
	last := -1
	for i := b + 1; i < len(r.doc.Blocks); i++ {
		item := &r.doc.Blocks[i]
		if item.Lead != b && item.Kind != text.Code && item.Parent < 0 {
			break
		}
		if item.End > item.First {
			last = item.End - 1
		}
	}
	return last
}

// delivered reports whether code follows the block at once: what a sentence before
// it announces is there then. Code that merely repeats earlier code, as logs of
// chats append it, does not count.
func (r *reading) delivered(b int) bool {
	blocks := r.doc.Blocks
	if b+1 >= len(blocks) || blocks[b+1].Kind != text.Code {
		return false
	}
	for i := b + 1; i < len(blocks); i++ {
		if blocks[i].Kind != text.Code {
			return true
		}
	}
	if r.repeated == unknown {
		r.repeated = no
		if r.repeats(b + 1) {
			r.repeated = yes
		}
	}
	return r.repeated == no
}

var seed = maphash.MakeSeed()

// repeats reports whether all code from the block on is in the message before.
func (r *reading) repeats(from int) bool {
	seen := map[uint64]bool{}
	for i := range r.doc.Blocks {
		b := &r.doc.Blocks[i]
		if b.Kind != text.Code {
			continue
		}
		sum := maphash.String(seed, codeOf(excerptOf(r.doc.Raw, b.Span)))
		if i >= from && !seen[sum] {
			return false
		}
		seen[sum] = true
	}
	return true
}

// codeOf returns the code without its fences and the space around.
func codeOf(raw string) string {
	_, code, ok := strings.Cut(raw, "\n")
	if !ok {
		return raw
	}
	return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(code), "`~"))
}

// span returns the range of bytes of some words.
func (r *reading) span(first, end int32) Span {
	return Span{r.doc.Words[first].Start, r.doc.Words[end-1].End}
}

// sentenceSpan returns the range of bytes of a sentence.
func (r *reading) sentenceSpan(s int) Span {
	return Span(r.doc.Sentences[s].Span)
}

func excerptOf(raw string, at text.Span) string { return raw[at.Start:at.End] }

// unwrapped returns a message that is one JSON object with its quotation marks and
// escapes as spaces, byte for byte: what an agent reports in fields is no
// quotation. Other messages are as they were.
func unwrapped(message string) string {
	trimmed := strings.TrimSpace(message)
	if !strings.HasPrefix(trimmed, "{") || !strings.HasSuffix(trimmed, "}") || !json.Valid([]byte(trimmed)) {
		return message
	}
	out := []byte(message)
	for i := range out {
		switch {
		case out[i] == '"':
			out[i] = ' '
		case out[i] == '\\' && message[i+1] == 'n':
			out[i], out[i+1] = '\n', ' '
		}
	}
	return string(out)
}
