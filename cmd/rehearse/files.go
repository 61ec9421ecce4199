package main

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/folder"
	"github.com/rehearse-dev/rehearse/reports"
)

// The files of a run.
const (
	recordingFile = "recording.jsonl"
	timingsFile   = "timings.jsonl"
	jsonFile      = "report.json"
	junitFile     = "junit.xml"
	markdownFile  = "report.md"
)

// runFiles is a harness.Sink that writes a run's files as the run goes on.
type runFiles struct {
	out       *folder.Folder
	recording *folder.File
	writer    *record.Writer
	timings   *folder.File // nil until there is a timing
	builder   reports.Builder
	scenario  record.Scenario
	progress  *reports.Progress
	stacks    io.Writer // where the stacks of panics go
}

func newRunFiles(out *folder.Folder, header record.Run) (*runFiles, error) {
	recording, err := out.Create(recordingFile)
	if err != nil {
		return nil, err
	}
	writer, err := record.NewWriter(recording, header)
	if err != nil {
		return nil, err
	}
	return &runFiles{out: out, recording: recording, writer: writer, builder: reports.Builder{Run: header}}, nil
}

// Scenario implements harness.Sink.
func (f *runFiles) Scenario(s record.Scenario) error {
	f.progress.Begin(s.Name)
	f.scenario = s
	return f.writer.Scenario(s)
}

// Trial implements harness.Sink. The recording is flushed to the system after
// each trial: a kill loses only what was under way.
func (f *runFiles) Trial(j harness.Judged) error {
	if j.Stack != nil {
		fmt.Fprintf(f.stacks, "%s: %s\n%s\n", j.Scenario.Name, j.Trial.End.HarnessError, j.Stack)
	}
	f.progress.Trial(j.Verdict)
	f.builder.Add(f.scenario, j.Facts, j.Findings)
	if err := f.writer.Trial(j.Lines); err != nil {
		return err
	}
	if err := f.recording.Flush(); err != nil {
		return err
	}
	return f.addTimings(j.Timings)
}

func (f *runFiles) addTimings(timings []record.Timing) (err error) {
	if len(timings) == 0 {
		return nil
	}
	if f.timings == nil {
		if f.timings, err = f.out.Create(timingsFile); err != nil {
			return err
		}
	}
	if err := record.WriteTimings(f.timings, timings); err != nil {
		return err
	}
	return f.timings.Flush()
}

// close completes the recording and renders the reports.
func (f *runFiles) close(outcome harness.Outcome) (reports.Report, error) {
	f.builder.Interrupted, f.builder.NotRun = outcome.Interrupted, outcome.NotRun
	report := f.builder.Close()
	if err := f.writer.Close(record.Close{
		Trials: outcome.Trials, Interrupted: outcome.Interrupted, NotRun: outcome.NotRun,
	}); err != nil {
		return report, err
	}
	if err := f.commit(); err != nil {
		return report, err
	}
	for _, r := range []struct {
		name   string
		render func(io.Writer, reports.Report, reports.Options) error
	}{
		{jsonFile, reports.JSON},
		{junitFile, reports.JUnit},
		{markdownFile, reports.Markdown},
	} {
		err := f.out.Write(r.name, func(w *folder.File) error { return r.render(w, report, reports.Options{}) })
		if err != nil {
			return report, err
		}
	}
	return report, nil
}

// commit gives the recording and its timings their names; the timings of an
// earlier run do not belong to this recording.
func (f *runFiles) commit() error {
	if f.timings == nil {
		if err := f.out.Remove(timingsFile, timingsFile+folder.Partial); err != nil {
			return err
		}
	} else if err := f.timings.Commit(); err != nil {
		return err
	}
	return f.recording.Commit()
}
