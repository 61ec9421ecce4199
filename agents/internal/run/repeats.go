package run

// Repeats counts how often the same text came in a row. The zero value is ready.
// Equality is strict: one byte of difference begins a new run.
type Repeats struct {
	last  string
	count int
}

// Next takes the next text and returns the length of the run that it is part
// of, which is at least 1.
func (r *Repeats) Next(text string) int {
	if r.count > 0 && text == r.last {
		r.count++
	} else {
		r.last, r.count = text, 1
	}
	return r.count
}

// Reset forgets the run.
func (r *Repeats) Reset() { *r = Repeats{} }
