package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// experimentRenderers write an experiment in the formats that there are of it.
func (a *app) experimentRenderers() map[string]func(io.Writer, result.Experiment) error {
	limited := func(bytes int) func(io.Writer, result.Experiment) error {
		return func(w io.Writer, r result.Experiment) error {
			return doc.Markdown(w, reports.ExperimentDocument(&r), bytes)
		}
	}
	return map[string]func(io.Writer, result.Experiment) error{
		"terminal": func(w io.Writer, r result.Experiment) error {
			return doc.Terminal(w, reports.ExperimentDocument(&r), tty.Of(a.stdout, a.getenv))
		},
		"json": func(w io.Writer, r result.Experiment) error { return reports.JSON(w, r) }, "markdown": limited(0), "comment": limited(commentBytes), "html": func(w io.Writer, r result.Experiment) error {
			return doc.HTML(w, reports.ExperimentDocument(&r), r.Tool)
		},
	}
}

// reportExperiment renders the experiment of a folder to the file that the user named, or
// to standard output; ok is false if it has none.
func (a *app) reportExperiment(path string, flags reportFlags) (ok bool, err error) {
	found, err := readExperiment(path)
	if found == nil && err == nil {
		return false, nil
	}
	if err != nil {
		return true, noVerdict(err)
	}
	render := a.experimentRenderers()[flags.format]
	if render == nil || flags.verify {
		return true, usage(fmt.Errorf("%s is an experiment, which has no recording; it has the formats terminal, json, markdown, comment and html", path))
	}
	if err := a.output(flags.out, outputFormat{}, path, func(w io.Writer) error { return render(w, *found) }); err != nil {
		return true, noVerdict(err)
	}
	verdict, _ := found.Judge("")
	if found.Tune != nil {
		verdict = found.JudgeSearch()
	}
	return true, quiet(experimentExit(found, verdict))
}

// readExperiment reads a result from its folder or file; it is nil if there is none.
func readExperiment(path string) (*result.Experiment, error) {
	if filepath.Base(path) != experimentFile {
		path = filepath.Join(path, experimentFile)
	}
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the result of the experiment: %w", err)
	}
	defer file.Close()
	found, err := result.ReadExperiment(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &found, nil
}
