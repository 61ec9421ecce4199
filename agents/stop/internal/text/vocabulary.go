package text

import (
	"encoding/binary"
	"math/bits"
	"unsafe"
)

// Vocabulary numbers folded words, from 1. It is filled with Add and may then
// be read by any number of goroutines.
type Vocabulary struct {
	words []string // by number, from words[0] = ""
	slots []slot   // open addressing, a power of two, at most a third full
	shift uint
}

// slot is a word's sum and number; the number is 0 in a free one.
type slot struct {
	sum uint64
	id  int32
	n   int32 // length of the word
}

// Add returns the number of the word, a new one if it has none. The word must be
// folded, as Fold does.
func (v *Vocabulary) Add(folded string) int32 {
	if len(v.words) == 0 {
		v.words = []string{""}
	}
	if id := v.ID(folded); id > 0 {
		return id
	}
	v.words = append(v.words, folded)
	id := int32(len(v.words) - 1)
	if 3*len(v.words) < len(v.slots) {
		v.insert(id)
		return id
	}
	old := v.slots
	v.slots = make([]slot, max(1024, 2*len(old)))
	v.shift = uint(64 - bits.TrailingZeros(uint(len(v.slots))))
	for _, s := range old {
		if s.id != 0 {
			v.place(s)
		}
	}
	v.insert(id)
	return id
}

// Len returns the highest number given.
func (v *Vocabulary) Len() int { return max(0, len(v.words)-1) }

// ID returns the number of a folded word, 0 if it has none.
func (v *Vocabulary) ID(folded string) int32 {
	if len(v.slots) == 0 {
		return 0
	}
	return v.find(sumOf(folded), folded)
}

// Word returns the word with the number, "" if there is none.
func (v *Vocabulary) Word(id int32) string {
	if id <= 0 || int(id) >= len(v.words) {
		return ""
	}
	return v.words[id]
}

// noWords is the vocabulary of a Reader that was given none, or an empty one.
var noWords = &Vocabulary{words: []string{""}, slots: make([]slot, 1), shift: 63}

func (v *Vocabulary) insert(id int32) {
	word := v.words[id]
	v.place(slot{sumOf(word), id, int32(len(word))})
}

func (v *Vocabulary) place(s slot) {
	at := spread(s.sum) >> v.shift
	for v.slots[at].id != 0 {
		at = (at + 1) & uint64(len(v.slots)-1)
	}
	v.slots[at] = s
}

// find looks up a word of the sum given. Capitals of ASCII in word do not matter.
func (v *Vocabulary) find(sum uint64, word string) int32 {
	mask := uint64(len(v.slots) - 1)
	for at := spread(sum) >> v.shift; ; at++ {
		s := v.slots[at&mask]
		if s.id == 0 {
			return 0
		}
		if s.sum == sum && int(s.n) == len(word) && (len(word) <= 8 || sameFolded(v.words[s.id], word)) {
			return s.id
		}
	}
}

// findShort looks up an ASCII word of eight letters or fewer, which its sum is.
// Whether a word is known is hard to predict, so the only branch is for the rare case: a slot that
// another word took.
func findShort(slots []slot, shift uint, sum uint64) int32 {
	for at := spread(sum) >> (shift & 63); ; at++ {
		s := &slots[at&uint64(len(slots)-1)]
		differs := s.sum ^ sum
		if other := int64(differs|-differs) >> 63; int64(s.id)&other == 0 {
			return s.id
		}
	}
}

func sameFolded(folded, word string) bool {
	for i := range len(folded) {
		c := word[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != folded[i] {
			return false
		}
	}
	return true
}

// The sum of a word is its bytes themselves up to eight; longer ones are mixed
// in groups of eight, with the highest bit set, as no short word of ASCII has it.
func sumOf(folded string) uint64 {
	sum := load(folded, 0)
	for i := 8; i < len(folded); i += 8 {
		sum = mix(sum, load(folded, i))
	}
	return sum
}

func mix(sum, next uint64) uint64 {
	return bits.RotateLeft64(sum*0x9E3779B97F4A7C15, 29) ^ next | 1<<63
}

func spread(sum uint64) uint64 { return (sum ^ sum>>32) * 0x9E3779B97F4A7C15 }

// load reads eight bytes at s[i:], zeros behind the end.
func load(s string, i int) uint64 {
	if i+8 > len(s) {
		return loadTail(s, i)
	}
	return binary.LittleEndian.Uint64(unsafe.Slice(unsafe.StringData(s), len(s))[i:])
}

func loadTail(s string, i int) uint64 {
	var tail [8]byte
	copy(tail[:], s[i:])
	return binary.LittleEndian.Uint64(tail[:])
}
