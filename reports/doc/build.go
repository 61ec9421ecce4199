package doc

import "strings"

// maxExcerpt limits an excerpt, in characters.
const maxExcerpt = 200

// Excerpt is the beginning of the first line of a foreign text, for a table or a list.
func Excerpt(text string) Span {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return Quote(Shorten(line))
}

// Shorten returns the beginning of a text, at most 200 characters.
func Shorten(text string) string {
	if r := []rune(text); len(r) > maxExcerpt {
		return string(r[:maxExcerpt-1]) + "…"
	}
	return text
}

// Add adds a fact. Line makes its value.
func (f *Facts) Add(name string, value ...any) {
	*f = append(*f, Fact{Name: name, Value: Line(value...)})
}

// Quote adds a foreign text of several lines below its name, unless it is empty.
func (d *Details) Quote(name, text string) {
	if text != "" {
		d.Blocks = append(d.Blocks, Paragraph(Line(Toned(Strong, name))), Preformatted(text))
	}
}
