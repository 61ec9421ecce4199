package capture

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// leaf is a text within a body: a string of a JSON document, or bytes that are not JSON.
type leaf struct {
	// from and to delimit the text in the body, without quotes.
	from, to int
	// group identifies the text of which this one is a part: the pieces of a streamed text have
	// the same group, and so has a field in all events.
	group string
	// piece is true for a piece of a longer text.
	piece bool
	// escaped is true for a JSON string.
	escaped bool
}

// leaves returns all texts of a body in order. The body is one JSON document or, if stream is true, a
// stream of JSON documents: the data of server-sent events, or lines. A body that is not JSON is one
// text.
func leaves(body []byte, stream bool) []leaf {
	s := scanner{body: body}
	if !stream {
		s.document(0, len(body))
		return s.found
	}
	for at := 0; at < len(body); {
		end, next := lineEnd(body, at)
		line := body[at:end]
		if data, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			s.document(end-len(data), end)
		} else if bytes.HasPrefix(line, []byte("{")) {
			s.lines = true
			s.document(at, end)
		} else {
			s.found = append(s.found, leaf{from: at, to: end})
		}
		at = next
	}
	return s.found
}

// lineEnd returns the end of the line that begins at body[at], and the start of the next.
// A line ends with LF, CR or both (WHATWG HTML, 9.2.5).
func lineEnd(body []byte, at int) (end, next int) {
	i := bytes.IndexAny(body[at:], "\r\n")
	if i < 0 {
		return len(body), len(body)
	}
	end = at + i
	if bytes.HasPrefix(body[end:], []byte("\r\n")) {
		return end, end + 2
	}
	return end, end + 1
}

// scanner finds the texts of documents.
type scanner struct {
	body  []byte
	found []leaf
	lines bool // the stream is lines of JSON
}

// linePieces are the fields of such lines that are pieces of a longer text.
var linePieces = []string{"/message/content", "/message/thinking", "/response", "/thinking"}

// document finds the texts of the JSON document in body[from:to]. If that is not JSON, it is one text.
func (s *scanner) document(from, to int) {
	before := len(s.found)
	d := document{scanner: s, from: from, to: to}
	if err := d.scan(); err != nil {
		s.found = append(s.found[:before], leaf{from: from, to: to, group: "text", piece: true})
	}
}

// document scans one JSON document.
type document struct {
	*scanner
	from, to int
	open     []container
	// pending has the texts, whose groups are known at the end of the document.
	pending []pending
	nodes   []node
}

// container is an open object or list.
type container struct {
	node   int
	object bool
	name   string // of the next value in an object; "" if the name comes next
	named  bool
	items  int
}

// node is an object or a list.
type node struct {
	parent int // -1 for the document itself
	label  string
	// apart has the fields that distinguish streamed texts.
	apart string
}

type pending struct {
	leaf
	node int
	name string // its place in the node; empty for the name of a field
}

// apart reports whether a field identifies the text of a piece in any protocol. Of the types only
// those of events do, because only the first piece of a tool call has a type.
func (d *document) apart(name string) bool {
	switch name {
	case "index", "output_index", "content_index", "summary_index", "item_id", "thought":
		return true
	case "type":
		return len(d.open) == 1
	}
	return false
}

func (d *document) scan() error {
	in := jsontext.NewDecoder(bytes.NewBuffer(d.body[d.from:d.to]),
		jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
	values := 0
	for {
		token, err := in.ReadToken()
		if errors.Is(err, io.EOF) && values == 1 && len(d.open) == 0 {
			d.close()
			return nil
		}
		if err != nil {
			return err
		}
		if len(d.open) == 0 {
			values++
		}
		d.token(token, d.from+int(in.InputOffset()))
	}
}

// token processes a token that ends at body[end].
func (d *document) token(token jsontext.Token, end int) {
	switch token.Kind() {
	case '{', '[':
		label, parent := d.label(), d.node()
		d.value()
		d.nodes = append(d.nodes, node{parent: parent, label: label})
		d.open = append(d.open, container{node: len(d.nodes) - 1, object: token.Kind() == '{'})
	case '}', ']':
		d.open = d.open[:len(d.open)-1]
	case '"':
		d.text(token, end)
	default:
		if name := d.member(); d.apart(name) {
			d.distinguish(name, token.String())
		}
		d.value()
	}
}

// text processes a string that ends at body[end].
func (d *document) text(token jsontext.Token, end int) {
	found := pending{leaf: leaf{to: end - 1, escaped: true}, node: d.node(), name: d.label()}
	found.from = d.opening(found.to)
	if top := d.top(); top != nil && top.object && !top.named {
		top.name, top.named = token.String(), true
		found.name = ""
	} else {
		if name := d.member(); d.apart(name) {
			d.distinguish(name, token.String())
		}
		d.value()
	}
	d.pending = append(d.pending, found)
}

// opening returns the offset after the opening quote of the string that ends at body[to].
func (d *document) opening(to int) int {
	from := d.from
	if n := len(d.pending); n > 0 {
		from = d.pending[n-1].to + 1 // after the closing quote of the previous string
	}
	return from + bytes.IndexByte(d.body[from:to+1], '"') + 1
}

func (d *document) top() *container {
	if len(d.open) == 0 {
		return nil
	}
	return &d.open[len(d.open)-1]
}

// node returns the container of the next value.
func (d *document) node() int {
	if top := d.top(); top != nil {
		return top.node
	}
	return -1
}

// member returns the field of the next value.
func (d *document) member() string {
	if top := d.top(); top != nil && top.object {
		return top.name
	}
	return ""
}

// label returns the place of the next value within its container.
func (d *document) label() string {
	switch top := d.top(); {
	case top == nil:
		return ""
	case top.object:
		return "/" + top.name
	default:
		return "/" + strconv.Itoa(top.items)
	}
}

func (d *document) value() {
	if top := d.top(); top != nil {
		top.items++
		top.name, top.named = "", false
	}
}

// distinguish records a field that distinguishes the texts of the current object. The start of an
// Anthropic block is the first piece of its text.
func (d *document) distinguish(name, value string) {
	if value == "content_block_start" {
		value = "content_block_delta"
	}
	d.nodes[d.node()].apart += "\x00" + name + "=" + value
}

// close sets the groups of the texts.
func (d *document) close() {
	paths, pieces := make([]string, len(d.nodes)), make([]bool, len(d.nodes))
	for i, n := range d.nodes { // parents come first
		if n.parent >= 0 {
			paths[i] = paths[n.parent]
		}
		if n.label == "/content_block" {
			n.label = "/delta"
		}
		paths[i] += n.label + n.apart
		pieces[i] = n.parent >= 0 && pieces[n.parent] || n.label == "/delta" || n.label == "/parts"
	}
	for _, p := range d.pending {
		if p.name != "" && p.node >= 0 {
			p.group = paths[p.node] + p.name
			p.piece = pieces[p.node] || p.name == "/delta" || d.lines && slices.Contains(linePieces, p.group)
		}
		d.found = append(d.found, p.leaf)
	}
}
