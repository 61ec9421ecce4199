package work

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// ReadFile returns a function that reads the beginning of files in a folder, for persist.Deps.ReadFile.
// Neither paths nor symbolic links lead out of the folder, and only regular files are read.
func ReadFile(folder string) func(name string, most int) ([]byte, int64, error) {
	return func(name string, most int) ([]byte, int64, error) {
		root, err := os.OpenRoot(folder)
		if err != nil {
			return nil, 0, err
		}
		defer func() { _ = root.Close() }()
		file, err := root.OpenFile(filepath.FromSlash(name), os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe must not block
		if err != nil {
			return nil, 0, err
		}
		defer func() { _ = file.Close() }()
		info, err := file.Stat()
		if err == nil && !info.Mode().IsRegular() {
			err = errors.New("not a regular file")
		}
		if err != nil {
			return nil, 0, fmt.Errorf("read %s: %w", name, err)
		}
		data, err := io.ReadAll(io.LimitReader(file, int64(most)))
		return data, max(info.Size(), int64(len(data))), err
	}
}
