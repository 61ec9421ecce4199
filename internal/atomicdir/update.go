package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Update replaces a file with what change makes of its content, which is nil if there is no such
// file. Processes that update one file wait for each other, so none loses a change of another.
// The folder must exist.
func Update(path string, change func(old []byte) ([]byte, error)) error {
	lock := flock.New(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+lockName), flock.SetPermissions(fileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process does it as well
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("update %s: %w", path, err)
	}
	data, err := change(old)
	if err != nil {
		return err
	}
	return Replace(path, data)
}
