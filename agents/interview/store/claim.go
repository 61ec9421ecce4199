package store

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"

	"github.com/gofrs/flock"
)

// ErrClaimed means that another process serves the store under the same instance name.
var ErrClaimed = errors.New("another process serves it")

func claimed(name string) error {
	return fmt.Errorf("claiming the store for instance %q: %w: stop it, or choose another instance name", name, ErrClaimed)
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
		return nil, fmt.Errorf("claiming the store for instance %q: %w", name, err)
	}
	if !got {
		return nil, claimed(name)
	}
	return lock.Unlock, nil
}
