package reports

import (
	"bytes"
	"encoding/xml"
	"strings"
)

// xmlWriter writes indented XML. encoding/xml is several times slower for the many small
// elements of a JUnit file; it does the escaping.
type xmlWriter struct {
	out   bytes.Buffer
	depth int
}

// attr is an attribute; an empty one is left out.
type attr struct{ name, value string }

func newXML() *xmlWriter {
	x := &xmlWriter{}
	x.out.WriteString(strings.TrimSuffix(xml.Header, "\n"))
	return x
}

// element writes an element whose content inside writes; nil if it is empty.
func (x *xmlWriter) element(name string, inside func(), attrs ...attr) {
	x.start(name, attrs)
	if inside == nil {
		x.out.WriteString("/>")
		return
	}
	x.out.WriteByte('>')
	x.depth++
	inside()
	x.depth--
	x.newline()
	x.end(name)
}

// text writes an element with text.
func (x *xmlWriter) text(name, text string, attrs ...attr) {
	x.start(name, attrs)
	x.out.WriteByte('>')
	x.escape(text)
	x.end(name)
}

func (x *xmlWriter) start(name string, attrs []attr) {
	x.newline()
	x.out.WriteByte('<')
	x.out.WriteString(name)
	for _, a := range attrs {
		if a.value == "" {
			continue
		}
		x.out.WriteByte(' ')
		x.out.WriteString(a.name)
		x.out.WriteString(`="`)
		x.escape(a.value)
		x.out.WriteByte('"')
	}
}

func (x *xmlWriter) end(name string) {
	x.out.WriteString("</")
	x.out.WriteString(name)
	x.out.WriteByte('>')
}

func (x *xmlWriter) newline() {
	x.out.WriteByte('\n')
	for range x.depth {
		x.out.WriteString("  ")
	}
}

// escape writes text with reserved characters escaped and forbidden ones replaced.
func (x *xmlWriter) escape(text string) {
	if isSafe(text) {
		x.out.WriteString(text)
		return
	}
	_ = xml.EscapeText(&x.out, []byte(text)) // a buffer has no errors
}

// isSafe reports whether text needs no escaping.
func isSafe(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case c < ' ' || c > '~':
			return false
		case c == '<' || c == '>' || c == '&' || c == '"' || c == '\'':
			return false
		}
	}
	return true
}
