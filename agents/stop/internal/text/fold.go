package text

import (
	"unicode"
	"unicode/utf8"
)

// latin and latinMore give the base letter of U+00C0 to U+024F and of U+1E00 to
// U+1EFF: the first letter of the compatibility decomposition, and for letters
// that Unicode does not decompose (ø, ł, đ) the one they are written with where
// accents are missing. A full stop stands for "none".
const (
	latin = "aaaaaa.ceeeeiiiidnooooo.ouuuuy..aaaaaa.ceeeeiiiidnooooo.ouuuuy.y" +
		"aaaaaaccccccccddddeeeeeeeeeegggggggghhhhiiiiiiiiii..jjkkklllllll" +
		"lllnnnnnnnnnoooooo..rrrrrrssssssssttttttuuuuuuuuuuuuwwyyyzzzzzzs" +
		"bbbb...ccdddd....ffg...ikkl..nn.oo..pp.....ttttuu.vyyzz........." +
		".............aaiioouuuuuuuuuu.aaaa..ggggkkoooo..j...gg..nnaa...." +
		"aaaaeeeeiiiioooorrrruuuusstt..hh.d..zzaaeeooooooooyylntj..acclts" +
		"z..bu.eejj.qrryy"
	latinMore = "aabbbbbbccddddddddddeeeeeeeeeeffgghhhhhhhhhhiiiikkkkkkllllllllmm" +
		"mmmmnnnnnnnnoooooooopppprrrrrrrrssssssssssttttttttuuuuuuuuuuvvvv" +
		"wwwwwwwwwwxxxxyyzzzzzzhtwyasss..aaaaaaaaaaaaaaaaaaaaaaaaeeeeeeee" +
		"eeeeeeeeiiiioooooooooooooooooooooooouuuuuuuuuuuuuuyyyyyyyy......"
)

// appendFold appends the folded form of a letter or digit.
func appendFold(dst []byte, r rune) []byte {
	switch {
	case r < utf8.RuneSelf:
		if r >= 'A' && r <= 'Z' {
			r |= 0x20
		}
		return append(dst, byte(r))
	case r >= 0xC0 && r < 0xC0+rune(len(latin)):
		if base := latin[r-0xC0]; base != '.' {
			return append(dst, base)
		}
	case r >= 0x1E00 && r < 0x1E00+rune(len(latinMore)):
		if base := latinMore[r-0x1E00]; base != '.' {
			return append(dst, base)
		}
	case r >= 0xFF01 && r <= 0xFF5E: // full width
		return appendFold(dst, r-0xFEE0)
	}
	if several := ligature(r); several != "" {
		return append(dst, several...)
	}
	if lower := unicode.ToLower(r); lower != r {
		return appendFold(dst, lower)
	}
	return utf8.AppendRune(dst, r)
}

// ligature spells out a character that stands for several letters.
func ligature(r rune) string {
	switch r {
	case 'Æ', 'æ':
		return "ae"
	case 'Œ', 'œ':
		return "oe"
	case 'ß', 'ẞ':
		return "ss"
	case 'Þ', 'þ':
		return "th"
	case 'Ĳ', 'ĳ':
		return "ij"
	case 'ﬀ':
		return "ff"
	case 'ﬁ':
		return "fi"
	case 'ﬂ':
		return "fl"
	case 'ﬃ':
		return "ffi"
	case 'ﬄ':
		return "ffl"
	case 'ﬅ', 'ﬆ':
		return "st"
	}
	return ""
}

// sort classifies characters by their effect on the words around them.
type sort uint8

const (
	letter     sort = iota // a part of a word
	accent                 // combining: dropped
	invisible              // zero width: as if it were not there
	space                  // of any width
	apostrophe             // links the words around it
	hyphen                 // likewise
	opening                // a quotation mark that opens
	closing                // and one that closes
	sign                   // emoji, arrow, check mark
	point                  // other punctuation: a gap
	ender                  // an ellipsis or a full stop of another script
)

// sortOf classifies a character beyond ASCII.
func sortOf(r rune) sort {
	switch {
	case r >= 0xC0 && r <= 0x24F && r != '×' && r != '÷':
		return letter
	case r >= 0x300 && r <= 0x36F:
		return accent
	case r >= 0x2000 && r <= 0x206F:
		return generalPunctuation(r)
	case r >= 0xFF01 && r <= 0xFF5E:
		return fullWidth(byte(r - 0xFEE0))
	}
	switch r {
	case 0xA0, 0x85, 0x1680, 0x3000:
		return space
	case 0xAD, 0x180E, 0xFEFF, 0x34F, 0x61C:
		return invisible
	case 'ʼ', 'ʹ', '´', 'ˈ':
		return apostrophe
	case '«':
		return opening
	case '»':
		return closing
	case '。':
		return ender
	case '、', '¡', '¿', '·', '§', '¶':
		return point
	}
	switch {
	case r >= 0xFE00 && r <= 0xFE0F, r >= 0x20D0 && r <= 0x20FF, r >= 0x1F000 && r <= 0x1FAFF:
		return sign
	case unicode.IsLetter(r), unicode.Is(unicode.Nd, r):
		return letter
	case unicode.Is(unicode.M, r):
		return accent
	case unicode.Is(unicode.S, r), unicode.Is(unicode.No, r):
		return sign
	}
	return point
}

// generalPunctuation classifies U+2000 to U+206F.
func generalPunctuation(r rune) sort {
	switch {
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060:
		return invisible
	case r <= 0x200A, r == 0x2028, r == 0x2029, r == 0x202F, r == 0x205F:
		return space
	case r == 0x2010, r == 0x2011:
		return hyphen
	case r == '’', r == '‛', r == '′':
		return apostrophe
	case r == '‘', r == '“', r == '„', r == '‟', r == '‹':
		return opening
	case r == '”', r == '›':
		return closing
	case r == '…', r == '‼', r == '⁇', r == '⁈', r == '⁉':
		return ender
	case r == '•', r == '‣':
		return sign
	}
	return point
}

// fullWidth classifies the full-width form of an ASCII character.
func fullWidth(c byte) sort {
	switch {
	case wordByte(c):
		return letter
	case c == '\'':
		return apostrophe
	case c == '-':
		return hyphen
	case c == '.', c == '!', c == '?':
		return ender
	}
	return point
}

func wordByte(c byte) bool {
	return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}
