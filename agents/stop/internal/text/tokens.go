package text

// Tokens reads words of s from the offset from, as many as fit into out, and
// returns how many there were and the offset to go on from. It knows spelling
// but no Markdown: nothing is masked, and every punctuation mark is a gap. Of the
// words it gives the span, the number, and of the flags AfterGap and AfterLine.
func (r *Reader) Tokens(s string, from int, out []Word) (n, next int) {
	r.fold.reset()
	slots, shift := r.fold.words.slots, r.fold.words.shift
	var gap Flags
	i := from
	for i < len(s) && n < len(out) {
		kind, width := asciiSort[s[i]], 1
		if kind == highChar {
			kind, width = beyond(s, i)
		}
		if kind != wordChar {
			gap = widen(gap, kind)
			i += width
			continue
		}
		sum, _, _, size := asciiWord(s, i)
		t := &out[n]
		n++
		t.Start, t.Flags = i, gap
		gap = 0
		switch {
		case size == 0:
			i = r.token(t, s, i)
		case size <= 8:
			t.ID = findShort(slots, shift, sum)
			i += size
		default:
			t.ID = r.fold.words.find(sum, s[i:i+size])
			i += size
		}
		t.End = i
		if i < len(s) && s[i] == ' ' {
			i++
		}
	}
	return n, i
}

// beyond classifies the character beyond ASCII at s[i:] and returns its length.
func beyond(s string, i int) (kind uint8, n int) {
	char, n := decode(s, i)
	switch class := sortOf(char); {
	case class == letter:
		return wordChar, n
	case class <= hyphen || class == sign:
		return softChar, n
	}
	return gapChar, n
}

// widen adds a separator to the gap before the next word.
func widen(gap Flags, kind uint8) Flags {
	switch {
	case kind == softChar:
		return gap
	case kind == lineChar && gap == 0:
		return AfterGap | AfterLine
	}
	return AfterGap
}

// token reads at s[i:] a word with more than the letters of ASCII.
func (r *Reader) token(t *Word, s string, i int) int {
	sum, end, n := latinWord(s, i)
	if end > 0 && n <= 8 {
		t.ID = findShort(r.fold.words.slots, r.fold.words.shift, sum)
		return end
	}
	w := r.fold.accentedWord(s, i)
	t.ID = w.id
	return w.end
}

// asciiSort classifies bytes for Tokens.
var asciiSort = func() (table [256]uint8) {
	for c := range table {
		switch {
		case c >= 0x80:
			table[c] = highChar
		case wordByte(byte(c)):
			table[c] = wordChar
		case c == '\n':
			table[c] = lineChar
		case c == ' ', c == '\t', c == '\r', c == '\'', c == '-', c == '*', c == '_', c == '`':
			table[c] = softChar
		}
	}
	return table
}()

const (
	gapChar uint8 = iota
	wordChar
	softChar
	lineChar
	highChar
	specialChar
)
