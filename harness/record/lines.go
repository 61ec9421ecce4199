package record

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// maxLine limits the bytes of a line with its newline; longer ones are reported as damaged.
const maxLine = 64 << 20

// Problem is a defect of a recording with its position.
type Problem struct {
	// Line is counted from 1; 0 for a problem of the whole recording.
	Line    int
	Message string
}

// String returns the message with its position.
func (p Problem) String() string {
	if p.Line == 0 {
		return p.Message
	}
	return fmt.Sprintf("line %d: %s", p.Line, p.Message)
}

// tornLine describes a last line without a newline.
const tornLine = "the last line is torn: it does not end with a newline"

func newLines(r io.Reader) *jsonl.Reader { return jsonl.NewReader(r, maxLine-len("\n")) }

// nextLine returns the next line, valid until the next call, or what is wrong with it. The
// error is io.EOF at the end.
func nextLine(in *jsonl.Reader) (line []byte, wrong string, err error) {
	line, err = in.Next()
	tooLong := errors.Is(err, jsonl.ErrTooLong)
	switch {
	case err != nil && !tooLong:
		return nil, "", err
	case in.Torn():
		return nil, tornLine, nil
	case tooLong:
		return nil, fmt.Sprintf("the line is longer than %d MB", maxLine>>20), nil
	}
	return line, "", nil
}

// stored is one parsed line.
type stored struct {
	hash []byte
	seq  int
	kind string
	body []byte // {"type":...}, the bytes that the hash covers
}

// parse parses a line in place: it overwrites one byte of it.
func parse(line []byte) (s stored, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte(hashStart))
	if !ok || len(rest) < hashLen {
		return s, false
	}
	s.hash = rest[:hashLen]
	digits, rest, found := bytes.Cut(rest[hashLen:], []byte(","))
	// seqStart begins with the quote that ends the hash and a comma.
	if !found || len(digits) != 1 || digits[0] != seqStart[0] {
		return s, false
	}
	rest, ok = bytes.CutPrefix(rest, []byte(seqStart[2:]))
	comma := bytes.IndexByte(rest, ',')
	if !ok || comma < 1 || rest[0] == '0' || rest[0] == '+' {
		return s, false
	}
	seq, err := strconv.Atoi(string(rest[:comma]))
	if err != nil || seq < 1 {
		return s, false
	}
	s.seq, s.body = seq, rest[comma:]
	s.body[0] = '{'
	s.kind, ok = lineKind(s.body)
	return s, ok
}

// lineKind returns the type of a line without its hash.
func lineKind(body []byte) (string, bool) {
	kind, ok := bytes.CutPrefix(body, []byte(bodyStart))
	quote := bytes.IndexByte(kind, '"')
	if !ok || quote < 1 {
		return "", false
	}
	return string(kind[:quote]), true
}
