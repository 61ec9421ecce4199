package drive

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
)

const (
	// maxShownFile limits the recorded bytes of a file.
	maxShownFile = 2000
	// maxShownFiles limits the recorded files.
	maxShownFiles = 200
)

// RecordFiles emits an event for each regular file in a folder, sorted by name. It skips
// folders that tools fill; see app.Filled.
func RecordFiles(folder string, emit func(event.Event)) error {
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
			emit(event.New(0, fmt.Sprintf("%d more files are not told of", len(names)-i), record.Files{Files: len(names)}))
			break
		}
		text, size, err := readBeginning(root, name)
		switch {
		case errors.Is(err, fs.ErrPermission):
			emit(event.New(0, "", record.File{Path: name, Unreadable: true}))
		case err != nil:
			return fmt.Errorf("read what is left: %w", err)
		default:
			emit(event.New(0, text, record.File{Path: name, Bytes: &size}))
		}
	}
	return nil
}

// readBeginning returns the recorded beginning of a file as text, and the file's size in
// bytes. It reads no more than that beginning.
func readBeginning(root *os.Root, name string) (text string, size int64, err error) {
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

// Furnish writes files and links, by path, into a folder, in the order of their names. A path
// that leaves the folder, also by a link in it, is an error.
func Furnish(folder string, files, links map[string]string) error {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return fmt.Errorf("open the folder of the stage: %w", err)
	}
	defer root.Close()
	put := func(kind, name string, make func(path string) error) error {
		file := filepath.FromSlash(name)
		err := root.MkdirAll(filepath.Dir(file), 0o755)
		if err == nil {
			err = make(file)
		}
		if err != nil {
			return fmt.Errorf("put the %s %s on the stage: %w", kind, name, err)
		}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		err := put("file", name, func(path string) error { return root.WriteFile(path, []byte(files[name]), 0o644) })
		if err != nil {
			return err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(links)) {
		err := put("link", name, func(path string) error { return root.Symlink(links[name], path) })
		if err != nil {
			return err
		}
	}
	return nil
}
