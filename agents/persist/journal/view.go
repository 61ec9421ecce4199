package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Viewer reads a store without locking or changing it, even while another process writes.
type Viewer struct {
	path string
	root *os.Root
}

// View opens the store in the folder dir for reading. The error wraps fs.ErrNotExist if there is no
// store. The caller must close the Viewer.
func View(dir string) (*Viewer, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the state: %w", err)
	}
	_, err = root.Stat(journalFile)
	if errors.Is(err, fs.ErrNotExist) {
		_, err = root.Stat(snapshotFile) // Load reports a missing journal
	}
	if err != nil {
		_ = root.Close()
		return nil, fmt.Errorf("open the state in %s: %w", dir, err)
	}
	return &Viewer{path: dir, root: root}, nil
}

// Load is Store.Load, but may be called several times and does not cut off an incomplete end.
func (v *Viewer) Load(snapshot, record func(data []byte) error) (Recovery, error) {
	found, _, err := load(rooted{v.root}, snapshot, record)
	if err != nil {
		return Recovery{}, fmt.Errorf("read the journal of %s: %w", v.path, err)
	}
	return found, nil
}

// Read is Store.Read.
func (v *Viewer) Read(name string) ([]byte, error) { return readBlob(rooted{v.root}, v.path, name) }

// Owner reports whether a process has locked the store, and its id, or 0 if it is unknown. A process
// that opens the store at the same moment may get ErrBusy.
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

// Close closes the Viewer.
func (v *Viewer) Close() error { return v.root.Close() }
