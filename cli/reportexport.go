package cli

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/export"
)

// each receives every judged trial of a recording.
type each = func(record.Scenario, record.Trial, measure.Facts, []gate.Finding) error

// forEach returns a judge that passes each judged trial on.
func forEach(judge reports.Judge, to each) reports.Judge {
	return func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
		facts, findings, err := judge(s, t)
		if err == nil {
			err = to(s, t, facts, findings)
		}
		return facts, findings, err
	}
}

// logged is a format of Inspect. The recording is read twice, as the head of a log
// tells of all samples: for numbers, and then for samples.
func logged(write func(*export.Log, io.Writer, export.Head, export.Samples) error) func(io.Writer, recorded) (reports.Report, error) {
	return func(w io.Writer, in recorded) (reports.Report, error) {
		log := &export.Log{}
		report, err := in.read(forEach(in.judge, log.Count))
		if err != nil {
			return report, err
		}
		run, err := in.head()
		if err != nil {
			return report, err
		}
		head := export.Head{
			Run: run, Start: in.start, Interrupted: report.Interrupted, Problems: report.Problems,
		}
		err = write(log, w, head, func(to export.Visit) error {
			_, err := in.read(forEach(in.judge, to))
			return err
		})
		return report, err
	}
}

// traced writes OpenTelemetry spans as the recording is read.
func traced(w io.Writer, in recorded) (reports.Report, error) {
	run, err := in.head()
	if err != nil {
		return reports.Report{}, err
	}
	return in.read(forEach(in.judge, export.NewSpanWriter(w, run, in.start, in.chain.Altered).Trial))
}

// head is the first line of the recording.
func (r recorded) head() (record.Run, error) {
	if _, err := r.file.Seek(0, io.SeekStart); err != nil {
		return record.Run{}, fmt.Errorf("read the recording from its beginning: %w", err)
	}
	for entry, err := range record.Read(until{r.file, r.over}) {
		if err != nil {
			return record.Run{}, r.explain(err)
		}
		if entry.Run != nil {
			return *entry.Run, nil
		}
	}
	return record.Run{}, errEmpty
}
