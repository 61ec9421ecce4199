package text

import (
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// decode reads the character at s[i:] and how many bytes it takes there. A byte
// that is no UTF-8 is read as Windows-1252, whose letters are those of Latin-1.
// UTF-8 that was once or twice read as Windows-1252, Latin-1 or Mac Roman is
// repaired character by character, so that offsets stay those of s.
func decode(s string, i int) (rune, int) {
	r, n := plainRune(s, i)
	if !suspect(r) {
		return r, n
	}
	return repaired(s, i, 2)
}

func plainRune(s string, i int) (rune, int) {
	r, n := utf8.DecodeRuneInString(s[i:])
	if r != utf8.RuneError || n != 1 {
		return r, n
	}
	if r = charmap.Windows1252.DecodeByte(s[i]); r == utf8.RuneError {
		r = rune(s[i])
	}
	return r, 1
}

// suspect reports whether r may be the first byte of an encoded character in one
// of the wrong encodings. The bytes are those that French and English need:
// C2 to C5 for letters and signs, CC and CD for combining accents, E2 for
// quotation marks and dashes, EF and F0 for emoji.
func suspect(r rune) bool {
	switch r {
	case 'Â', 'Ã', 'Ä', 'Å', 'Ì', 'Í', 'â', 'ï', 'ð', // Windows-1252
		'¬', '√', 'ƒ', '≈', 'Õ', '‚', 'Ô', '\uf8ff': // Mac Roman
		return true
	}
	return false
}

// repaired reads the character at s[i:] after undoing up to depth wrong readings.
func repaired(s string, i, depth int) (rune, int) {
	if depth == 0 {
		return plainRune(s, i)
	}
	r, n := repaired(s, i, depth-1)
	if !suspect(r) {
		return r, n
	}
	for _, page := range [...]*charmap.Charmap{charmap.Windows1252, charmap.Macintosh} {
		if fixed, size := undo(s, i, depth, page); size > 0 {
			return fixed, size
		}
	}
	// "à" is C3 A0: a no-break space that editors turn into a plain one.
	if r == 'Ã' && i+n < len(s) && s[i+n] == ' ' {
		return 'à', n
	}
	return r, n
}

// undo takes the characters at s[i:] for bytes of the code page and decodes
// those; size is 0 if they are not a character.
func undo(s string, i, depth int, page *charmap.Charmap) (fixed rune, size int) {
	var raw [utf8.UTFMax]byte
	at := i
	for k := range raw {
		if at >= len(s) {
			break
		}
		r, n := repaired(s, at, depth-1)
		b, ok := pageByte(r, page)
		if !ok || k > 0 && b >= 0xC0 {
			break
		}
		raw[k] = b
		at += n
		if utf8.FullRune(raw[:k+1]) {
			fixed, n := utf8.DecodeRune(raw[:k+1])
			if fixed == utf8.RuneError || n != k+1 {
				return 0, 0
			}
			return fixed, at - i
		}
	}
	return 0, 0
}

// pageByte returns the byte, 0x80 or more, that stands for r in the code page.
func pageByte(r rune, page *charmap.Charmap) (byte, bool) {
	if b, ok := page.EncodeRune(r); ok {
		return b, b >= 0x80
	}
	return byte(r), r >= 0x80 && r <= 0xFF && page == charmap.Windows1252
}
