package jsonl

import (
	"errors"
	"fmt"
	"io"
)

// appendFile is the file of a Log: an *os.File opened with os.O_APPEND.
type appendFile interface {
	io.WriteCloser
	Truncate(size int64) error
	Sync() error
}

// ErrBroken is wrapped by the errors of a Log that accepts no more lines, because the
// content of its file is unknown. Opening the file again makes it known.
var ErrBroken = errors.New("the journal takes no more records")

// Log appends lines to a file. It is not safe for concurrent use.
type Log struct {
	file    appendFile
	size    int64
	every   int
	waiting int // calls of Append since the last sync
	broken  error
}

// NewLog returns the log of a file whose whole lines have size bytes. It syncs the file
// after every calls of Append; if every is 0, only Sync and Close do.
func NewLog(file appendFile, size int64, every int) *Log {
	return &Log{file: file, size: size, every: every}
}

// Cut removes a torn line from the end of the file.
func (l *Log) Cut() error {
	err := l.file.Truncate(l.size)
	if err == nil {
		err = l.file.Sync()
	}
	return err
}

// Append adds whole lines. After an error the file is unchanged, unless the error wraps
// ErrBroken.
func (l *Log) Append(lines []byte) error {
	if l.broken != nil {
		return l.broken
	}
	n, err := l.file.Write(lines)
	if err == nil && n < len(lines) {
		err = io.ErrShortWrite
	}
	if err != nil {
		if undo := l.file.Truncate(l.size); undo != nil {
			return l.stop(errors.Join(err, undo))
		}
		return err
	}
	if l.waiting++; l.waiting == l.every {
		if err := l.Sync(); err != nil {
			return err
		}
	}
	l.size += int64(len(lines))
	return nil
}

// Sync waits until all lines are on the disk. After a failure the system may have
// dropped them, and a second attempt may succeed without them: the log is broken.
func (l *Log) Sync() error {
	if l.broken != nil || l.waiting == 0 {
		return l.broken
	}
	l.waiting = 0
	if err := l.file.Sync(); err != nil {
		return l.stop(errors.Join(err, l.file.Truncate(l.size)))
	}
	return nil
}

func (l *Log) stop(why error) error {
	l.broken = Broken(why)
	return l.broken
}

// Broken returns an error that wraps ErrBroken and its reason.
func Broken(why error) error {
	return fmt.Errorf("%w since this failed: %w; start again to go on with what is stored", ErrBroken, why)
}

// Close syncs and closes the file.
func (l *Log) Close() error {
	var err error
	if l.broken == nil {
		err = l.Sync()
	}
	return errors.Join(err, l.file.Close())
}
