package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// Causes of an *llm.Error.
var (
	// ErrFlood means that the output of an agent exceeded its limit.
	ErrFlood = errors.New("output limit exceeded")
	// ErrKilled means that a signal of another process ended the agent.
	ErrKilled = errors.New("killed by a signal")
)

// eachLine calls yield for each line of r, without its line ending, which the last line may lack. It
// replaces a line longer than maxLine by a short note, because one huge tool result must not end the
// run. More than maxTotal bytes are ErrFlood.
func eachLine(r io.Reader, maxLine int, maxTotal int64, yield func([]byte)) error {
	lines := jsonl.NewReader(&limited{from: r, left: maxTotal}, maxLine)
	for {
		line, err := lines.Next()
		switch {
		case err == nil:
			yield(bytes.TrimRight(line, "\r"))
		case errors.Is(err, jsonl.ErrTooLong):
			yield(fmt.Appendf(nil, "(a line of more than %d bytes was skipped)", maxLine))
		case errors.Is(err, ErrFlood):
			return fmt.Errorf("%w: more than %d bytes on standard output", ErrFlood, maxTotal)
		default:
			return nil // the end of the pipe; the ending of the process has the reason
		}
	}
}

// limited fails with ErrFlood after the first left bytes of a stream.
type limited struct {
	from io.Reader
	left int64
}

// Read implements io.Reader.
func (l *limited) Read(p []byte) (int, error) {
	if l.left == 0 {
		if n, err := l.from.Read(make([]byte, 1)); n == 0 {
			return 0, err
		}
		return 0, ErrFlood
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
