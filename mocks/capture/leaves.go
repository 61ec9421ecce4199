package capture

import (
	"bytes"
	"errors"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// leaf is a text within a body: a string of a JSON document, or bytes that are not JSON.
type leaf struct {
	// from and to are the bytes of the body that the text is written with, without
	// quotes.
	from, to int
	// group names the text that this one is a part of: the pieces of a streamed text
	// have the same, and so have the same members of all events.
	group string
	// piece is true where the text is a piece of a longer one.
	piece bool
	// escaped is true where it is written as a JSON string.
	escaped bool
}

// leaves finds all texts of a body, in their order. stream is true where the body is a
// stream of server-sent events, whose data are JSON documents; else it is one document.
// A body that is not JSON is one text.
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
}

// document finds the texts of the JSON document in body[from:to], or takes all of it for
// one text if it is not JSON.
func (s *scanner) document(from, to int) {
	before := len(s.found)
	d := document{scanner: s, from: from, to: to}
	if err := d.scan(); err != nil {
		s.found = append(s.found[:before], leaf{from: from, to: to, group: "text", piece: true})
	}
}

// document is one JSON document that is scanned.
type document struct {
	*scanner
	from, to int
	open     []container
	// pending are texts whose group is known once the document's end is.
	pending []pending
	nodes   []node
}

// container is an object or a list that is open.
type container struct {
	node   int
	object bool
	name   string // of the member whose value comes next; "" if its name does
	named  bool
	items  int
}

// node is an object or a list.
type node struct {
	parent int // -1 for the document itself
	label  string
	// apart are the members that distinguish one streamed text from another.
	apart string
}

type pending struct {
	leaf
	node int
	name string // its place in the node; empty for the name of a member
}

// apart reports whether a member identifies the text that a piece belongs to, in any
// of the protocols. Of types only an event's own does: the first piece of a tool call has
// one, and those after it have none.
func (d *document) apart(name string) bool {
	switch name {
	case "index", "output_index", "content_index", "summary_index", "item_id":
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

// token takes one token that ends at body[end].
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

// text takes a string that ends at body[end].
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

// opening is the byte after the quote that opens the string which ends at body[to].
func (d *document) opening(to int) int {
	from := d.from
	if n := len(d.pending); n > 0 {
		from = d.pending[n-1].to + 1 // behind the closing quote of the one before
	}
	return from + bytes.IndexByte(d.body[from:to+1], '"') + 1
}

func (d *document) top() *container {
	if len(d.open) == 0 {
		return nil
	}
	return &d.open[len(d.open)-1]
}

// node is the container that the next value belongs to.
func (d *document) node() int {
	if top := d.top(); top != nil {
		return top.node
	}
	return -1
}

// member is the name of the member whose value comes next.
func (d *document) member() string {
	if top := d.top(); top != nil && top.object {
		return top.name
	}
	return ""
}

// label is the place of the next value within its container.
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

// value counts a value as read.
func (d *document) value() {
	if top := d.top(); top != nil {
		top.items++
		top.name, top.named = "", false
	}
}

// distinguish records a member that distinguishes the texts of the current object from
// others. The start of a block of Anthropic's is the first piece of the text after it.
func (d *document) distinguish(name, value string) {
	if value == "content_block_start" {
		value = "content_block_delta"
	}
	d.nodes[d.node()].apart += "\x00" + name + "=" + value
}

// close gives the texts their groups.
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
		pieces[i] = n.parent >= 0 && pieces[n.parent] || n.label == "/delta"
	}
	for _, p := range d.pending {
		if p.name != "" && p.node >= 0 {
			p.group = paths[p.node] + p.name
			p.piece = pieces[p.node] || p.name == "/delta"
		}
		d.found = append(d.found, p.leaf)
	}
}
