package explore

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
)

// Write writes the scenario and its files below a folder. An existing scenario is not overwritten:
// the error is os.ErrExist.
func (s *Saved) Write(dir string) error {
	if err := writeFiles(dir, s.Files); err != nil {
		return err
	}
	file, err := os.OpenFile(filepath.Join(dir, s.FileName), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(s.Text)
	return errors.Join(err, file.Close())
}

// writeFiles writes files into a folder. An existing file must have the same content.
func writeFiles(dir string, files map[string][]byte) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		name, data := filepath.FromSlash(name), files[name]
		if old, err := root.ReadFile(name); err == nil {
			if !bytes.Equal(old, data) {
				return fmt.Errorf("%s already exists with different content; choose another folder with --save", filepath.Join(dir, name))
			}
			continue
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, data, 0o644); err != nil {
			return err
		}
	}
	return nil
}
