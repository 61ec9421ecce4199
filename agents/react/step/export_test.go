package step

// Work is Parse with the number of bytes of the lines that it read.
func Work(answer string) (found []Document, work int, err error) {
	p := newParser(answer)
	if wrong := p.parse(); wrong != nil {
		err = wrong
	}
	return p.found, p.work, err
}
