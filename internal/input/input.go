// Package input reads what users name: files, standard input, pipes and terminals.
// Reads end with a context, where the system itself would block.
package input

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// ReadAll reads at most limit bytes. A blocked read cannot be ended, so it is left
// behind when ctx ends.
func ReadAll(ctx context.Context, from io.Reader, limit int) ([]byte, error) {
	type result struct {
		data []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
		read <- result{data, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case in := <-read:
		if in.err == nil && len(in.data) > limit {
			in.err = fmt.Errorf("it is longer than %d MB", limit>>20)
		}
		return in.data, in.err
	}
}

// ReadFile reads a regular file of at most limit bytes. Errors name what the file
// should be.
func ReadFile(what, name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name) // opening a pipe or a device could wait for ever
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the %s: there is no file %s%s", what, name, suggest.Hint(filepath.Base(name), namesIn(filepath.Dir(name))))
	case err != nil:
		return nil, fmt.Errorf("read the %s: %w", what, err)
	case info.IsDir():
		return nil, fmt.Errorf("read the %s: %s is a folder; name the file", what, name)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read the %s: %s is not a regular file", what, name)
	case info.Size() > limit:
		return nil, fmt.Errorf("read the %s: %s has %d bytes; at most %d are allowed", what, name, info.Size(), limit)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read the %s: %w", what, err)
	}
	return data, nil
}

// namesIn returns the names in a folder, for suggestions.
func namesIn(folder string) []string {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names
}

// Open opens a file. Reading a pipe or a device ends with ctx.
func Open(ctx context.Context, name string) (io.ReadCloser, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
		return file, nil
	}
	return Interruptible(ctx, file), nil
}

// Interruptible reads r until ctx ends; a blocked read is then left behind.
func Interruptible(ctx context.Context, r io.Reader) io.ReadCloser {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, r)
		_ = in.CloseWithError(err)
	}()
	context.AfterFunc(ctx, func() { _ = out.CloseWithError(context.Cause(ctx)) })
	return out
}

// maxLine bounds the lines of Lines, in bytes.
const maxLine = 1 << 20

// Lines sends the lines of r, and closes the channel at its end. A read from a
// terminal cannot be ended, so it goes on until the program ends.
func Lines(r io.Reader) <-chan string {
	out := make(chan string)
	go func() {
		defer close(out)
		scanner := bufio.NewScanner(r)
		scanner.Buffer(nil, maxLine)
		for scanner.Scan() {
			out <- scanner.Text()
		}
	}()
	return out
}

// ErrEnd is returned by ReadAnswer where the input has ended.
var ErrEnd = errors.New("the input ended")

// ReadAnswer reads a line, and the lines after it that a backslash at the end joins to it.
func ReadAnswer(ctx context.Context, lines <-chan string) (string, error) {
	var b strings.Builder
	for {
		select {
		case <-ctx.Done():
			return "", context.Cause(ctx)
		case line, ok := <-lines:
			if !ok {
				return "", ErrEnd
			}
			more := strings.TrimSuffix(line, `\`)
			b.WriteString(more)
			if more == line {
				return b.String(), nil
			}
			b.WriteByte('\n')
		}
	}
}

// SameFile reports whether two names are of one file.
func SameFile(a, b string) bool {
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}
