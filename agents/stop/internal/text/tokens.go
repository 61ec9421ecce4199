package text

// Token is a word of a text that is read without its structure.
type Token struct {
	Span
	// ID is the word's number in the vocabulary, 0 if it has none.
	ID int32
	// Flags holds AfterGap and AfterLine only.
	Flags Flags
}

// Tokens reads words of s from the offset from, as many as fit into out, and
// returns how many there were and the offset to go on from. It knows spelling
// but no Markdown: nothing is masked, and every punctuation mark is a gap.
func (r *Reader) Tokens(s string, from int, out []Token) (n, next int) {
	r.fold.reset()
	var gap Flags
	i := from
	for i < len(s) && n < len(out) {
		c := s[i]
		switch asciiSort[c] {
		case wordChar:
		case softChar:
			i++
			continue
		case lineChar:
			i++
			if gap == 0 {
				gap = AfterGap | AfterLine
			} else {
				gap = AfterGap
			}
			continue
		case highChar:
			char, size := decode(s, i)
			if kind := sortOf(char); kind != letter {
				if kind > hyphen {
					gap = AfterGap
				}
				i += size
				continue
			}
		default:
			gap = AfterGap
			i++
			continue
		}
		t := &out[n]
		n++
		t.Start, t.Flags = i, gap
		gap = 0
		if sum, _, _, size := asciiWord(s, i); size > 0 {
			t.ID = r.fold.number(sum, s[i:i+size])
			i += size
		} else {
			i = r.token(t, s, i)
		}
		t.End = i
	}
	return n, i
}

// token reads at s[i:] a word with more than the letters of ASCII.
func (r *Reader) token(t *Token, s string, i int) int {
	sum, end, n := latinWord(s, i)
	if end > 0 && n <= 8 {
		t.ID = r.fold.words.findShort(sum)
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
