package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/gofrs/flock"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/jsonl"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

// Journal is the tape of a running capture. It is safe for concurrent use.
//
// Keep passes an exchange to the operating system before it returns: a killed process loses none.
type Journal struct {
	mu   sync.Mutex
	log  *jsonl.Log
	file *os.File
	lock *flock.Flock
	tape tape.Tape // the earlier part of a resumed tape
}

// CreateJournal creates a tape that only its owner can read. The error wraps fs.ErrExist if the file
// exists.
func CreateJournal(path string, h tape.Header) (*Journal, error) {
	return openJournal(path, os.O_CREATE|os.O_EXCL, h)
}

// ContinueJournal resumes a tape of the same upstream. It removes a torn last line.
func ContinueJournal(path string, h tape.Header) (*Journal, error) {
	return openJournal(path, 0, h)
}

func openJournal(path string, flags int, h tape.Header) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|flags, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the capture's file: %w", atomicdir.Explain(err))
	}
	j := &Journal{file: file, lock: flock.New(path)}
	if err := j.begin(h, flags&os.O_EXCL == 0); err != nil {
		_ = j.Close() // nothing was written
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

// begin locks the file, reads a resumed tape and writes a header.
func (j *Journal) begin(h tape.Header, again bool) error {
	locked, err := j.lock.TryLock()
	switch {
	case err != nil:
		return fmt.Errorf("lock it: %w", err)
	case !locked:
		return errors.New("another capture writes to the file; wait for its end or choose another file with --out")
	}
	if again {
		if err := j.read(h); err != nil {
			return err
		}
	}
	j.log = jsonl.NewLog(j.file, j.tape.Whole, 0)
	if again {
		if err := j.log.Cut(); err != nil {
			return fmt.Errorf("remove a torn line: %w", err)
		}
	}
	line, err := tape.AppendHeader(nil, h)
	if err != nil {
		return err
	}
	return j.write(line)
}

// read reads the tape, which must be of the same upstream.
func (j *Journal) read(h tape.Header) (err error) {
	if j.tape, err = tape.Read(j.file); err != nil {
		return err
	}
	if before := j.tape.Headers[0].Upstream; before != h.Upstream {
		return fmt.Errorf("it is a capture of %s, and this one is of %s; choose another file with --out", before, h.Upstream)
	}
	return nil
}

// Next returns the number of the next exchange.
func (j *Journal) Next() int { return j.tape.Next() }

// Keep writes an exchange.
func (j *Journal) Keep(x tape.Exchange) error {
	line, err := tape.AppendExchange(nil, x)
	if err != nil {
		return fmt.Errorf("keep exchange %d: %w", x.N, err)
	}
	return j.write(line)
}

func (j *Journal) write(line []byte) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.log.Append(line); err != nil {
		return fmt.Errorf("write the capture's file: %w", atomicdir.Explain(err))
	}
	return nil
}

// Close syncs and closes the tape.
func (j *Journal) Close() error {
	closing := j.file.Close
	if j.log != nil {
		closing = j.log.Close
	}
	return errors.Join(closing(), j.lock.Unlock())
}

// maxTape limits the size of a tape, in bytes.
const maxTape = 1 << 30

// ReadJournal reads a tape, even during a capture.
func ReadJournal(path string) (tape.Tape, error) {
	info, err := os.Stat(path) // opening a pipe could block
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return tape.Tape{}, fmt.Errorf("there is no capture %s", path)
	case err != nil:
		return tape.Tape{}, fmt.Errorf("read the capture: %w", err)
	case !info.Mode().IsRegular():
		return tape.Tape{}, fmt.Errorf("read the capture: %s is not a regular file", path)
	case info.Size() > maxTape:
		return tape.Tape{}, fmt.Errorf("read the capture: %s has %d bytes; at most %d are read; capture in several files",
			path, info.Size(), int64(maxTape))
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return tape.Tape{}, fmt.Errorf("read the capture: %w", err)
	}
	t, err := tape.Read(bytes.NewReader(data))
	if err != nil {
		return t, fmt.Errorf("read the capture %s: %w", path, err)
	}
	return t, nil
}
