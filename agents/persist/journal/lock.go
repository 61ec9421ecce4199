package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// The files of a store.
const (
	journalFile  = "journal"
	snapshotFile = "snapshot"
	savedFolder  = "saved"
	// lockFile is locked by the owner. It is never removed, because then two processes could lock it.
	// The process id is in ownerFile, because some systems cannot read a locked file.
	lockFile  = "lock"
	ownerFile = "owner"
)

// acquire locks the folder for this process. The lock ends with the process.
func acquire(root *os.Root) (*flock.Flock, error) {
	// Opened through the root first, so that a symbolic link cannot lead out.
	f, err := root.OpenFile(lockFile, os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err := f.Close(); err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(root.Name(), lockFile))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, err
	}
	if !locked {
		return nil, fmt.Errorf("%w: %s", ErrBusy, owner(root))
	}
	if err := root.WriteFile(ownerFile, strconv.AppendInt(nil, int64(os.Getpid()), 10), 0o600); err != nil {
		return nil, errors.Join(err, lock.Unlock())
	}
	return lock, nil
}

func release(root *os.Root, lock *flock.Flock) error {
	err := root.Remove(ownerFile)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, lock.Unlock())
}

// owner describes the process that has locked the folder.
func owner(root *os.Root) string {
	if pid := ownerID(root); pid > 0 {
		return fmt.Sprintf("process %d", pid)
	}
	return "a process whose id is unknown"
}

func ownerID(root *os.Root) int {
	text, err := root.ReadFile(ownerFile)
	if err != nil || len(text) > 20 {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 1 {
		return 0
	}
	return pid
}
