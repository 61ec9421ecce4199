// Package linereader reads a stream of unknown origin line by line in bounded memory.
package linereader

import (
	"bufio"
	"errors"
	"fmt"
	"io"
)

// ErrTooLong says that a line is longer than the reader's limit.
var ErrTooLong = errors.New("the line is too long")

// Reader reads lines.
type Reader struct {
	in    *bufio.Reader
	limit int
	n     int
	buf   []byte
}

// New returns a reader of lines of at most limit bytes each.
func New(r io.Reader, limit int) *Reader {
	return &Reader{in: bufio.NewReaderSize(r, 64<<10), limit: limit}
}

// Next returns the next line without its ending, LF or CR LF. It is valid until
// the next call. A last line without an ending is a line, too. Of a line that is
// too long nothing is returned but ErrTooLong; the next call goes on behind it.
// At the end the error is io.EOF.
func (l *Reader) Next() ([]byte, error) {
	chunk, err := l.in.ReadSlice('\n')
	if len(chunk) == 0 && err != nil {
		return nil, err
	}
	l.n++
	line := chunk
	size := len(chunk)
	if errors.Is(err, bufio.ErrBufferFull) {
		l.buf = append(l.buf[:0], chunk...)
		for errors.Is(err, bufio.ErrBufferFull) {
			chunk, err = l.in.ReadSlice('\n')
			if size += len(chunk); size <= l.limit+len("\r\n") {
				l.buf = append(l.buf, chunk...)
			}
		}
		line = l.buf
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if size <= l.limit+len("\r\n") {
		line = withoutEnding(line)
		size = len(line)
	}
	if size > l.limit {
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, l.limit)
	}
	return line, nil
}

func withoutEnding(line []byte) []byte {
	if n := len(line); n > 0 && line[n-1] == '\n' {
		line = line[:n-1]
		if n > 1 && line[n-2] == '\r' {
			line = line[:n-2]
		}
	}
	return line
}

// Line is the number, from 1, of the line that Next returned last.
func (l *Reader) Line() int { return l.n }
