package main

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/explored"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// saveFailures writes a scenario file for each distinct failure. A file that is there
// already is left as it is.
func (a *app) saveFailures(dir string, sc scenarios.Scenario, r *survival.Result) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for what failed: %w; choose another one with --save", err)
	}
	for _, f := range explored.Failures(r) {
		saved, err := explore.Save(sc, &r.Cells[f.Cell], dir, scenarioOptions(nil))
		if err != nil {
			return fmt.Errorf("save a failure: %w", err)
		}
		if err := writeFilesBeside(dir, saved.Files); err != nil {
			return fmt.Errorf("save a failure: %w", err)
		}
		file := filepath.Join(dir, saved.FileName)
		switch err := writeNew(file, saved.Text); {
		case errors.Is(err, os.ErrExist):
			fmt.Fprintf(a.stderr, "%s is there already and stays as it is\n", file)
		case err != nil:
			return fmt.Errorf("save a failure: %w", err)
		default:
			fmt.Fprintf(a.stderr, "saved %s; repeat it: %s\n", file, format.ShellLine("rehearse", "run", file))
		}
	}
	return nil
}

// writeFilesBeside writes files into a folder, which they cannot leave. A file that is
// there already must have the same content.
func writeFilesBeside(dir string, files map[string][]byte) error {
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
				return fmt.Errorf("%s is there already with another content; choose another folder with --save", filepath.Join(dir, name))
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

// writeNew writes a file that must not be there yet.
func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}
