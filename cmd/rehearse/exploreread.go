package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/survival"
	"github.com/rehearse-dev/rehearse/internal/folder"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports/explored"
)

// explorationRenderers write an exploration in the formats that show it whole. The
// others are for its recording.
func (a *app) explorationRenderers() map[string]func(io.Writer, *survival.Result) error {
	return map[string]func(io.Writer, *survival.Result) error{
		"terminal": func(w io.Writer, r *survival.Result) error {
			return explored.Terminal(w, r, tty.Of(a.stdout, a.getenv))
		},
		"json":     survival.Write,
		"markdown": func(w io.Writer, r *survival.Result) error { return explored.Markdown(w, r, 0) },
	}
}

// reportExploration renders the exploration of a folder to the file that the user
// named, or to standard output; ok is false if it has none, or the format shows
// recordings only.
func (a *app) reportExploration(path string, flags reportFlags) (ok bool, err error) {
	render := a.explorationRenderers()[flags.format]
	if render == nil {
		return false, nil
	}
	result, err := readExploration(path)
	if err != nil {
		return true, noVerdict(err)
	}
	if result == nil {
		return false, nil
	}
	err = a.output(flags.out, format{}, path, func(w io.Writer) error { return render(w, result) })
	if err != nil {
		return true, noVerdict(err)
	}
	if result.Stopped == survival.Interrupted {
		return true, quiet(exitInterrupted)
	}
	return true, quiet(gate.ExitCode([]gate.Verdict{explored.Verdict(result)}))
}

// readExploration reads an exploration from its folder or file; it is nil if there is
// none. One beside a recording that is not finished is that of an earlier run.
func readExploration(path string) (*survival.Result, error) {
	if filepath.Base(path) != exploreFile {
		if _, err := os.Stat(filepath.Join(path, recordingFile+folder.Partial)); err == nil {
			return nil, nil
		}
		path = filepath.Join(path, exploreFile)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a run, or a recording
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the exploration: %w", err)
	}
	defer file.Close()
	result, err := survival.Read(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &result, nil
}
