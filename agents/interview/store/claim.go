package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// claimedError is returned if another process serves the store under the same instance name.
func claimedError(name string) error {
	return fmt.Errorf("claim the store for instance %q: another process serves it: stop it, or choose another instance name", name)
}

// claim locks a file beside the database; the lock ends with the process. The file is never removed,
// because two processes could then lock different files.
func (e *sqliteEngine) claim(_ context.Context, name string) (release func() error, err error) {
	if e.path == "" {
		return func() error { return nil }, nil
	}
	sum := sha256.Sum256([]byte(name))
	lock := flock.New(e.path+"."+hex.EncodeToString(sum[:4])+".lock", flock.SetPermissions(os.FileMode(0o600)))
	got, err := lock.TryLock()
	if err != nil {
		return nil, fmt.Errorf("claim the store for instance %q: %w", name, err)
	}
	if !got {
		return nil, claimedError(name)
	}
	return lock.Unlock, nil
}
