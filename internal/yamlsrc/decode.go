// Package yamlsrc decodes YAML files strictly and reports the position of each error.
//
// Besides syntax errors it rejects common mistakes: unknown, duplicate and missing keys,
// values of the wrong type, keys without a value, several documents in one file.
// It reports all errors at once, each with line, column, the expected value and the
// nearest valid word. Input is not trusted: size, nesting and the expansion of aliases
// are limited.
package yamlsrc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"
	"go.yaml.in/yaml/v4/plugin/loaderlimits"
)

// MaxBytes is the maximum size of a file. This and the other limits are far above the needs of
// files written by hand, and low enough that a hostile file costs milliseconds.
const MaxBytes = 1 << 20

const (
	maxDepth   = 64     // nesting of lists and mappings
	maxAliased = 10_000 // values that all aliases together expand to
)

// Decode decodes the YAML document data into the struct that into points to. Diagnostics
// name the document file.
//
// A key of a struct is required unless its yaml tag has omitempty. The enumerations and
// bounds of the jsonschema tag (enum=, minimum=, maximum=) are validated too. A struct
// that implements yaml.Unmarshaler may have a short form (a scalar or list), which it
// decodes itself; the keys of a mapping are those of its fields.
//
// The returned document is never nil. It gives the position of errors that are found later
// and decodes parts of itself. If there are diagnostics, into has the values that could be decoded.
func Decode(file string, data []byte, into any) (*Document, Diagnostics) {
	doc, problem := Parse(file, data)
	if problem != nil {
		return doc, Diagnostics{*problem}
	}
	return doc, doc.Decode("", into)
}

// Parse parses the YAML document data without a type, to recognize the format of a file by its keys. The
// returned document is never nil; problem is nil unless data is not a document.
func Parse(file string, data []byte) (doc *Document, problem *Diagnostic) {
	doc = &Document{file: file}
	whole, problem := load(doc, data)
	if problem == nil {
		doc.root = whole.Content[0]
	}
	return doc, problem
}

// Decode decodes the value at path into the value that into points to, with the rules of
// the function Decode. The diagnostics have positions and paths in the whole file.
//
// A document may have parts whose type depends on another part: a field or a map value of
// the type yaml.Node leaves its part unchecked for a later call. A document that could not
// be parsed yields no diagnostics here.
func (doc *Document) Decode(path string, into any) Diagnostics {
	if doc.root == nil {
		return nil
	}
	n, place, found := doc.find(path)
	if !found {
		return Diagnostics{doc.diagnostic(place, path, "the value is missing")}
	}
	c := checker{doc: doc, reported: make(map[mark]bool)}
	typ := reflect.TypeOf(into).Elem()
	c.check(n, typ, nil, path)
	if c.exploded {
		c.found.Sort()
		return c.found
	}
	if err := n.Load(into, yaml.WithUniqueKeys(false)); err != nil {
		places := checker{doc: doc, reported: make(map[mark]bool), values: make(map[mark]value)}
		places.check(n, typ, nil, path)
		c.values = places.values
		c.adopt(err)
	}
	c.found.Sort()
	return c.found
}

// load parses data, which must be exactly one document. The returned node has the value of the
// document as its only content.
func load(doc *Document, data []byte) (*yaml.Node, *Diagnostic) {
	if len(data) > MaxBytes {
		return nil, &Diagnostic{File: doc.file, Message: fmt.Sprintf("the file has %d bytes; at most %d are allowed", len(data), MaxBytes)}
	}
	if at := invalidUTF8(data); at >= 0 {
		doc.lines = splitLines(data[:at])
		last := doc.lines[len(doc.lines)-1]
		d := doc.diagnostic(mark{len(doc.lines), utf8.RuneCountInString(last) + 1}, "", "found a byte that is not UTF-8")
		return nil, &d
	}
	doc.lines = splitLines(data)
	loader, err := yaml.NewLoader(bytes.NewReader(data), yaml.WithPlugin(loaderlimits.New(loaderlimits.DepthValue(maxDepth))))
	if err != nil {
		d := doc.syntax(err)
		return nil, &d
	}
	var first, second yaml.Node
	if err := loader.Load(&first); errors.Is(err, io.EOF) {
		return nil, &Diagnostic{File: doc.file, Message: "the file is empty", Expected: "a mapping"}
	} else if err != nil {
		d := doc.syntax(err)
		return nil, &d
	}
	switch err := loader.Load(&second); {
	case err == nil:
		d := doc.diagnostic(at(&second), "", "a second document begins here")
		d.Expected = "one document in a file"
		return nil, &d
	case !errors.Is(err, io.EOF):
		d := doc.syntax(err)
		return nil, &d
	}
	return &first, nil
}

// lineBreaks replaces all line breaks of YAML by LF.
var lineBreaks = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func splitLines(data []byte) []string {
	return strings.Split(lineBreaks.Replace(string(data)), "\n")
}

// invalidUTF8 returns the offset of the first byte that is not UTF-8, or -1.
func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// adopt adds the errors that only the YAML library finds: values that their type
// rejects (a duration, an amount of money, a number out of range).
func (c *checker) adopt(err error) {
	several, ok := errors.AsType[*yaml.LoadErrors](err)
	if !ok { // decoding was aborted; the diagnostics may have the reason
		if len(c.found) == 0 {
			c.found = append(c.found, c.doc.syntax(err))
		}
		return
	}
	for _, e := range several.Errors {
		m := mark{e.Mark.Line, e.Mark.Column}
		if c.reported[m] {
			continue // already reported, with a better message
		}
		c.reported[m] = true
		v := c.values[m]
		d := c.doc.diagnostic(m, v.path, e.Message)
		if v.typ != nil && !isText(v.typ) && !decodesItself(v.typ) {
			d.Message, d.Expected = "found "+describeNode(v.node), describeType(v.typ)
		}
		c.found = append(c.found, d)
	}
}

// syntax turns an error of the YAML library into a diagnostic.
func (doc *Document) syntax(err error) Diagnostic {
	e, ok := errors.AsType[*yaml.LoadError](err)
	if !ok {
		return Diagnostic{File: doc.file, Message: "cannot be read as YAML: " + err.Error()}
	}
	message := e.Message
	if e.ContextMsg != "" {
		message = e.ContextMsg + ": " + message
	}
	return doc.diagnostic(mark{e.Mark.Line, e.Mark.Column}, "", "not valid YAML: "+message)
}
