package text

// Vocabulary numbers folded words, from 1. It is filled with Add and may then
// be read by any number of goroutines. Its zero value is empty.
type Vocabulary struct{ ids map[string]int32 }

// Add returns the number of the word, a new one if it has none. The word must be
// folded, as Fold does.
func (v *Vocabulary) Add(folded string) int32 {
	if v.ids == nil {
		v.ids = make(map[string]int32, 1<<13)
	}
	id, ok := v.ids[folded]
	if !ok {
		id = int32(len(v.ids) + 1)
		v.ids[folded] = id
	}
	return id
}

// ID returns the number of a folded word, 0 if it has none.
func (v *Vocabulary) ID(folded string) int32 {
	if v == nil {
		return 0
	}
	return v.ids[folded]
}
