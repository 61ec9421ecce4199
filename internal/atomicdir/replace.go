package atomicdir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// ReplaceWith writes a file with write, completely or not at all. Several processes may write to the same
// file: the last one to finish wins. It replaces the target of a symbolic link. A new file is readable
// only by its owner; an existing one keeps its mode.
func ReplaceWith(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	mode := fs.FileMode(fileMode)
	if info, err := os.Stat(path); err == nil {
		mode = info.Mode().Perm()
	}
	file, err := createBeside(path, mode)
	if err != nil {
		return fmt.Errorf("create %s: %w", path, Explain(err))
	}
	partial := file.file.Name()
	if err = write(file); err == nil {
		err = file.replace(partial)
	} else {
		_ = file.file.Close() // what was written is given up
	}
	if err != nil {
		_ = os.Remove(partial)
	}
	return err
}

// createBeside creates a file with a unique name in the folder of path.
func createBeside(path string, mode fs.FileMode) (*File, error) {
	for {
		name := fmt.Sprintf("%s.%08x%s", path, rand.Uint32(), Partial) //nolint:gosec // a name, and no secret
		file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fileMode)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if err := file.Chmod(mode); err != nil {
			return nil, errors.Join(err, file.Close(), os.Remove(name))
		}
		return &File{file: file, final: path, Writer: bufio.NewWriterSize(file, 64<<10)}, nil
	}
}

// replace syncs the file and renames it.
func (f *File) replace(partial string) error {
	if err := f.seal(); err != nil {
		return fmt.Errorf("write %s: %w", f.final, Explain(err))
	}
	if err := os.Rename(partial, f.final); err != nil {
		return fmt.Errorf("name the finished file: %w", err)
	}
	if err := syncFolder(filepath.Dir(f.final)); err != nil {
		return fmt.Errorf("sync the output folder: %w", Explain(err))
	}
	return nil
}
