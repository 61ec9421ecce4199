package session

import (
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/internal/textfold"
)

// minTypo is the number of letters from which a word may have a typing error.
const minTypo = 4

// corrected returns the key that a word misspells, or else the word.
func (o options) corrected(word string) string {
	if notTypos[word] || slices.Contains(o.keys, word) {
		return word
	}
	short := withoutRuns(word)
	for _, key := range append(slices.Clone(o.keys), o.pronouns...) {
		if len(word) > len(key) && short == withoutRuns(key) {
			return key
		}
	}
	for _, key := range o.keys {
		n := min(len(word), len(key))
		if n < minTypo || word[0] != key[0] || strings.HasPrefix(word, key) {
			continue
		}
		limit := 1
		if n >= 9 {
			limit = 2
		}
		if suggest.Distance([]byte(word), []byte(key), limit) <= limit {
			return key
		}
	}
	return word
}

// notTypos are words that resemble keys.
var notTypos = textfold.WordSet("normal normale format forme formes formel forma former fils fille filles film fins firm " +
	"firms fill fills filme " +
	"file files serre serai serais seras series serie sortie sorties snow snows shoes shower moves move moved slow slows shot shots " +
	"shop shops showed shown show shows casse sires serves serve serieux serieuse serious cinq seriez firme tutoriel tutorial tuteur " +
	"movies movie formal causals")

// withoutRuns returns a word with each letter that is repeated written once: "seriiies".
func withoutRuns(word string) string { return string(slices.Compact([]byte(word))) }
