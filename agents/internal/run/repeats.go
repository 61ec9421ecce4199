package run

// Repeats counts equal texts in a row. The zero value is ready to use. Texts that differ in one byte
// are not equal.
type Repeats struct {
	last  string
	count int
}

// Next adds a text and returns the number of equal texts at the end, at least 1.
func (r *Repeats) Next(text string) int {
	if r.count > 0 && text == r.last {
		r.count++
	} else {
		r.last, r.count = text, 1
	}
	return r.count
}
