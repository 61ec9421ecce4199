package atomicdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Update replaces the content of a file with the result of change. The old content is nil if the file
// does not exist; its folder must exist. Processes that update one file wait for each other, so no
// change is lost.
func Update(path string, change func(old []byte) ([]byte, error)) error {
	lock := flock.New(filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+lockName), flock.SetPermissions(fileMode))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("lock %s: %w", path, err)
	}
	defer func() { _ = lock.Unlock() }() // the end of the process does it, too
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
