package text

import "unicode/utf8"

// windows1252 maps the characters that Windows-1252 puts where Latin-1 has
// control codes; macRoman is the upper half of Mac Roman, from byte 0x80.
const (
	windows1252 = "€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ"
	macRoman    = "ÄÅÇÉÑÖÜáàâäãåçéèêëíìîïñóòôöõúùûü†°¢£§•¶ß®©™´¨≠ÆØ∞±≤≥¥µ∂∑∏π∫ªºΩæø" +
		"¿¡¬√ƒ≈∆«»…\u00a0ÀÃÕŒœ–—“”‘’÷◊ÿŸ⁄€‹›ﬁﬂ‡·‚„‰ÂÊÁËÈÍÎÏÌÓÔ\uf8ffÒÚÛÙıˆ˜¯˘˙˚¸˝˛ˇ"
)

var (
	fromWindows = []rune(windows1252)
	windowsByte = reversed(windows1252)
	macByte     = reversed(macRoman)
)

func reversed(page string) map[rune]byte {
	table := map[rune]byte{}
	at := byte(0x80)
	for _, r := range page {
		table[r] = at
		at++
	}
	return table
}

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
	if c := s[i]; c < 0xA0 {
		return fromWindows[c-0x80], 1
	}
	return rune(s[i]), 1
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
	for _, page := range [...]map[rune]byte{windowsByte, macByte} {
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
func undo(s string, i, depth int, page map[rune]byte) (fixed rune, size int) {
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
func pageByte(r rune, page map[rune]byte) (byte, bool) {
	if b, ok := page[r]; ok {
		return b, true
	}
	latin := r >= 0x80 && r <= 0xFF && page['€'] == 0x80
	return byte(r), latin
}
