// Package atomicdir writes the files of a run atomically: a reader finds either a complete file or, under
// another name, the part before a crash. It also prevents two runs from writing to one folder.
package atomicdir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/gofrs/flock"
)

// lockName is the file that a run locks while it writes to the folder.
const lockName = ".lock"

// Recordings and reports contain prompts: only the owner may read them.
const (
	folderMode = 0o700
	fileMode   = 0o600
)

// Partial is the suffix of an unfinished file.
const Partial = ".partial"

// Folder is a folder that this process has locked.
type Folder struct {
	path string
	lock *flock.Flock
}

// ErrBusy means that another run is writing to the folder.
var ErrBusy = errors.New("another run is writing to this folder")

// Open locks the folder, and creates it for the owner only if it does not exist. An existing folder keeps
// its mode. The lock ends with the process.
func Open(path string) (*Folder, error) {
	if err := os.MkdirAll(path, folderMode); err != nil {
		return nil, fmt.Errorf("make the output folder: %w; choose another one with --out", err)
	}
	lock := flock.New(filepath.Join(path, lockName))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("lock the output folder %s: %w; choose another one with --out", path, err)
	}
	if !locked {
		return nil, fmt.Errorf("output folder %s: %w; wait for it or choose another folder with --out", path, ErrBusy)
	}
	return &Folder{path: path, lock: lock}, nil
}

// OpenNew is Open for a folder that must not exist; the error wraps fs.ErrExist if it does.
func OpenNew(path string) (*Folder, error) {
	if err := os.MkdirAll(filepath.Dir(path), folderMode); err != nil {
		return nil, fmt.Errorf("make the output folder: %w; choose another one with --out", err)
	}
	if err := os.Mkdir(path, folderMode); err != nil {
		return nil, fmt.Errorf("make the output folder: %w; choose another one with --out", err)
	}
	return Open(path)
}

// Busy reports whether a run is writing to a folder. It changes nothing.
func Busy(path string) bool {
	name := filepath.Join(path, lockName)
	if _, err := os.Stat(name); err != nil {
		return false
	}
	lock := flock.New(name, flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	_ = lock.Close()
	return err == nil && !free
}

// Path returns the path that was passed to Open.
func (f *Folder) Path() string { return f.path }

// Close releases the lock. Uncommitted files remain partial.
func (f *Folder) Close() error {
	// The lock file remains: if it were removed, a third run could lock a new file while a
	// second waits for the old one.
	return f.lock.Unlock()
}

// Create creates a file with the name name + Partial until Commit, which replaces an earlier file. Only
// the owner may read it.
func (f *Folder) Create(name string) (*File, error) {
	final := filepath.Join(f.path, name)
	file, err := os.OpenFile(final+Partial, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, fileMode)
	if err != nil {
		return nil, fmt.Errorf("create %s: %w", final, Explain(err))
	}
	if err := private(file); err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("keep others from reading %s: %w", final, err)
	}
	return &File{file: file, final: final, Writer: bufio.NewWriterSize(file, 64<<10)}, nil
}

// Commit syncs all files and then renames them: if one cannot be written, no earlier file is replaced.
// After an error the partial files remain for inspection.
func (f *Folder) Commit(files ...*File) error {
	for _, file := range files {
		if err := file.seal(); err != nil {
			return fmt.Errorf("write %s: %w", file.final, Explain(err))
		}
	}
	for _, file := range files {
		if err := os.Rename(file.final+Partial, file.final); err != nil {
			return fmt.Errorf("name the finished file: %w", err)
		}
	}
	if err := syncFolder(f.path); err != nil {
		return fmt.Errorf("sync the output folder: %w", Explain(err))
	}
	return nil
}

// Replace is ReplaceWith for data in memory.
func Replace(path string, data []byte) error {
	return ReplaceWith(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// Remove deletes files of earlier runs that this one will not write. It ignores missing files.
func (f *Folder) Remove(names ...string) error {
	for _, name := range names {
		if err := os.Remove(filepath.Join(f.path, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("remove the earlier file: %w", err)
		}
	}
	return nil
}

// File is an unfinished file.
type File struct {
	*bufio.Writer
	file  *os.File
	final string
}

// private makes a file readable only by its owner, even if a crashed run left it with another mode.
func private(file *os.File) error {
	info, err := file.Stat()
	if err != nil || !info.Mode().IsRegular() || info.Mode().Perm() == fileMode {
		return err
	}
	return file.Chmod(fileMode)
}

// seal flushes, syncs and closes the file.
func (f *File) seal() error {
	err := f.Flush()
	if err == nil {
		err = f.file.Sync()
	}
	if closing := f.file.Close(); err == nil {
		err = closing
	}
	return err
}

// syncFolder makes a rename durable on systems that can sync a folder.
func syncFolder(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// Explain adds a hint to an error of writing.
func Explain(err error) error { return ExplainFor(err, "choose another disk with --out") }

// ExplainFor is Explain with its own alternative to freeing space.
func ExplainFor(err error, instead string) error {
	if errors.Is(err, syscall.ENOSPC) {
		return fmt.Errorf("%w; free some space, or %s", err, instead)
	}
	return err
}
