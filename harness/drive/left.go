package drive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/app"
)

const (
	// maxShownFile is how much of a file the recording tells, in bytes.
	maxShownFile = 2000
	// maxShownFiles is how many files it tells of.
	maxShownFiles = 200
)

// left tells of each file that is in a folder at the end, in the order of their names.
// What is no file, such as a link, is passed over, and so are the folders that tools fill
// with files which nobody wrote.
func left(folder string, tell func(name, detail string, attrs map[string]any)) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the folder: %w", err)
	}
	defer root.Close()
	var names []string
	err = fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrPermission), err == nil && entry.IsDir() && app.Filled(entry.Name()):
			return fs.SkipDir
		case err == nil && entry.Type().IsRegular():
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list what is left: %w", err)
	}
	slices.Sort(names)
	for i, name := range names {
		if i == maxShownFiles {
			tell("files", fmt.Sprintf("%d more files are not told of", len(names)-i), map[string]any{"files": len(names)})
			break
		}
		text, size, err := show(root, name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			tell("file", "", map[string]any{"path": name, "unreadable": true})
		case err != nil:
			return fmt.Errorf("read what is left: %w", err)
		default:
			tell("file", text, map[string]any{"path": name, "bytes": int(size)})
		}
	}
	return nil
}

// show is the beginning of a file as text, and its size in bytes. However large the file
// is, no more is read than is told.
func show(root *os.Root, name string) (text string, size int64, err error) {
	f, err := root.Open(name)
	if err != nil {
		return "", 0, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return "", 0, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxShownFile))
	if err != nil {
		return "", 0, err
	}
	return strings.ToValidUTF8(string(data), ""), info.Size(), nil
}
