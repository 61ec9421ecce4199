//go:build darwin || linux

package tempdir

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// own locks a new folder. The lock file is locked before it gets its name: no process can find it unlocked while
// this process runs. Child processes do not inherit the lock.
func own(folder string) (*os.File, error) {
	path := filepath.Join(folder, lockName)
	file, err := os.OpenFile(path+".new", os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	if err = lock(file); err == nil {
		err = os.Rename(path+".new", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// takeOver locks a folder whose owner has ended. It returns nil for any other folder.
func takeOver(folder string) *os.File {
	if info, err := os.Lstat(folder); err != nil || !info.IsDir() || !mine(info) {
		return nil
	}
	path := filepath.Join(folder, lockName)
	file, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	// Another process may have taken the folder over, and removed it, since the file was opened.
	opened, err := file.Stat()
	if err == nil && opened.Mode().IsRegular() && mine(opened) && lock(file) == nil {
		if named, err := os.Lstat(path); err == nil && os.SameFile(opened, named) {
			return file
		}
	}
	_ = file.Close()
	return nil
}

// lock locks a file for this process, unless another one has locked it.
func lock(file *os.File) error {
	return syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
}

// mine reports whether a file belongs to the user of this process.
func mine(info os.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}
