package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// explorationRenderers write an exploration in the formats that show it whole. The
// others are for its recording.
func (a *app) explorationRenderers() map[string]func(io.Writer, *result.Exploration) error {
	return map[string]func(io.Writer, *result.Exploration) error{
		"terminal": func(w io.Writer, r *result.Exploration) error {
			return doc.Terminal(w, reports.ExplorationDocument(r, nil), tty.Of(a.stdout, a.getenv))
		},
		"json": result.WriteExploration,
		"markdown": func(w io.Writer, r *result.Exploration) error {
			return doc.Markdown(w, reports.ExplorationDocument(r, nil), 0)
		},
	}
}

// reportExploration renders the exploration of a folder to the file that the user
// named, or to standard output; ok is false if it has none, or the format shows
// recordings only.
func (a *app) reportExploration(ctx context.Context, path string, flags reportFlags) (ok bool, err error) {
	render := a.explorationRenderers()[flags.format]
	if render == nil {
		return false, nil
	}
	found, err := readExploration(path)
	if err != nil {
		return true, noVerdict(err)
	}
	if found == nil {
		return false, nil
	}
	altered, err := a.warnIfAltered(ctx, path)
	if err != nil {
		return true, noVerdict(err)
	}
	err = a.output(flags.out, outputFormat{}, path, func(w io.Writer) error { return render(w, found) })
	if err != nil {
		return true, noVerdict(err)
	}
	if altered {
		return true, quiet(exitFail)
	}
	if found.Stopped == result.UserInterrupt {
		return true, quiet(exitInterrupted)
	}
	return true, quiet(gate.ExitCode([]gate.Verdict{found.Verdict()}))
}

// warnIfAltered verifies the recording beside an exploration, if there is one, and
// reports on standard error that it was altered.
func (a *app) warnIfAltered(ctx context.Context, path string) (altered bool, err error) {
	if filepath.Base(path) == exploreFile {
		path = filepath.Dir(path)
	}
	recording, err := findRecording(path)
	if err != nil {
		return false, nil // the exploration stands alone
	}
	in, err := a.openRecording(recording, func() error { return context.Cause(ctx) })
	if err != nil {
		return false, err
	}
	defer in.file.Close()
	if in.chain.Altered {
		fmt.Fprintf(a.stderr, "recording: %s was altered after the run: %s\n", recording, sanitize.Line(in.chain.Problems[0].String(), 500))
	}
	return in.chain.Altered, nil
}

// readExploration reads an exploration from its folder or file; it is nil if there is
// none. One beside a recording that is not finished is that of an earlier run.
func readExploration(path string) (*result.Exploration, error) {
	if filepath.Base(path) != exploreFile {
		if _, err := os.Stat(filepath.Join(path, recordingFile+atomicdir.Partial)); err == nil {
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
	result, err := result.ReadExploration(file)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &result, nil
}
