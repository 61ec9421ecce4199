package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// readAll reads at most limit bytes. A read from a terminal or a pipe cannot be
// ended, so the end of ctx does not wait for it.
func readAll(ctx context.Context, from io.Reader, limit int) ([]byte, error) {
	type input struct {
		data []byte
		err  error
	}
	read := make(chan input, 1)
	go func() {
		data, err := io.ReadAll(io.LimitReader(from, int64(limit)+1))
		read <- input{data, err}
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

// readFile reads a file that the user named, of at most limit bytes. What says
// what it should be.
func readFile(what, name string, limit int64) ([]byte, error) {
	info, err := os.Stat(name) // opening a pipe or a device could wait for ever
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("read the %s: there is no file %s%s", what, name, didYouMean(filepath.Base(name), namesIn(filepath.Dir(name))))
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

// namesIn are the names in a folder, for suggestions.
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
