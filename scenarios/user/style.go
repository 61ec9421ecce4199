package user

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/rehearse-dev/rehearse/internal/seed"
)

// straighten replaces typographic apostrophes by straight ones.
func straighten(text string) string { return strings.ReplaceAll(text, "’", "'") }

// containsWhole reports whether a text contains a value that is not part of a longer word, with either apostrophe.
func containsWhole(text, value string) bool {
	text, value = straighten(text), straighten(value)
	for from := 0; value != ""; {
		i := strings.Index(text[from:], value)
		if i < 0 {
			return false
		}
		at := from + i
		before, _ := utf8.DecodeLastRuneInString(text[:at])
		after, _ := utf8.DecodeRuneInString(text[at+len(value):])
		if !isWord(before) && !isWord(after) {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[at:])
		from = at + size
	}
	return false
}

func isWord(c rune) bool { return c != utf8.RuneError && (unicode.IsLetter(c) || unicode.IsDigit(c)) }

// random returns a number that depends on the seed, the turn and a purpose only.
func random(from uint64, turn, purpose int) uint64 {
	return seed.Mix(seed.Mix(from+uint64(turn)*seed.Gamma) + uint64(purpose)*seed.Gamma)
}

// misspell swaps two inner letters in a share of the words of a text. It changes no word with
// another character than letters, and none of the kept words.
func misspell(text string, share float64, kept map[string]bool, random func(n int) uint64) string {
	if share == 0 {
		return text
	}
	words := strings.Split(text, " ")
	for i, word := range words {
		letters := []rune(word)
		chance := float64(random(2*i)>>11) / (1 << 53)
		if len(letters) < 4 || kept[word] || chance >= share || strings.ContainsFunc(word, func(c rune) bool { return !unicode.IsLetter(c) }) {
			continue
		}
		at := 1 + int(random(2*i+1)%uint64(len(letters)-3))
		letters[at], letters[at+1] = letters[at+1], letters[at]
		words[i] = string(letters)
	}
	return strings.Join(words, " ")
}
