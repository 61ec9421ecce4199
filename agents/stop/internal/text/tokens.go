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
		w := r.fold.scanWord(s, i)
		t := &out[n]
		t.Start, t.End, t.ID, t.Flags = i, w.end, w.id, gap
		n++
		i, gap = w.end, 0
	}
	return n, i
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
