package rundir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/export"
)

// ErrEmpty is the error of a recording without trials.
var ErrEmpty = errors.New("the recording has no trial, so there is nothing to report; run the scenarios again")

// Recording is an open recording, which can be read more than once. It is read trial by trial:
// memory does not grow with the recording.
type Recording struct {
	ctx        context.Context //nolint:containedctx // ends the reading, as of a request
	file       *os.File
	language   *gate.Language
	judge      reports.Judge
	found      Verification
	comparison *compare.Result // with the baseline of the run; nil without one
}

// OpenRecording opens a recording with the timings and the comparison beside it, and verifies
// its hash chain. The end of ctx ends the reading with its cause.
func OpenRecording(ctx context.Context, path string, language *gate.Language) (*Recording, error) {
	timings, err := readTimings(beside(path, timingsFile), record.ReadTimings)
	if err != nil {
		return nil, err
	}
	comparison, err := readComparison(beside(path, comparisonFile))
	if err != nil {
		return nil, err
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	r := &Recording{ctx: ctx, file: file, language: language, judge: reports.Rejudge(language, timings), comparison: comparison}
	if r.found, err = Verify(ctx, path, nil); err != nil {
		_ = file.Close() // it was only read
		return nil, err
	}
	return r, nil
}

// readTimings reads the timings beside a recording. Most recordings have none.
func readTimings(path string, read func(io.Reader) ([]record.Timing, error)) ([]record.Timing, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("open the timings: %w", err)
	}
	defer file.Close()
	return read(file)
}

// Close closes the file.
func (r *Recording) Close() { _ = r.file.Close() } // it was only read

// Altered returns the first problem of the hash chain if the recording was altered after the
// run.
func (r *Recording) Altered() (problem string, altered bool) {
	switch {
	case r.found.Chain.Altered:
		return r.found.Chain.Problems[0].String(), true
	case len(r.found.Rewritten) > 0:
		return r.found.Rewritten[0], true
	}
	return "", false
}

// Report judges the recording and returns its report.
func (r *Recording) Report() (reports.Report, error) { return r.read(r.judge) }

// Origin returns when and how the run was made; zero if nothing beside the recording has it.
func (r *Recording) Origin() reports.Origin { return OriginOf(r.file.Name()) }

// read reads the recording from its beginning and judges each trial.
func (r *Recording) read(judge reports.Judge) (reports.Report, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return reports.Report{}, fmt.Errorf("read the recording from its beginning: %w", err)
	}
	builder, err := reports.FromRecording(contextReader{r.ctx, r.file}, r.language.Extensions(), judge)
	if err != nil {
		return reports.Report{}, err
	}
	report := builder.Close()
	report.CheckChain(r.found.Chain, r.found.Rewritten...)
	if r.comparison != nil {
		if r.comparison.After != report.Run.ID {
			return report, fmt.Errorf("%s is of the run %s, and the recording of %s; run the scenarios again",
				comparisonFile, r.comparison.After, report.Run.ID)
		}
		report.Compare(*r.comparison)
	}
	switch {
	case report.Totals.Trials.Total() > 0:
		return report, nil
	case len(report.Problems) > 0:
		return report, fmt.Errorf("%w (%s)", ErrEmpty, report.Problems[0])
	}
	return report, ErrEmpty
}

// each reads the recording and passes each judged trial on.
func (r *Recording) each(visit export.Visit) (reports.Report, error) {
	return r.read(func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
		facts, findings, err := r.judge(s, t)
		if err == nil {
			err = visit(s, t, facts, findings)
		}
		return facts, findings, err
	})
}

// WriteInspect writes the recording as a log of Inspect whose trials begin at start: one JSON
// object, or an .eval file if packed is true. It reads the recording two or three times, because
// the head of a log has numbers of all samples, and an .eval file their summaries.
func (r *Recording) WriteInspect(w io.Writer, start time.Time, packed bool) (reports.Report, error) {
	log := &export.Log{}
	report, err := r.each(log.Count)
	if err != nil {
		return report, err
	}
	run, err := r.run()
	if err != nil {
		return report, err
	}
	write := log.JSON
	if packed {
		write = log.Eval
	}
	head := export.Head{Run: run, Start: start, Interrupted: report.Interrupted, Problems: report.Problems}
	return report, write(w, head, func(visit export.Visit) error {
		_, err := r.each(visit)
		return err
	})
}

// WriteSpans writes the recording as OpenTelemetry spans whose trials begin at start.
func (r *Recording) WriteSpans(w io.Writer, start time.Time) (reports.Report, error) {
	run, err := r.run()
	if err != nil {
		return reports.Report{}, err
	}
	_, altered := r.Altered()
	return r.each(export.Spans(w, run, start, altered))
}

// run returns the first line of the recording.
func (r *Recording) run() (record.Run, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return record.Run{}, fmt.Errorf("read the recording from its beginning: %w", err)
	}
	for entry, err := range record.Read(contextReader{r.ctx, r.file}) {
		if err != nil {
			return record.Run{}, err
		}
		if entry.Run != nil {
			return *entry.Run, nil
		}
	}
	return record.Run{}, ErrEmpty
}

// contextReader reads until a context ends.
type contextReader struct {
	ctx context.Context //nolint:containedctx // ends the reading
	io.Reader
}

// Read implements io.Reader.
func (r contextReader) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}
