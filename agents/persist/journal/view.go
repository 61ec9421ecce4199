package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Viewer reads a store that another process may hold and add to meanwhile. It takes
// nothing into possession and changes nothing.
type Viewer struct {
	path string
	root *os.Root
}

// View looks at the store in the folder dir; the error is fs.ErrNotExist if there is
// none. Close it after use.
func View(dir string) (*Viewer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("looking for a state: %w", err)
	}
	_, err = root.Stat(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = root.Stat(snapshotFile) // a journal that is gone is found out by Load
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("looking for a state in %s: %w", dir, err)
	}
	return &Viewer{path: dir, root: root}, nil
}

// Load is Store.Load, any number of times; what is torn stays as it is.
func (v *Viewer) Load(snapshot, record func(data []byte) error) (Recovery, error) {
	found, _, err := load(rooted{v.root}, snapshot, record)
	if err != nil {
		return Recovery{}, fmt.Errorf("reading the journal of %s: %w", v.path, err)
	}
	return found, nil
}

// Read is Store.Read.
func (v *Viewer) Read(name string) ([]byte, error) { return readBlob(rooted{v.root}, v.path, name) }

// Owner reports whether a process has the store locked now, and which: 0 if unknown.
// Asking takes a moment in which a process that opens the store would find it busy.
func (v *Viewer) Owner() (pid int, running bool) {
	if _, err := v.root.Stat(lockFile); err != nil {
		return 0, false
	}
	lock := flock.New(filepath.Join(v.root.Name(), lockFile), flock.SetFlag(os.O_RDONLY))
	free, err := lock.TryRLock()
	if err != nil {
		return 0, false
	}
	if free {
		_ = lock.Unlock()
		return 0, false
	}
	return ownerID(v.root), true
}

// Close ends the view.
func (v *Viewer) Close() error { return v.root.Close() }
