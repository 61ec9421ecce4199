package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// starter holds the files that init writes. They are checked like any other
// scenario by this package's tests.
//
//go:embed all:starter
var starter embed.FS

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a first scenario of your own",
		Long: `init writes a scenario that passes, a configuration file for "rehearse loop", and a
workflow for GitHub Actions. It never overwrites a file.`,
		Example: "  rehearse init\n  rehearse run scenarios",
		Args:    arguments(0, 1, "name one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			if err := a.writeStarter(folder); err != nil {
				return err
			}
			fmt.Fprintf(a.stderr, "next: rehearse run %s\n", filepath.Join(folder, ownFolder))
			return nil
		},
	}
}

func (a *app) writeStarter(folder string) error {
	return fs.WalkDir(starter, "starter", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel("starter", filepath.FromSlash(name))
		if err != nil {
			return err
		}
		data, err := starter.ReadFile(name)
		if err != nil {
			return err
		}
		return a.writeNew(filepath.Join(folder, rel), data)
	})
}

// writeNew writes a file that is not there yet, and says what it did.
func (a *app) writeNew(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return noVerdict(fmt.Errorf("make the folder for %s: %w", file, err))
	}
	f, err := os.OpenFile(file, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		fmt.Fprintf(a.stdout, "kept     %s (it is there already)\n", file)
		return nil
	}
	if err != nil {
		return noVerdict(fmt.Errorf("write %s: %w", file, err))
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return noVerdict(fmt.Errorf("write %s: %w", file, err))
	}
	fmt.Fprintf(a.stdout, "written  %s\n", file)
	return nil
}
