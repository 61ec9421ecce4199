package step

import "strings"

// Work is Parse with the number of bytes of lines that it looked at.
func Work(answer string) (found []Document, work int, err error) {
	p := parser{text: strings.TrimPrefix(answer, bom)}
	if wrong := p.parse(); wrong != nil {
		err = wrong
	}
	return p.found, p.read, err
}
