package detect

import (
	"bytes"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

const (
	// maxLine limits the length of a line, and with it the memory for an item.
	maxLine = 16 << 20
	// maxIDs limits the ids that are stored to find duplicates, and with them the memory for a
	// corpus to about 20 MB.
	maxIDs = 1 << 20
)

// LineError reports a line without a valid item. The following lines can still be read.
type LineError struct {
	File string
	Line int // from 1
	Err  error
}

// Error formats the error as file:line: message.
func (e *LineError) Error() string { return fmt.Sprintf("%s:%d: %v", e.File, e.Line, e.Err) }

// Unwrap returns the cause.
func (e *LineError) Unwrap() error { return e.Err }

// ReadCorpus reads a corpus lazily; name is the file name in messages. A line without a valid item
// yields a *LineError, and reading continues. Any other error comes from the reader and is the last
// one. Blank lines and a byte order mark are skipped; blank lines are counted.
//
// An item needs text and a label of the kind; unknown keys are ignored. The labels true and false,
// used by corpora that only record whether a message defers, stand for the kind's first and last
// label. A repeated id is an error; it is not detected beyond a million items.
func ReadCorpus(r io.Reader, name string, kind CorpusKind) iter.Seq2[Item, error] {
	return readItems(r, name, kind.Labels())
}

// ReadMessages is ReadCorpus for messages that are to be labelled. Labels, confidences, categories,
// steps and notes are ignored and not checked.
func ReadMessages(r io.Reader, name string) iter.Seq2[Item, error] { return readItems(r, name, nil) }

func readItems(r io.Reader, name string, labels []string) iter.Seq2[Item, error] {
	return func(yield func(Item, error) bool) {
		in := &reader{
			in: jsonl.NewReader(r, maxLine), name: name, labels: labels,
			seed: maphash.MakeSeed(), ids: map[uint64]int32{},
		}
		for {
			item, err := in.next()
			if err == io.EOF { //nolint:errorlint // next returns it unwrapped
				return
			}
			_, passable := errors.AsType[*LineError](err)
			if !yield(item, err) || err != nil && !passable {
				return
			}
		}
	}
}

type reader struct {
	in     *jsonl.Reader
	name   string
	labels []string // nil if items have none
	seed   maphash.Seed
	ids    map[uint64]int32 // hash of an id to its line
}

// next returns the next item, or io.EOF.
func (r *reader) next() (Item, error) {
	for {
		line, err := r.in.Next()
		if errors.Is(err, io.EOF) {
			return Item{}, io.EOF
		}
		if err != nil && !errors.Is(err, jsonl.ErrTooLong) {
			return Item{}, fmt.Errorf("read corpus %s after line %d: %w", r.name, r.in.Line(), err)
		}
		if r.in.Line() == 1 {
			line = bytes.TrimPrefix(line, []byte("\ufeff"))
		}
		if err == nil && len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var item Item
		if err == nil {
			item, err = r.parse(line)
		}
		if err != nil {
			return Item{}, &LineError{File: r.name, Line: r.in.Line(), Err: err}
		}
		return item, nil
	}
}

// wire is the JSON form of an item.
type wire struct {
	Item
	Text  *string        `json:"text"`
	Label jsontext.Value `json:"label"`
}

// parse parses the current line.
func (r *reader) parse(line []byte) (Item, error) {
	var w wire
	if err := json.Unmarshal(line, &w); err != nil {
		return Item{}, fmt.Errorf("not an item: %s", explain(err))
	}
	if w.Text == nil {
		return Item{}, errors.New("text is missing")
	}
	item := w.Item
	item.Text = *w.Text
	if r.labels == nil {
		item.Label, item.Confidence, item.Categories, item.Steps, item.Note = "", "", nil, nil, ""
	} else {
		label, err := r.label(w.Label)
		if err != nil {
			return Item{}, err
		}
		item.Label = label
	}
	for _, c := range item.Categories {
		if err := among("category", c, categories()); err != nil {
			return Item{}, err
		}
	}
	if item.Confidence != "" {
		if err := among("confidence", item.Confidence, Confidences()); err != nil {
			return Item{}, err
		}
	}
	if item.ID == "" {
		item.ID = fmt.Sprintf("%s:%d", r.name, r.in.Line())
	}
	return item, r.remember(item.ID)
}

// label parses a label, or a boolean.
func (r *reader) label(v jsontext.Value) (string, error) {
	switch v.Kind() {
	case 't':
		return r.labels[0], nil
	case 'f':
		return r.labels[len(r.labels)-1], nil
	case '"':
		var s string
		if err := json.Unmarshal(v, &s); err != nil {
			return "", fmt.Errorf("label: %w", err)
		}
		return s, among("label", s, r.labels)
	case 0, 'n':
		return "", errors.New("label is missing")
	default:
		return "", fmt.Errorf("label must be one of %s, or true or false", strings.Join(r.labels, ", "))
	}
}

func among(what, word string, choices []string) error {
	if slices.Contains(choices, word) {
		return nil
	}
	hint := ""
	if nearest := suggest.Nearest(word, choices); nearest != "" {
		hint = fmt.Sprintf(" (did you mean %q?)", nearest)
	}
	return fmt.Errorf("unknown %s %q%s; known: %s", what, sanitize.Line(word, 60), hint, strings.Join(choices, ", "))
}

// explain removes the name of the library from a decoder's message.
func explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"jsontext: ", "json: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	return sanitize.Line(text, 300)
}

// remember returns an error for a repeated id.
func (r *reader) remember(id string) error {
	hash := maphash.String(r.seed, id)
	if first, ok := r.ids[hash]; ok {
		return fmt.Errorf("the id %q is already used in line %d", sanitize.Line(id, 60), first)
	}
	if len(r.ids) < maxIDs {
		r.ids[hash] = int32(r.in.Line())
	}
	return nil
}
