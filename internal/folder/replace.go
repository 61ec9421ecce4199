package folder

import (
	"io"
	"os"
	"path/filepath"
)

// ReplaceWith writes one file with what write writes, whole or not at all, in a
// folder that others may write to as well. A symbolic link stays one, and the file
// that it names is replaced.
func ReplaceWith(path string, write func(io.Writer) error) error {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		path = target
	}
	f := &Folder{path: filepath.Dir(path)}
	file, err := f.Create(filepath.Base(path))
	if err != nil {
		return err
	}
	if err = write(file); err == nil {
		err = f.Commit(file)
	} else {
		_ = file.file.Close() // what was written is given up
	}
	if err != nil {
		_ = os.Remove(path + Partial)
	}
	return err
}
