package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
)

const (
	lastFile   = "last.json"
	lastSchema = "rehearse.last/1"
)

// ErrNoLast means that no earlier run is known.
var ErrNoLast = errors.New("there is no earlier run")

// Last is the content of the file about earlier runs in a folder of runs.
type Last struct {
	Schema string `json:"schema"`
	// Folder is the folder of the last run: relative to the folder of runs, or absolute.
	Folder string `json:"folder"`
	// Unperturbed is the folder of the last run of scenarios without perturbations, if it is known.
	Unperturbed string `json:"unperturbed,omitempty"`
	// Verdicts has the verdict of each scenario in its last run; empty if the run ended before.
	Verdicts map[string]gate.Verdict `json:"verdicts"`
	// Seconds is how long a trial of each scenario took in the last run that had one, for estimates.
	Seconds map[string]float64 `json:"seconds,omitempty"`
}

// Failed reports whether a scenario failed in the last run that had a result for it, or had no
// verdict there because of an error.
func (l Last) Failed(scenario string) bool {
	v := l.Verdicts[scenario]
	return v == gate.Fail || v == gate.Error
}

// Due reports whether a scenario failed, or has no result: it is new, or its last run ended before it was run.
func (l Last) Due(scenario string) bool { return l.Verdicts[scenario] == "" || l.Failed(scenario) }

// ReadLast reads the file about earlier runs. The error is ErrNoLast if it does not exist.
func ReadLast(runs string) (Last, error) {
	path := filepath.Join(runs, lastFile)
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return Last{}, ErrNoLast
	}
	var l Last
	return l, readJSON("verdicts of the last runs", path, &l, &l.Schema, lastSchema, "delete it, and run the scenarios again")
}

// Remember records the run with the reports in folder as the last one, with the verdicts of report, and how long a
// trial of each scenario took. Both are nil for a run without scenarios. The folder of runs must exist.
func Remember(runs, folder string, report *reports.Report, seconds map[string]float64) error {
	folder, err := relativeTo(runs, folder)
	if err != nil {
		return fmt.Errorf("remember the last run: %w", err)
	}
	err = atomicdir.Update(filepath.Join(runs, lastFile), func(old []byte) ([]byte, error) {
		var l Last
		if err := json.Unmarshal(old, &l); err != nil || l.Schema != lastSchema {
			l = Last{} // the file is missing or damaged
		}
		l.Schema, l.Folder = lastSchema, folder
		verdicts := map[string]gate.Verdict{}
		maps.Copy(verdicts, l.Verdicts)
		if report != nil {
			if !slices.ContainsFunc(report.Scenarios, func(s reports.Scenario) bool { return len(s.Perturb) > 0 }) {
				l.Unperturbed = folder
			}
			updateVerdicts(verdicts, report)
		}
		l.Verdicts, l.Seconds = verdicts, merged(l.Seconds, seconds)
		data, err := format.Marshal(l)
		return append(data, '\n'), err
	})
	if err != nil {
		return fmt.Errorf("remember the last run: %w", err)
	}
	return nil
}

// merged returns old with the entries of more, which come first.
func merged(old, more map[string]float64) map[string]float64 {
	all := map[string]float64{}
	maps.Copy(all, old)
	maps.Copy(all, more)
	return all
}

// updateVerdicts adds the verdicts of the scenarios that a run completed, or that failed before it ended. It
// removes earlier passes of the others.
func updateVerdicts(verdicts map[string]gate.Verdict, report *reports.Report) {
	notRun := slices.Clone(report.NotRun)
	for _, s := range report.Scenarios {
		switch {
		case s.Trials.Total() >= s.Planned:
			verdicts[s.Name] = s.Verdict
		case s.Trials.Fail+s.Trials.Error > 0:
			verdicts[s.Name] = gate.Fail
		default:
			notRun = append(notRun, s.Name)
		}
	}
	for _, name := range notRun {
		if v := verdicts[name]; v != gate.Fail && v != gate.Error {
			verdicts[name] = ""
		}
	}
}

// relativeTo returns a path below the folder of runs relative to it, so that this folder can be moved, and
// other paths absolute.
func relativeTo(runs, path string) (string, error) {
	base, err := filepath.Abs(runs)
	if err != nil {
		return "", err
	}
	if path, err = filepath.Abs(path); err != nil {
		return "", err
	}
	if below, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(below) {
		return filepath.ToSlash(below), nil
	}
	return path, nil
}

// LastRun returns the folder of the last run: the remembered one or, if it is gone, the newest one below the
// folder of runs with a complete recording or result, which a killed run does not have. The error wraps
// ErrNoLast if there is no such folder.
func LastRun(runs string) (string, error) {
	return lastOr(runs, func(l Last) string { return l.Folder })
}

// LastUnperturbed is LastRun, but it prefers the last run of scenarios without perturbations.
func LastUnperturbed(runs string) (string, error) {
	return lastOr(runs, func(l Last) string { return l.Unperturbed })
}

// lastOr returns a remembered folder or, if it is gone, the newest one below the folder of runs.
func lastOr(runs string, remembered func(Last) string) (string, error) {
	l, err := ReadLast(runs)
	if name := remembered(l); err == nil && name != "" {
		folder := filepath.FromSlash(name)
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(runs, folder)
		}
		if _, done := completed(folder); done {
			return folder, nil
		}
	}
	entries, err := os.ReadDir(runs)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("find the last run: %w", err)
	}
	newest, when := "", time.Time{}
	for _, e := range entries { // in the order of their names, which begin with their time
		folder := filepath.Join(runs, e.Name())
		if at, done := completed(folder); done && !at.Before(when) {
			newest, when = folder, at
		}
	}
	if newest == "" {
		return "", fmt.Errorf("%w in %s; name the folder of a run", ErrNoLast, runs)
	}
	return newest, nil
}

// completed returns the time at which the run in a folder was completed.
func completed(folder string) (time.Time, bool) {
	for _, name := range []string{RecordingFile, ExperimentFile} {
		if info, err := os.Stat(filepath.Join(folder, name)); err == nil {
			return info.ModTime(), true
		}
	}
	return time.Time{}, false
}
