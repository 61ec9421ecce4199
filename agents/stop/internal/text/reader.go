package text

import "slices"

// Reader reads messages. Its zero value is ready; it keeps its buffers from one
// message to the next and serves one goroutine.
type Reader struct {
	doc    Doc
	fold   folder
	lines  lines
	blocks blocks
	in     inline
}

// NewReader returns a Reader whose words carry the numbers of v.
func NewReader(v *Vocabulary) *Reader { return &Reader{fold: folder{words: v}} }

// Read parses a message. The Doc and everything in it are valid until the next Read. Time and
// memory are linear in the length of the message.
func (r *Reader) Read(message string) *Doc {
	r.fold.reset()
	r.doc.Raw = message
	r.doc.Blocks = r.doc.Blocks[:0]
	r.doc.Sentences = r.doc.Sentences[:0]
	r.doc.Words = slices.Grow(r.doc.Words[:0], min(len(message)/6, 1<<15))
	r.blocks.reset()
	r.lines.reset(message)
	for r.lines.next() {
		r.line(r.lines.line)
	}
	r.closeBlock()
	return &r.doc
}

// add appends to a list of which the first at bytes of the message filled what is
// there. A full list gets room for the whole message at that rate: to grow step by
// step would cost a long message several times its memory.
func add[T any](list []T, v T, at, size int) []T {
	if len(list) == cap(list) {
		rest := float64(size-at) / float64(at+1)
		list = slices.Grow(list, 64+int(float64(len(list))*min(1.1*rest, 128)))
	}
	return append(list, v)
}

// Fold returns the folded form of a text as words carry it, words separated by one
// space and punctuation dropped.
func Fold(s string) string {
	if folded(s) {
		return s
	}
	var r Reader
	r.fold.reset()
	var out []byte
	for i := 0; i < len(s); {
		if c := s[i]; !wordByte(c) && c < 0x80 {
			i++
			continue
		}
		w := r.fold.scanWord(s, i)
		if w.end == i {
			_, n := decode(s, i)
			i += n
			continue
		}
		if len(out) > 0 {
			out = append(out, ' ')
		}
		for k := i; k < w.end && w.fold == ""; k++ {
			out = append(out, s[k]|0x20)
		}
		out = append(out, w.fold...)
		i = w.end
	}
	return string(out)
}

// folded reports whether s is one word of small letters of ASCII.
func folded(s string) bool {
	for i := range len(s) {
		if s[i] < 'a' || s[i] > 'z' {
			return false
		}
	}
	return true
}
