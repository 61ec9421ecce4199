package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// files is the folder of a store. Tests inject faults into it.
type files interface {
	// open opens a file by its path in the folder, with flags of package os.
	open(name string, flag int) (file, error)
	mkdir(name string) error // no error if it exists
	rename(from, to string) error
	remove(name string) error
	// syncFolder makes renames in a folder durable.
	syncFolder(name string) error
}

type file interface {
	io.ReadWriteCloser
	Truncate(size int64) error
	Sync() error
}

// rooted is a folder on disk. Neither paths nor symbolic links lead out of it.
type rooted struct{ root *os.Root }

func (r rooted) open(name string, flag int) (file, error) {
	f, err := r.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err // f would be a non-nil interface
	}
	return f, nil
}

func (r rooted) mkdir(name string) error {
	if err := r.root.Mkdir(name, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (r rooted) rename(from, to string) error { return r.root.Rename(from, to) }
func (r rooted) remove(name string) error     { return r.root.Remove(name) }

// syncFolder ignores the error of systems that cannot sync a folder.
func (r rooted) syncFolder(name string) error {
	dir, err := r.root.Open(name)
	if err != nil {
		return err
	}
	defer dir.Close()
	if err := dir.Sync(); err != nil && !errors.Is(err, errors.ErrUnsupported) && !errors.Is(err, syscall.EINVAL) {
		return err
	}
	return nil
}

// partial ends the name of an unfinished file. Names of blobs cannot contain it.
const partial = "_partial"

// replace replaces the content of a file atomically.
func replace(in files, folder, name string, data []byte) error {
	path := folder + "/" + name
	err := write(in, path+partial, data)
	if err == nil {
		err = in.rename(path+partial, path)
	}
	if err != nil {
		// Do not leave a partial file on a disk that may be full.
		_ = in.remove(path + partial)
		return err
	}
	return in.syncFolder(folder)
}

// write creates and syncs a file.
func write(in files, path string, data []byte) error {
	f, err := in.open(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// read returns the content of a file of at most limit bytes.
func read(in files, path string, limit int64) ([]byte, error) {
	f, err := in.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("the file has more than %d bytes", limit)
	}
	return data, err
}
