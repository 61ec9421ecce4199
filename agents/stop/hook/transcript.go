package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

const (
	// maxTail is how far back from its end a transcript is read. What the agent did
	// since its last message is never that long, unless that message is.
	maxTail = 16 << 20
	// firstTail is read first; it is enough for nearly every message.
	firstTail = 64 << 10
)

// errNotFinal is returned if the transcript ends before the message: hosts write it
// asynchronously, so it may lag behind.
var errNotFinal = errors.New("the transcript has no message of the agent after the last request or tool call")

// lastMessage reads the agent's last message from a host's transcript.
func lastMessage(path string, subagent bool) (message string, err error) {
	err = readBack(path, subagent, func(t tail) (settled bool) {
		message, settled = t.message()
		return settled
	})
	if err == nil && message == "" {
		err = errNotFinal
	}
	return message, err
}

// readBack calls visit with ever longer ends of a transcript, until visit returns true.
func readBack(path string, subagent bool, visit func(tail) bool) error {
	file, size, err := openTranscript(path)
	if err != nil {
		return fmt.Errorf("open the transcript: %w", err)
	}
	defer file.Close()
	for length := int64(firstTail); ; length = min(4*length, maxTail) {
		start := max(0, size-length)
		data := make([]byte, size-start)
		// A transcript may grow or shrink under the reader.
		n, err := file.ReadAt(data, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the transcript: %w", err)
		}
		if visit(tail{data[:n], start == 0, subagent}) || start == 0 || length >= maxTail {
			return nil
		}
	}
}

// openTranscript opens a regular file and nothing else: a host's input names it,
// and a pipe would block.
func openTranscript(path string) (*os.File, int64, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, 0, err
		}
		path = filepath.Join(home, rest)
	}
	if !filepath.IsAbs(path) {
		return nil, 0, errors.New("its path is not absolute")
	}
	named, err := os.Lstat(path)
	if err != nil {
		return nil, 0, sanitize.WithoutPath(err)
	}
	if !named.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, sanitize.WithoutPath(err)
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(named, opened) {
		file.Close()
		return nil, 0, errors.New("it was exchanged while it was opened")
	}
	return file, opened.Size(), nil
}

// tail is the end of a transcript.
type tail struct {
	data     []byte
	whole    bool // data is the whole file
	subagent bool // the transcript is a subagent's own
}

// message returns the agent's last message. It is settled if reading further back cannot
// change it.
func (t tail) message() (message string, settled bool) {
	var parts []string // of a message on several lines, last first
	id := ""
	for e := range t.backward(func([]byte) bool { return true }) {
		if e.kind == aside {
			continue
		}
		if e.kind == spoken && e.text != "" && (len(parts) == 0 || (e.id != "" && e.id == id)) {
			parts, id = append(parts, e.text), e.id
			if id != "" {
				continue // Claude Code writes a line for each block of a message
			}
		}
		settled = true
		break
	}
	slices.Reverse(parts)
	return strings.Join(parts, "\n\n"), settled
}

// backward yields the entries of the lines that are relevant, from the last to the first. A line
// whose beginning is missing has none.
func (t tail) backward(relevant func(line []byte) bool) iter.Seq[entry] {
	return func(yield func(entry) bool) {
		rest := bytes.TrimRight(t.data, "\r\n\t ")
		if t.whole && isDocument(rest) {
			t.yieldLine(rest, yield)
			return
		}
		for len(rest) > 0 {
			start := bytes.LastIndexByte(rest, '\n') + 1
			if start == 0 && !t.whole {
				return
			}
			line := rest[start:]
			rest = rest[:max(0, start-1)]
			if relevant(line) && !t.yieldLine(line, yield) {
				return
			}
		}
	}
}

// yieldLine yields the entries of a line from the last to the first, until yield returns false.
func (t tail) yieldLine(line []byte, yield func(entry) bool) bool {
	for _, r := range slices.Backward(readRecords(line)) {
		if !yield(r.entry(t.subagent)) {
			return false
		}
	}
	return true
}
