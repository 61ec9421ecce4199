package main

import (
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/inspect"
)

// each is told every judged trial of a recording.
type each = func(record.Scenario, record.Trial, measure.Facts, []gate.Finding) error

// tell returns a judge that tells each trial that it has judged.
func tell(judge reports.Judge, to each) reports.Judge {
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
func logged(write func(*inspect.Log, io.Writer, inspect.Head, inspect.Samples) error) func(io.Writer, recorded) (reports.Report, error) {
	return func(w io.Writer, in recorded) (reports.Report, error) {
		log := &inspect.Log{}
		report, err := in.read(tell(in.judge, log.Count))
		if err != nil {
			return report, err
		}
		head := inspect.Head{
			Run:   record.Run{ID: report.Run.ID, Tool: report.Run.Tool, Prices: report.Run.Prices, Labels: report.Run.Labels},
			Start: in.start, Interrupted: report.Interrupted, Problems: report.Problems,
		}
		err = write(log, w, head, func(to inspect.Each) error {
			_, err := in.read(tell(in.judge, to))
			return err
		})
		return report, err
	}
}
