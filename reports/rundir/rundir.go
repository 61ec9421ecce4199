// Package rundir reads and writes the folder of a run: the recording and the reports beside it.
package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"

	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// The files of a run, an exploration and an experiment.
const (
	RecordingFile  = "recording.jsonl"
	timingsFile    = "timings.jsonl"
	comparisonFile = "comparison.json"
	jsonFile       = "report.json"
	junitFile      = "junit.xml"
	markdownFile   = "report.md"
	htmlFile       = "report.html"

	ExplorationFile         = "explore.json"
	explorationMarkdownFile = "explore.md"

	ExperimentFile         = "experiment.json"
	experimentMarkdownFile = "experiment.md"
	experimentPageFile     = "experiment.html"
)

// FindRecording returns the recording in the folder of a run; a path of a file is returned as it
// is. A partial recording is preferred: it is that of the last run, which was cut off. The error of a
// recording that is not there is an fs.ErrNotExist.
func FindRecording(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", missing(fmt.Sprintf("find the recording: there is no %s; name the folder of a run, or a recording", path))
	case err != nil:
		return "", fmt.Errorf("find the recording: %w", err)
	}
	if !info.IsDir() {
		return path, nil
	}
	for _, name := range []string{RecordingFile + atomicdir.Partial, RecordingFile} {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", missing(fmt.Sprintf("there is no %s in %s; name the folder of a run, or a recording", RecordingFile, path))
}

// missing is the error of a recording that is not there.
type missing string

// Error implements error.
func (m missing) Error() string { return string(m) }

// Is makes it an fs.ErrNotExist.
func (m missing) Is(target error) bool { return target == fs.ErrNotExist }

// beside returns the path of a file that belongs to a recording, which is partial if the
// recording is.
func beside(recording, name string) string {
	if strings.HasSuffix(recording, atomicdir.Partial) {
		name += atomicdir.Partial
	}
	return filepath.Join(filepath.Dir(recording), name)
}

// ReadExploration reads an exploration from its folder or file; it returns nil without
// a file. One beside a partial recording belongs to an earlier run and is not read.
func ReadExploration(path string) (*result.Exploration, error) {
	if filepath.Base(path) != ExplorationFile {
		if _, err := os.Stat(filepath.Join(path, RecordingFile+atomicdir.Partial)); err == nil {
			return nil, nil
		}
	}
	return readResult(path, ExplorationFile, result.ReadExploration)
}

// ReadExperiment reads the result of an experiment from its folder or file; it returns nil
// without a file.
func ReadExperiment(path string) (*result.Experiment, error) {
	return readResult(path, ExperimentFile, result.ReadExperiment)
}

// File returns the path of a file in a folder; path may be the file already.
func File(path, name string) string {
	if filepath.Base(path) == name {
		return path
	}
	return filepath.Join(path, name)
}

func readResult[T any](path, name string, read func(io.Reader) (T, error)) (*T, error) {
	path = File(path, name)
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) { // a run, or a recording
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the result: %w", err)
	}
	defer file.Close()
	found, err := read(file)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return &found, nil
}

// WriteExperiment writes experiment.json, experiment.md and experiment.html.
func WriteExperiment(out *atomicdir.Folder, r *result.Experiment, from reports.Origin) error {
	d := reports.ExperimentDocument(r)
	d.Origin = from.Facts()
	files, err := createFiles(out, []part{
		{ExperimentFile, func(w io.Writer) error { return reports.JSON(w, r) }},
		{experimentMarkdownFile, func(w io.Writer) error { return doc.Markdown(w, d, 0) }},
		{experimentPageFile, func(w io.Writer) error { return doc.HTML(w, d, r.Tool) }},
	})
	if err != nil {
		return err
	}
	return out.Commit(files...)
}

// part is a file of a folder.
type part struct {
	name  string
	write func(io.Writer) error
}

// createFiles writes files that are still to be committed, all at the same time.
func createFiles(out *atomicdir.Folder, parts []part) ([]*atomicdir.File, error) {
	files, errs := make([]*atomicdir.File, len(parts)), make([]error, len(parts))
	var writers sync.WaitGroup
	defer writers.Wait()
	for i, p := range parts {
		file, err := out.Create(p.name)
		if err != nil {
			return nil, err
		}
		files[i] = file
		writers.Go(func() {
			if err := p.write(file); err != nil {
				errs[i] = fmt.Errorf("write %s: %w", p.name, err)
			}
		})
	}
	writers.Wait()
	return files, cmp.Or(errs...)
}
