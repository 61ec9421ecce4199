package run

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/gofrs/flock"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// ErrBusy is returned for a transcript that another process is writing.
var ErrBusy = errors.New("another process is writing it")

// MaxTranscriptLine limits a line of a transcript that is read, in bytes.
const MaxTranscriptLine = 256 << 20

// Transcript is a JSONL file with a line for the settings, each iteration and the end. Each line is
// synced to disk before the next call, so that no answer that was paid for is lost. Callers remove
// secrets before they write. No other process can continue it before Close.
type Transcript struct {
	Path string
	log  *jsonl.Log
	lock *flock.Flock
}

// CreateTranscript creates a file, which must not exist, with a first line.
func CreateTranscript(path string, first any) (*Transcript, error) {
	const hint = "choose another file with --transcript"
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of the transcript: %w; %s", err, hint)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin the transcript: %w; %s", err, hint)
	}
	t := &Transcript{Path: path, log: jsonl.NewLog(file, 0, 1)}
	if t.lock, err = lockTranscript(path); err == nil {
		err = t.Append(first)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w; %s", err, hint), t.Close())
	}
	return t, nil
}

// ContinueTranscript opens a file to append to it, after a call of line for each of its lines; an error of
// line is returned. A last line that a crash cut off is removed.
func ContinueTranscript(path string, line func(data []byte) error) (*Transcript, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return nil, fmt.Errorf("open the transcript: %w", err)
	}
	t := &Transcript{Path: path, log: jsonl.NewLog(file, 0, 1)}
	if t.lock, err = lockTranscript(path); err == nil {
		var size int64
		if size, err = eachTranscriptLine(file, path, line); err == nil {
			t.log = jsonl.NewLog(file, size, 1)
			err = t.log.Cut()
		}
	}
	if err != nil {
		return nil, errors.Join(err, t.Close())
	}
	return t, nil
}

// ReadTranscript calls line for each line of a file, except for a last line that is cut off.
func ReadTranscript(path string, line func(data []byte) error) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("open the transcript: %w", err)
	}
	defer func() { _ = file.Close() }()
	_, err = eachTranscriptLine(file, path, line)
	return err
}

// Begins reports whether path is a regular file that begins with start, and whose first 300 bytes contain
// mark.
func Begins(path, start, mark string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() { // opening a pipe could block
		return false
	}
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	data := make([]byte, 300)
	n, _ := io.ReadFull(file, data)
	return bytes.HasPrefix(data[:n], []byte(start)) && bytes.Contains(data[:n], []byte(mark))
}

// eachTranscriptLine reads the whole lines of a transcript and returns their size.
func eachTranscriptLine(r io.Reader, path string, line func(data []byte) error) (size int64, err error) {
	lines := jsonl.NewReader(r, MaxTranscriptLine)
	for {
		data, err := lines.Next()
		if errors.Is(err, io.EOF) || err == nil && lines.Torn() {
			return size, nil
		}
		if err == nil {
			err = line(data)
		}
		if err != nil {
			return size, fmt.Errorf("read the transcript %s:%d: %w", path, max(lines.Line(), 1), err)
		}
		size = lines.Offset()
	}
}

// lockTranscript locks a transcript for this process. The lock ends with the process.
func lockTranscript(path string) (*flock.Flock, error) {
	if runtime.GOOS == "windows" { // there, nobody can write to a locked file
		path += ".lock"
	}
	lock := flock.New(path)
	locked, err := lock.TryLock()
	if err == nil && !locked {
		err = ErrBusy
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the transcript %s: %w", path, err), lock.Close())
	}
	return lock, nil
}

// Append writes a line.
func (t *Transcript) Append(v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = t.log.Append(append(data, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the transcript %s: %w", t.Path, err)
	}
	return nil
}

// Close closes the file and releases the lock.
func (t *Transcript) Close() error {
	err := t.log.Close()
	if t.lock != nil {
		err = errors.Join(err, t.lock.Close())
	}
	return err
}
