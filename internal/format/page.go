// Package format holds what reports for people share: pages that stop at a number
// of bytes and say so, numbers with the digits that count, and the style of JSON.
package format

import (
	"fmt"
	"strings"
)

// Page collects text up to a number of bytes.
type Page struct {
	text strings.Builder
	// Left is how many bytes there is room for.
	Left int
}

// note is what is kept free for saying that something was left out.
const note = 80

// Head adds a short text of our own, if there is room for it and a note.
func (p *Page) Head(text string) {
	if len(text)+note <= p.Left {
		p.text.WriteString(text)
		p.Left -= len(text)
	}
}

// String is what was collected.
func (p *Page) String() string { return p.text.String() }

// Lines adds a text for each item until there is no room, and then says how many,
// of what the noun names, were left out.
func Lines[T any](p *Page, noun string, list []T, format func(T) string) {
	for i, item := range list {
		text := format(item)
		if len(text)+note > p.Left {
			if left := fmt.Sprintf("\n… and %d more %s\n", len(list)-i, noun); len(left) <= p.Left {
				p.text.WriteString(left)
				p.Left -= len(left)
			}
			return
		}
		p.text.WriteString(text)
		p.Left -= len(text)
	}
}
