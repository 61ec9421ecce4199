// Package tempdir creates temporary folders. A later process removes the folders of processes that were killed.
package tempdir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const (
	// lockName is the file that the owner of a folder has locked.
	lockName = ".owner"
	// ignoreName is the file that hides a folder from git, if the temporary folder is in a work tree.
	ignoreName = ".gitignore"
)

// Folder is a temporary folder of this process.
type Folder struct {
	// Path is the absolute path of the folder, which only its owner may read.
	Path string
	lock *os.File // locked until Remove or the end of the process; nil where there are no locks
}

// New creates a folder with the name prefix-RANDOM in the system's temporary folder. It first removes folders
// with this prefix whose processes were killed.
func New(prefix string) (*Folder, error) {
	parent, err := filepath.Abs(os.TempDir())
	if err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w", err)
	}
	sweep(parent, prefix)
	f := &Folder{}
	if f.Path, err = os.MkdirTemp(parent, prefix+"-"); err != nil {
		return nil, fmt.Errorf("make a temporary folder: %w; choose another place with TMPDIR", err)
	}
	err = os.WriteFile(filepath.Join(f.Path, ignoreName), []byte("*\n"), 0o600)
	if err == nil {
		f.lock, err = own(f.Path)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("make a temporary folder: %w", err), f.Remove())
	}
	return f, nil
}

// Remove removes the folder with its content. It does nothing for nil.
func (f *Folder) Remove() error {
	if f == nil {
		return nil
	}
	err := os.RemoveAll(f.Path)
	if f.lock != nil {
		if closing := f.lock.Close(); !errors.Is(closing, os.ErrClosed) {
			err = errors.Join(err, closing)
		}
	}
	return err
}

// sweep removes the folders of a prefix whose owners have ended. It skips folders that are in use, belong to
// another user or have no lock, and ignores errors.
func sweep(parent, prefix string) {
	entries, _ := os.ReadDir(parent) // a part of them on an error
	for _, e := range entries {
		name := e.Name()
		if random, found := strings.CutPrefix(name, prefix+"-"); !found || random == "" || !e.IsDir() {
			continue
		}
		path := filepath.Join(parent, name)
		if lock := takeOver(path); lock != nil {
			_ = (&Folder{Path: path, lock: lock}).Remove()
		}
	}
}
