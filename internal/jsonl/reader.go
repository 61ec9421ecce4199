// Package jsonl reads and writes append-only logs of one record a line, which a crash may
// leave with a torn last line.
package jsonl

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong means that a line is longer than the reader's limit.
var ErrTooLong = errors.New("the line is too long")

// Reader reads a stream of unknown origin line by line in bounded memory.
type Reader struct {
	in     *bufio.Reader
	limit  int
	n      int
	offset int64
	torn   bool
	buf    []byte
}

// NewReader returns a reader of lines of at most limit bytes each.
func NewReader(r io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line without its newline. The caller may change it; it is valid
// until the next call. For a line that is too long the error is ErrTooLong, and the next
// call returns the line after it. At the end the error is io.EOF.
func (r *Reader) Next() ([]byte, error) {
	line, err := r.in.ReadSlice('\n')
	if len(line) == 0 && err != nil {
		return nil, err
	}
	r.n++
	size := len(line)
	if errors.Is(err, bufio.ErrBufferFull) {
		r.buf = append(r.buf[:0], line...)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.in.ReadSlice('\n')
			if size += len(line); size <= r.limit+1 {
				r.buf = append(r.buf, line...)
			}
		}
		line = r.buf
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	r.offset += int64(size)
	if r.torn = err != nil; !r.torn {
		size--
	}
	if size > r.limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, r.limit)
	}
	return line[:size], nil
}

// Line returns the number, from 1, of the line that Next returned last.
func (r *Reader) Line() int { return r.n }

// Skip counts lines before those of the stream, which begins inside a file.
func (r *Reader) Skip(lines int) { r.n += lines }

// Torn reports whether the line that Next returned last is the end of the stream without
// a newline.
func (r *Reader) Torn() bool { return r.torn }

// Offset returns the number of bytes up to the end of the line that Next returned last.
func (r *Reader) Offset() int64 { return r.offset }
