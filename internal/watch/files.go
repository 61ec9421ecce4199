package watch

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/fsnotify/fsnotify"
)

// maxFolders limits the watched folders. Systems have similar limits.
const maxFolders = 4000

// Files reports changed files below some folders. Its methods must not be called concurrently.
type Files struct {
	watcher *fsnotify.Watcher
	events  chan string
	folders map[string]bool
	add     chan string
	added   chan error
}

// NewFiles returns Files without folders. It must be closed.
func NewFiles() (*Files, error) {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, fmt.Errorf("watch files: %w", err)
	}
	f := &Files{
		watcher: watcher, events: make(chan string, 64), folders: map[string]bool{}, add: make(chan string), added: make(chan error),
	}
	go f.forward()
	return f, nil
}

// Events returns the changed files: written, created, removed and renamed ones. It is closed after
// Close.
func (f *Files) Events() <-chan string { return f.events }

// Add watches a folder and all folders in it, including later ones. It ignores a folder that is watched
// already or does not exist.
func (f *Files) Add(folder string) error {
	f.add <- folder
	return <-f.added
}

// Close ends the watching.
func (f *Files) Close() error { return f.watcher.Close() }

// forward passes events on, and watches new folders.
func (f *Files) forward() {
	defer close(f.events)
	for {
		select {
		case folder := <-f.add:
			_, err := f.walk(folder)
			f.added <- err
		case e, ok := <-f.watcher.Events:
			if !ok {
				return
			}
			if e.Op == fsnotify.Chmod || Ignored(e.Name) {
				continue
			}
			delete(f.folders, e.Name) // a removed or renamed folder must be watched again
			f.events <- e.Name
			if e.Has(fsnotify.Create) {
				found, _ := f.walk(e.Name) // files in it may have come before it was watched
				for _, file := range found {
					f.events <- file
				}
			}
		case _, ok := <-f.watcher.Errors:
			if !ok {
				return
			}
		}
	}
}

// walk watches a folder and those in it, and returns the files in newly watched ones.
func (f *Files) walk(root string) (files []string, err error) {
	err = filepath.WalkDir(root, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return nil //nolint:nilerr // what cannot be read cannot change a run
		case name != root && Ignored(name):
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		case !entry.IsDir():
			files = append(files, name)
			return nil
		case f.folders[name]:
			return nil
		case len(f.folders) >= maxFolders:
			return fmt.Errorf("watch %s: it has more than %d folders", root, maxFolders)
		}
		if err := f.watcher.Add(name); err != nil {
			return fmt.Errorf("watch the folder %s: %w", name, err)
		}
		f.folders[name] = true
		return nil
	})
	return files, err
}
