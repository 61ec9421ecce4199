package wire

import (
	"iter"
	"math"
	"time"
	"unicode/utf8"
)

// maxPiece limits a piece in bytes, to split a text without spaces too.
const maxPiece = 16

// nextPiece returns the length of the first piece of text; 0 if text is empty. A piece is similar
// to a model's token: spaces and the word after them. Pieces do not split runes.
func nextPiece(text string) int {
	word := false
	for i := 0; i < len(text); {
		c := text[i]
		space := c == ' ' || c == '\n' || c == '\t' || c == '\r'
		if space && word {
			return i
		}
		word = word || !space
		size := 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(text[i:])
		}
		if i > 0 && i+size > maxPiece {
			return i
		}
		i += size
	}
	return len(text)
}

// piecesOf returns the pieces of text in order.
func piecesOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for text != "" {
			n := nextPiece(text)
			if !yield(text[:n]) {
				return
			}
			text = text[n:]
		}
	}
}

func countPieces(text string) int {
	n := 0
	for range piecesOf(text) {
		n++
	}
	return n
}

// firstPieces returns the first n pieces of text.
func firstPieces(text string, n int) string {
	end := 0
	for range n {
		end += nextPiece(text[end:])
	}
	return text[:end]
}

// addUp adds token counts or delays, which may have any value in a script. Instead of a sum that
// overflows it returns the largest part, and it ignores negative parts that underflow.
func addUp[T ~int | ~int64](parts ...T) T {
	var sum T
	for _, part := range parts {
		if sum+part < sum {
			sum = max(sum, part)
			continue
		}
		sum += part
	}
	return sum
}

// generation returns the time of the output after the first byte. It saturates, because a script
// may give any number of tokens.
func generation(c Completion) time.Duration {
	if c.PerToken <= 0 || c.Usage.Output <= 0 {
		return 0
	}
	if c.PerToken > math.MaxInt64/time.Duration(c.Usage.Output) {
		return math.MaxInt64
	}
	return c.PerToken * time.Duration(c.Usage.Output)
}
