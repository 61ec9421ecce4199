package cli

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/export"
)

// outputFormat is a way to show a recording.
type outputFormat struct {
	// write reads the recording, writes what it shows, and returns the report. It
	// reads trial by trial, so that memory does not grow with the recording.
	write func(io.Writer, recorded) (reports.Report, error)
	// binary formats are not for terminals.
	binary bool
}

// formats are those of report, by name.
func formats() map[string]outputFormat {
	list := map[string]outputFormat{
		"html":    {write: reportHTML},
		"inspect": {write: logged((*export.Log).JSON)},
		"eval":    {write: logged((*export.Log).Eval), binary: true},
		"otlp":    {write: traced},
	}
	for name, render := range renderers {
		list[name] = outputFormat{write: rendered(render)}
	}
	return list
}

func formatNames() []string { return slices.Sorted(maps.Keys(formats())) }

// rendered is a outputFormat that needs the report alone.
func rendered(render renderer) func(io.Writer, recorded) (reports.Report, error) {
	return func(w io.Writer, in recorded) (reports.Report, error) {
		report, err := in.read(in.judge)
		if err != nil {
			return report, err
		}
		return report, render(w, report, in.options)
	}
}

// recorded is a recording that can be read more than once.
type recorded struct {
	file     *os.File
	language *gate.Language
	judge    reports.Judge
	chain    record.Report // what its hash chain shows
	options  renderOptions
	// scores are those of detectors; nil without any.
	scores *reports.Detection
	// start is the start of the trials for formats that need a date: recordings have none.
	start time.Time
	// comparison is the one with a baseline that the run left; nil if it left none.
	comparison *compare.Result
	// over returns why reading must end, or nil; a nil func never ends it.
	over func() error
}

// openRecording opens a recording with the timings beside it, and verifies its hash
// chain: no report is made without. over is as in recorded.
func (a *app) openRecording(path string, over func() error) (recorded, error) {
	timings, err := readTimings(timingsOf(path))
	if err != nil {
		return recorded{}, err
	}
	comparison, err := readComparison(beside(path, comparisonFile))
	if err != nil {
		return recorded{}, err
	}
	file, err := os.Open(path)
	if err != nil {
		return recorded{}, fmt.Errorf("open the recording: %w", err)
	}
	in := recorded{file: file, language: a.agents.language, judge: reports.Rejudge(a.agents.language, timings), start: clock.Epoch, comparison: comparison, over: over}
	if in.chain, err = record.Verify(until{file, over}); err != nil {
		_ = file.Close() // it was only read
		return recorded{}, in.explain(err)
	}
	return in, nil
}

// errEmpty is the error of a recording without trials.
var errEmpty = errors.New("the recording has no trial, so there is nothing to report; run the scenarios again")

// read reads the recording from its beginning and judges each trial.
func (r recorded) read(judge reports.Judge) (reports.Report, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return reports.Report{}, fmt.Errorf("read the recording from its beginning: %w", err)
	}
	builder, err := reports.FromRecording(until{r.file, r.over}, r.language.Extensions(), judge)
	if err != nil {
		return reports.Report{}, r.explain(err)
	}
	report := builder.Close()
	report.CheckChain(r.chain)
	if r.comparison != nil {
		if r.comparison.After != report.Run.ID {
			return report, fmt.Errorf("%s is of the run %s, and the recording of %s; run the scenarios again", comparisonFile, r.comparison.After, report.Run.ID)
		}
		report.Compare(*r.comparison)
	}
	if report.Totals.Trials.Total() > 0 {
		return report, nil
	}
	err = errEmpty
	if len(report.Problems) > 0 {
		err = fmt.Errorf("%w (%s)", errEmpty, report.Problems[0])
	}
	return report, usage(err)
}

// explain gives errors of reading their exit code.
func (r recorded) explain(err error) error {
	if r.over != nil {
		if cause := r.over(); cause != nil {
			return &exitError{exitInterrupted, fmt.Errorf("the recording was not read to its end: %w", cause)}
		}
	}
	if errors.Is(err, record.ErrEmpty) {
		return usage(err)
	}
	return err
}

// until reads until it is over.
type until struct {
	io.Reader
	over func() error
}

// Read implements io.Reader.
func (u until) Read(p []byte) (int, error) {
	if u.over != nil {
		if err := u.over(); err != nil {
			return 0, err
		}
	}
	return u.Reader.Read(p)
}

// startTime is the time that --at names.
func startTime(at string) (time.Time, error) {
	switch at {
	case "":
		return clock.Epoch, nil
	case "now":
		return time.Now().UTC(), nil
	}
	t, err := time.Parse(time.RFC3339, at)
	if err != nil {
		return t, fmt.Errorf("--at %q is not a time such as %s, nor now", at, clock.Epoch.Format(time.RFC3339))
	}
	return t.UTC(), nil
}

// output writes to the file that the user named, whole or not at all, or to
// standard output; in is what is read.
func (a *app) output(name string, f outputFormat, in string, write func(io.Writer) error) error {
	if name != "" {
		if input.SameFile(name, in) {
			return usage(fmt.Errorf("--out %s is the recording itself; name another file", name))
		}
		return atomicdir.ReplaceWith(name, write)
	}
	if f.binary && tty.Is(a.stdout) {
		return usage(errors.New("this format is not for a terminal; name a file with --out, or redirect the output"))
	}
	stdout := a.stdout
	if f.binary {
		stdout = console.Unfiltered(stdout)
	}
	out := bufio.NewWriterSize(stdout, 64<<10)
	if err := write(out); err != nil {
		_ = out.Flush() // for a reader: as far as it goes
		return err
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write the report: %w", err)
	}
	return nil
}
