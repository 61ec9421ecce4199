package journal

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// extent is how much of a journal is whole.
type extent struct {
	mark
	size int64 // of the whole lines and the header; 0 if there is no whole header
	torn int64 // bytes after that, which were never acknowledged
}

// scan reads a journal and hands over each line that is whole and in its place.
//
// What is written last may be there in part, or as another text of its length,
// when the power failed: the first line that is not whole ends the journal, unless a
// whole line comes after it. Then something else changed the file, and the error
// wraps ErrCorrupt.
func scan(in io.Reader, take func(line) error) (extent, error) {
	r := reader{in: bufio.NewReaderSize(in, 256<<10)}
	var e extent
	text, err := r.next()
	if err != nil {
		return e, err
	}
	if string(text) != header {
		return e, e.noHeader(text)
	}
	e.size = int64(len(header))
	for {
		text, err := r.next()
		if err != nil || len(text) == 0 {
			return e, err
		}
		l, ok := parseLine(text)
		if !ok {
			return e, e.judgeEnd(text, &r)
		}
		if l.number != e.records+1 {
			return e, e.corrupt(fmt.Sprintf("there stands record %d; lines are missing, doubled or moved", l.number))
		}
		if err := take(l); err != nil {
			return e, err
		}
		e.size += int64(len(text))
		e.sum = l.sum
		e.records += 1 + bytes.Count(l.records, []byte("\t"))
	}
}

// noHeader judges a file that does not begin with the header.
func (e *extent) noHeader(text []byte) error {
	if strings.HasPrefix(header, string(text)) { // an empty file, too
		e.torn = int64(len(text))
		return nil
	}
	if rest, ok := bytes.CutPrefix(text, []byte(headerPrefix)); ok {
		digits, _, _ := bytes.Cut(rest, []byte(":"))
		if version, err := strconv.ParseUint(string(digits), 10, 31); err == nil && version != 1 {
			return fmt.Errorf("the journal has format %d, which this version does not know; use the version that wrote it", version)
		}
	}
	return e.corrupt("its first line is not that of a journal")
}

// judgeEnd judges the first line that is not whole: it is the end of the journal if
// no whole line comes after it, nor ends it: the end of a line may be what was changed.
func (e *extent) judgeEnd(text []byte, r *reader) error {
	if wholeAfter(text) {
		return e.corrupt("it does not have its checksum, and what ends its line has")
	}
	for e.torn = r.length; ; e.torn += r.length {
		text, err := r.next()
		if err != nil || len(text) == 0 {
			return err
		}
		if l, ok := parseLine(text); ok {
			return e.corrupt(fmt.Sprintf("it does not have its checksum, and record %d after it has", l.number))
		}
	}
}

// wholeAfter says whether text ends with a line that is whole. It looks at so many
// places where one may begin, since each costs a checksum of the rest.
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
	return fmt.Errorf("%w: %s: %s; nothing was cut: put back a copy of the folder, or cut the file there to lose what follows", ErrCorrupt, at, why)
}

// reader reads lines with their ends.
type reader struct {
	in     *bufio.Reader
	buf    []byte
	length int64 // of the last line, be it longer than what was returned
}

// next returns the next line, valid until the next call, and nothing at the end. Of a
// line that is too long it returns the beginning, which is then no whole line.
func (r *reader) next() ([]byte, error) {
	chunk, err := r.in.ReadSlice('\n')
	r.length = int64(len(chunk))
	if errors.Is(err, bufio.ErrBufferFull) {
		r.buf = append(r.buf[:0], chunk...)
		for errors.Is(err, bufio.ErrBufferFull) {
			chunk, err = r.in.ReadSlice('\n')
			r.length += int64(len(chunk))
			if len(r.buf) <= maxLine {
				r.buf = append(r.buf, chunk...)
			}
		}
		chunk = r.buf
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading the journal: %w", err)
	}
	return chunk, nil
}
