package rundir

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/reports"
)

// readComparison reads the comparison that a run with a baseline wrote; it returns nil without
// a file.
func readComparison(path string) (*compare.Result, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var c compare.Result
	if err := readJSON("comparison", path, &c, &c.Schema, compare.Schema, "run the scenarios again"); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, fmt.Errorf("read the comparison %s: %w; it was changed after the run, so run the scenarios again", path, err)
	}
	return &c, nil
}

// maxJSON limits the size of a JSON file.
const maxJSON = 256 << 20

// readJSON reads a JSON file without unknown members, whose schema must be want. hint describes
// how to replace a file that cannot be used.
func readJSON(what, path string, into any, schema *string, want, hint string) error {
	data, err := input.ReadFile(what, path, maxJSON)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("read the %s %s: %w; %s", what, path, err, hint)
	}
	if *schema != want {
		return fmt.Errorf("read the %s %s: its schema is %q, and this program reads %q; %s", what, path, *schema, want, hint)
	}
	return nil
}

// BaselineSource is a baseline that a run is compared with.
type BaselineSource struct {
	before compare.Baseline
	file   string
}

// OpenBaseline reads a baseline that has at least one scenario.
func OpenBaseline(file string) (*BaselineSource, error) {
	before, err := ReadBaseline(file)
	if err != nil {
		return nil, err
	}
	if len(before.Scenarios) == 0 {
		return nil, fmt.Errorf("the baseline %s has no scenario, so nothing could be worse; bless a run again: %s", file,
			blessCommand("RUN", file))
	}
	return &BaselineSource{before.Baseline, file}, nil
}

// compare adds the comparison of a run, in its folder, to its report. Without a baseline it does
// nothing.
func (b *BaselineSource) compare(report *reports.Report, folder string, now compare.Baseline) {
	if b == nil {
		return
	}
	wrong := runFindings(*report, "the run")
	result := compare.Compare(b.before, now, compare.Options{Findings: wrong})
	if result.Verdict != gate.Pass && len(wrong) == 0 {
		result.Bless = acceptCommand(folder, b.file, &now)
	}
	report.Compare(result)
}

// blessCommand returns the command that makes a run the baseline.
func blessCommand(run, file string, flags ...string) string {
	words := []string{"rehearse", "bless", run}
	if file != compare.BaselineFile {
		words = append(words, "--baseline", file)
	}
	return format.ShellLine(append(words, flags...)...)
}

// acceptCommand returns the command that accepts a run, with the flag for failing scenarios; it
// is empty if the run cannot be blessed.
func acceptCommand(folder, file string, run *compare.Baseline) string {
	var flags []string
	for i := range run.Scenarios {
		switch run.Scenarios[i].Verdict {
		case gate.Pass:
		case gate.Fail:
			flags = []string{"--allow-failing"}
		default:
			return ""
		}
	}
	return blessCommand(folder, file, flags...)
}

// Side is one side of a comparison: a run, or the file of a baseline.
type Side struct {
	compare.Baseline
	path   string
	isFile bool
	report reports.Report // of a run
}

// Compare compares two sides. The result has the command that accepts a run whose baseline is
// a file.
func Compare(before, after *Side) compare.Result {
	var wrong []gate.Finding
	if !before.isFile {
		wrong = runFindings(before.report, "BEFORE")
	}
	if !after.isFile {
		wrong = append(wrong, runFindings(after.report, "AFTER")...)
	}
	result := compare.Compare(before.Baseline, after.Baseline, compare.Options{Findings: wrong})
	result.Before, result.After = before.path, after.path
	if before.isFile && !after.isFile && result.Verdict != gate.Pass && len(wrong) == 0 {
		result.Bless = acceptCommand(after.path, before.path, &after.Baseline)
	}
	return result
}

// runFindings returns the reasons why a run does not represent its whole plan.
func runFindings(r reports.Report, when string) []gate.Finding {
	var list []gate.Finding
	add := func(rule, message, evidence string) {
		list = append(list, gate.Finding{Severity: gate.Broken, Rule: rule, Message: when + ": " + message, Evidence: evidence})
	}
	for _, p := range r.Problems {
		add("recording", "something is wrong with the recording", p)
	}
	if r.Interrupted {
		add("interrupted", "the run was interrupted before its plan was done", "")
	}
	if r.Stopped != "" {
		add("stopped", "the run was stopped before its plan was done", r.Stopped)
	}
	if len(r.NotRun) > 0 {
		add("not-run", format.Count(len(r.NotRun), "planned scenario")+" did not run", strings.Join(r.NotRun, ", "))
	}
	return list
}

// IsBaseline distinguishes a baseline from a recording by its first line: that of a recording
// is a whole object with a type.
func IsBaseline(path string) (bool, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, fmt.Errorf("find what to compare: there is no %s; name the folder of a run, a recording or a baseline", path)
	case err != nil:
		return false, fmt.Errorf("find what to compare: %w", err)
	}
	if info.IsDir() {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open what to compare: %w", err)
	}
	defer file.Close()
	start, err := bufio.NewReader(file).Peek(200)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read what to compare: %w", err)
	}
	return !bytes.Contains(start, []byte(`"type":"run"`)) && !strings.HasSuffix(path, ".jsonl"), nil
}

// ReadBaseline reads the file of a baseline as a side.
func ReadBaseline(path string) (Side, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Side{}, fmt.Errorf("there is no baseline %s; make one from a run: %s", path, blessCommand("RUN", path))
	}
	if err != nil {
		return Side{}, fmt.Errorf("open the baseline: %w", err)
	}
	defer file.Close()
	b, err := compare.ReadBaseline(path, file)
	b.Run = path
	return Side{Baseline: b, path: path, isFile: true}, err
}

// ReadRun judges a recording again and sums it up as a side. path is the name of the side.
func ReadRun(ctx context.Context, path, recording string, language *gate.Language) (*Side, error) {
	in, err := OpenRecording(ctx, recording, language)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	var sum compare.Builder
	report, err := in.each(func(s record.Scenario, t record.Trial, facts measure.Facts, findings []gate.Finding) error {
		sum.Add(s, t.Head.N, &facts, findings)
		return nil
	})
	if err != nil {
		return nil, err
	}
	sum.Run = record.Run{ID: report.Run.ID, Tool: report.Run.Tool, Prices: report.Run.Prices}
	run, err := sum.Close()
	return &Side{Baseline: run, path: path, report: report}, err
}
