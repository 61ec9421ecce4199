package journal

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// files is the folder of a store. The specs put faults into it.
type files interface {
	// open opens a file by its path in the folder, with flags of package os.
	open(name string, flag int) (file, error)
	mkdir(name string) error // no error if it is there
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

// rooted is a folder of the disk that no path and no symbolic link leads out of.
type rooted struct{ root *os.Root }

func (r rooted) open(name string, flag int) (file, error) {
	f, err := r.root.OpenFile(name, flag, 0o600)
	if err != nil {
		return nil, err // not f, which would be no nil interface
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

// syncFolder forgives systems that cannot sync a folder: there a rename is as
// durable as they make it.
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

// partial is the end of the name of a file that is not finished; no blob's name has it.
const partial = "_partial"

// replace gives name a new content: a reader finds, whatever happens, the earlier
// one or the new one, whole.
func replace(in files, folder, name string, data []byte) error {
	path := folder + "/" + name
	err := write(in, path+partial, data)
	if err == nil {
		err = in.rename(path+partial, path)
	}
	if err != nil {
		// A part that nobody will finish must not fill a disk that is full already.
		_ = in.remove(path + partial)
		return err
	}
	return in.syncFolder(folder)
}

// write makes a file and brings it to the disk.
func write(in files, path string, data []byte) error {
	f, err := in.open(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY)
	if err != nil {
		return err
	}
	err = writeAll(f, data)
	if err == nil {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// writeAll writes data in one call; a short write is an error.
func writeAll(f io.Writer, data []byte) error {
	n, err := f.Write(data)
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return err
}

// read returns what a file holds, or an error if it has more than limit bytes.
func read(in files, path string, limit int64) ([]byte, error) {
	f, err := in.open(path, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err == nil && int64(len(data)) > limit {
		err = errors.New("it is too large for one of ours")
	}
	return data, err
}
