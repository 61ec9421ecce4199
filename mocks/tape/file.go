package tape

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// maxLine limits a line in bytes: a request and an answer of 32 MB each, with JSON escapes.
const maxLine = 160 << 20

// Tape is the content of a capture.
type Tape struct {
	// Headers has the first header, and one for each time the capture was resumed.
	Headers   []Header
	Exchanges []Exchange
	// Whole is the size of the complete lines of the file in bytes; a torn line may follow.
	Whole int64

	at   map[int]int // index of an exchange by its number
	last int         // the highest number
}

// Next returns the number of the next exchange.
func (t *Tape) Next() int { return t.last + 1 }

// Find returns the exchange number n.
func (t *Tape) Find(n int) (*Exchange, bool) {
	i, ok := t.at[n]
	if !ok {
		return nil, false
	}
	return &t.Exchanges[i], true
}

// Read reads a capture. It ignores a last line without an end, which a killed process has torn. Errors
// name the line.
func Read(r io.Reader) (Tape, error) {
	t := Tape{at: map[int]int{}}
	in := jsonl.NewReader(r, maxLine)
	for {
		line, err := in.Next()
		switch {
		case errors.Is(err, io.EOF), err == nil && in.Torn():
			return t, t.complete()
		case err == nil:
			err = t.add(line)
		}
		if err != nil {
			return t, fmt.Errorf("line %d: %w", in.Line(), err)
		}
		t.Whole = in.Offset()
	}
}

// complete returns an error if the file has no header.
func (t *Tape) complete() error {
	if len(t.Headers) == 0 {
		return errors.New("the file is not a capture: it does not begin with a header")
	}
	return nil
}

func (t *Tape) add(line []byte) error {
	var kind struct {
		Type   string `json:"type"`
		Schema string `json:"schema"`
	}
	if err := json.Unmarshal(line, &kind); err != nil {
		return fmt.Errorf("not a line of a capture: %w", err)
	}
	switch {
	case kind.Type == kindHeader && kind.Schema != schema:
		return fmt.Errorf("the capture's format is %.60q; this program reads %s", kind.Schema, schema)
	case kind.Type == kindHeader:
		var h Header
		err := json.Unmarshal(line, &h)
		t.Headers = append(t.Headers, h)
		return err
	case len(t.Headers) == 0:
		return errors.New("the file does not begin with a header of a capture")
	case kind.Type != kindExchange:
		return fmt.Errorf("unknown type of line %.60q", kind.Type)
	}
	var x Exchange
	if err := json.Unmarshal(line, &x); err != nil {
		return err
	}
	if _, twice := t.Find(x.N); twice {
		return fmt.Errorf("exchange %d exists twice", x.N)
	}
	t.at[x.N], t.last = len(t.Exchanges), max(t.last, x.N)
	t.Exchanges = append(t.Exchanges, x)
	return x.check()
}

// AppendHeader appends a header as a line. It sets Schema.
func AppendHeader(b []byte, h Header) ([]byte, error) {
	h.Schema = schema
	return appendLine(b, kindHeader, h)
}

// AppendExchange appends an exchange as a line.
func AppendExchange(b []byte, x Exchange) ([]byte, error) {
	if err := x.check(); err != nil {
		return nil, err
	}
	return appendLine(b, kindExchange, x)
}

func appendLine(b []byte, kind string, v any) ([]byte, error) {
	var line bytes.Buffer
	encoder := json.NewEncoder(&line)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); err != nil {
		return nil, fmt.Errorf("encode a line of the capture: %w", err)
	}
	b = append(b, `{"type":"`+kind+`",`...)
	return append(b, line.Bytes()[1:]...), nil
}
