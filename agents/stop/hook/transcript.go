package hook

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
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
func lastMessage(path string) (string, error) {
	file, size, err := openTranscript(path)
	if err != nil {
		return "", fmt.Errorf("open the transcript: %w", err)
	}
	defer file.Close()
	for length := int64(firstTail); ; length = min(4*length, maxTail) {
		start := max(0, size-length)
		tail := make([]byte, size-start)
		// A transcript may grow or shrink under the reader.
		n, err := file.ReadAt(tail, start)
		if err != nil && !errors.Is(err, io.EOF) {
			return "", fmt.Errorf("read the transcript: %w", err)
		}
		message, settled := final(tail[:n], start == 0)
		if !settled && start > 0 && length < maxTail {
			continue
		}
		if message == "" {
			return "", errNotFinal
		}
		return message, nil
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
		return nil, 0, brief(err)
	}
	if !named.Mode().IsRegular() {
		return nil, 0, errors.New("it is not a regular file")
	}
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, 0, brief(err)
	}
	opened, err := file.Stat()
	if err != nil || !os.SameFile(named, opened) {
		file.Close()
		return nil, 0, errors.New("it was exchanged while it was opened")
	}
	return file, opened.Size(), nil
}

// brief removes the path from an error, as it comes from a host's input.
func brief(err error) error {
	if pe, ok := errors.AsType[*os.PathError](err); ok {
		return pe.Err
	}
	return err
}

// final finds the agent's last message in the end of a transcript. It is settled
// if reading further back cannot change it. Whole is true if tail is the whole file.
func final(tail []byte, whole bool) (message string, settled bool) {
	if whole {
		if message, ok := finalOfDocument(tail); ok {
			return message, true
		}
	}
	rest := bytes.TrimRight(tail, "\r\n\t ")
	var parts []string // of a message on several lines, last first
	id := ""
	for len(rest) > 0 {
		start := bytes.LastIndexByte(rest, '\n') + 1
		if start == 0 && !whole {
			break // the line's beginning is not here
		}
		e := readEntry(rest[start:])
		rest = rest[:max(0, start-1)]
		switch {
		case e.kind == aside:
			continue
		case e.kind == spoken && e.text != "" && (len(parts) == 0 || (e.id != "" && e.id == id)):
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
