package journal

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// extent is the intact part of a journal.
type extent struct {
	mark
	size int64 // of the header and the intact lines; 0 without an intact header
	torn int64 // bytes after that, which were never acknowledged
}

// scan reads a journal and calls take for each intact line.
//
// After a power failure, the last write may be incomplete, or have other bytes of the same length.
// Therefore the first damaged line ends the journal. If an intact line follows, something else changed
// the file, and the error wraps ErrCorrupt.
func scan(in io.Reader, take func(line) error) (extent, error) {
	r := reader{jsonl.NewReader(in, maxLine)}
	var e extent
	text, whole, err := r.next()
	if err != nil && !errors.Is(err, io.EOF) {
		return e, err
	}
	if !whole || string(text)+"\n" != header {
		return e, e.noHeader(text, whole, r.Offset())
	}
	for {
		e.size = r.Offset()
		text, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			return e, nil
		}
		if err != nil {
			return e, err
		}
		l, ok := parseLine(text)
		if !ok || !whole {
			return e, e.judgeEnd(text, whole, r)
		}
		if l.number != e.records+1 {
			return e, e.corrupt(fmt.Sprintf("found record %d; lines are missing, duplicated or moved", l.number))
		}
		if err := take(l); err != nil {
			return e, err
		}
		e.sum = l.sum
		e.records += 1 + bytes.Count(l.records, []byte("\t"))
	}
}

// noHeader judges a file whose first line, of the given size, is not the header.
func (e *extent) noHeader(text []byte, whole bool, size int64) error {
	if !whole && int64(len(text)) == size && strings.HasPrefix(header, string(text)) { // an empty file, too
		e.torn = size
		return nil
	}
	if rest, ok := bytes.CutPrefix(text, []byte(headerPrefix)); ok {
		digits, _, _ := bytes.Cut(rest, []byte(":"))
		if version, err := strconv.ParseUint(string(digits), 10, 31); err == nil && version != 1 {
			return fmt.Errorf("the journal has format %d, which this version does not support; use the version that wrote it", version)
		}
	}
	return e.corrupt("the first line is not the header of a journal")
}

// judgeEnd judges the first damaged line. It is the end of the journal if no intact line follows
// or ends it, since the damage may have removed a line break.
func (e *extent) judgeEnd(text []byte, whole bool, r reader) error {
	if whole && wholeAfter(text) {
		return e.corrupt("the checksum does not match, but the line ends with an intact record")
	}
	for {
		text, whole, err := r.next()
		if errors.Is(err, io.EOF) {
			e.torn = r.Offset() - e.size
			return nil
		}
		if err != nil {
			return err
		}
		if l, ok := parseLine(text); ok && whole {
			return e.corrupt(fmt.Sprintf("the checksum does not match, but record %d after it is intact", l.number))
		}
	}
}

// wholeAfter reports whether text ends with an intact line. It tries a limited number of positions,
// because each needs a checksum of the rest.
func wholeAfter(text []byte) bool {
	at := 0
	for places := 256; places > 0; at++ {
		i := bytes.IndexByte(text[at:], ' ')
		if i < 0 {
			return false
		}
		if at += i; at < 8 {
			continue
		}
		if _, _, ok := cutSum(text[at-8:]); ok {
			places--
			if _, ok := parseLine(text[at-8:]); ok {
				return true
			}
		}
	}
	return false
}

func (e *extent) corrupt(why string) error {
	at := fmt.Sprintf("record %d, at byte %d", e.records+1, e.size)
	e.torn = 0
	return fmt.Errorf("%w: %s: %s; nothing was cut off: restore a copy of the folder, or truncate the file there and lose what follows",
		ErrCorrupt, at, why)
}

// reader reads the lines of a journal.
type reader struct{ *jsonl.Reader }

// next returns the next line, valid until the next call, and whether it is whole. A line that is too
// long is empty and not whole; a line without a newline is not whole.
func (r reader) next() (text []byte, whole bool, err error) {
	text, err = r.Next()
	switch {
	case err == nil:
		return text, !r.Torn(), nil
	case errors.Is(err, jsonl.ErrTooLong):
		return nil, false, nil
	case errors.Is(err, io.EOF):
		return nil, false, err
	}
	return nil, false, fmt.Errorf("read the journal: %w", err)
}
