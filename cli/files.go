package cli

import (
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
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
	out       *atomicdir.Folder
	recording *atomicdir.File
	writer    *record.Writer
	timings   *atomicdir.File   // nil until there is a timing
	others    []*atomicdir.File // that are committed with those of the run
	builder   reports.Builder
	scenario  record.Scenario
	progress  *reports.Progress
	stacks    io.Writer // where the stacks of panics go
	// against compares the run with a baseline; nil without one.
	against *against
	// page is rendered as the run goes on; nil if none is wanted.
	page *runPage
}

func (a *app) newRunFiles(out *atomicdir.Folder, header record.Run) (*runFiles, error) {
	// Those of a run that was killed do not belong to this recording.
	if err := out.Remove(timingsFile+atomicdir.Partial, exploreFile+atomicdir.Partial, exploreMarkdownFile+atomicdir.Partial); err != nil {
		return nil, err
	}
	recording, err := out.Create(recordingFile)
	if err != nil {
		return nil, err
	}
	writer, err := record.NewWriter(recording, header)
	if err != nil {
		return nil, err
	}
	return &runFiles{out: out, recording: recording, writer: writer, builder: reports.Builder{Run: header, Extensions: a.agents.language.Extensions()}}, nil
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
	f.against.add(&j)
	if err := f.page.add(&f.scenario, &j); err != nil {
		return err
	}
	// The timings first: a trial that is recorded has them.
	if err := f.addTimings(j.Timings); err != nil {
		return err
	}
	if err := f.writer.Trial(j.Lines); err != nil {
		return err
	}
	return f.recording.Flush()
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

// close completes the recording, renders the reports and commits all of them.
func (f *runFiles) close(outcome harness.Outcome) (reports.Report, error) {
	f.builder.Interrupted, f.builder.Stopped, f.builder.NotRun = outcome.Interrupted, outcome.Stopped, outcome.NotRun
	report := f.builder.Close()
	if err := f.against.compare(&report); err != nil {
		return report, err
	}
	if err := f.writer.Close(record.Close{
		Trials: outcome.Trials, Interrupted: outcome.Interrupted, Stopped: outcome.Stopped, NotRun: outcome.NotRun,
	}); err != nil {
		return report, err
	}
	files, err := f.render(report)
	if err != nil {
		return report, err
	}
	files = append(append(files, f.others...), f.recording)
	if f.timings != nil {
		files = append(files, f.timings)
	}
	if err := f.out.Commit(files...); err != nil {
		return report, err
	}
	return report, f.removeEarlier()
}

// removeEarlier removes files of an earlier run that this one does not write.
func (f *runFiles) removeEarlier() error {
	var names []string
	if f.timings == nil {
		names = append(names, timingsFile)
	}
	if f.others == nil {
		names = append(names, exploreFile, exploreMarkdownFile)
	}
	if f.page == nil {
		names = append(names, htmlFile)
	}
	if f.against == nil {
		names = append(names, comparisonFile)
	}
	return f.out.Remove(names...)
}

// render writes the reports to files that are still to be committed.
func (f *runFiles) render(report reports.Report) ([]*atomicdir.File, error) {
	var files []*atomicdir.File
	type part struct {
		name   string
		render renderer
	}
	parts := []part{{jsonFile, renderers["json"]}, {junitFile, renderers["junit"]}, {markdownFile, renderers["markdown"]}}
	if report.Comparison != nil {
		parts = append(parts, part{comparisonFile, func(w io.Writer, r reports.Report, _ renderOptions) error {
			return reports.JSON(w, r.Comparison)
		}})
	}
	if f.page != nil {
		parts = append(parts, part{htmlFile, f.page.write})
	}
	for _, r := range parts {
		file, err := f.out.Create(r.name)
		if err != nil {
			return nil, err
		}
		if err := r.render(file, report, renderOptions{}); err != nil {
			return nil, fmt.Errorf("write %s: %w", r.name, err)
		}
		files = append(files, file)
	}
	return files, nil
}
