package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// What ended an agent, where the kind of an *llm.Error does not say it all: errors wrap
// them.
var (
	// ErrFlood means that an agent wrote more than it may.
	ErrFlood = errors.New("output limit exceeded")
	// ErrKilled means that a signal ended the agent that was not ours.
	ErrKilled = errors.New("killed by a signal")
)

// eachLine calls yield for each line of r, without its line ending. A line
// beyond maxLine is replaced by a short note, so that one huge tool result does
// not end the run; more than maxTotal bytes do, with ErrFlood. A last line
// without ending is a line too.
func eachLine(r io.Reader, maxLine int, maxTotal int64, yield func([]byte)) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var line []byte
	var total int64
	size := 0
	for {
		part, err := br.ReadSlice('\n')
		total += int64(len(part))
		if total > maxTotal {
			return fmt.Errorf("%w: more than %d bytes on standard output", ErrFlood, maxTotal)
		}
		size += len(part)
		if size <= maxLine {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		switch {
		case size > maxLine:
			yield(fmt.Appendf(nil, "(a line of %d bytes was skipped)", size))
		case size > 0:
			yield(bytes.TrimRight(line, "\r\n"))
		}
		if err != nil {
			return nil //nolint:nilerr // the pipe's end; why it ended is the process's to say
		}
		line, size = line[:0], 0
	}
}
