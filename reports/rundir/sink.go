package rundir

import (
	"fmt"
	"io"
	"time"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// Sink is a harness.Sink that writes the files of a run during the run.
type Sink struct {
	out       *atomicdir.Folder
	opts      SinkOptions
	recording *atomicdir.File
	writer    *record.Writer
	timings   *atomicdir.File // nil until there is a timing
	builder   reports.Builder
	scenario  record.Scenario
	summary   *compare.Builder // nil unless it is wanted
	now       compare.Baseline // the summary, after Finish
	page      *runPage         // nil without a page
	explored  *result.Exploration
	trials    int
}

// SinkOptions are the options of NewSink.
type SinkOptions struct {
	// Extensions are the extensions of the measures.
	Extensions []measure.Extension
	// Progress shows the progress; nil for none.
	Progress *reports.Progress
	// Stacks receives the stacks of panics.
	Stacks io.Writer
	// Baseline to compare the run with; may be nil.
	Baseline *BaselineSource
	// Summarize summarizes the run for Side, as a baseline does.
	Summarize bool
	// Origin returns when and how the run was made, for the page, which is written when the run has
	// ended; nil if it is unknown.
	Origin func() reports.Origin
	// NoPage leaves out the HTML page.
	NoPage bool
}

// NewSink begins a run in a folder. The sink must be closed after Finish.
func NewSink(out *atomicdir.Folder, header record.Run, opts SinkOptions) (*Sink, error) {
	if opts.Progress == nil {
		opts.Progress = reports.NewProgress(io.Discard, console.Terminal{}, func() time.Time { return time.Time{} }, 0)
	}
	if opts.Origin == nil {
		opts.Origin = func() reports.Origin { return reports.Origin{} }
	}
	// Partial files of a run that was killed do not belong to this recording.
	if err := out.Remove(timingsFile+atomicdir.Partial, ExplorationFile+atomicdir.Partial,
		explorationMarkdownFile+atomicdir.Partial); err != nil {
		return nil, err
	}
	recording, err := out.Create(RecordingFile)
	if err != nil {
		return nil, err
	}
	writer, err := record.NewWriter(recording, header)
	if err != nil {
		return nil, err
	}
	s := &Sink{
		out: out, opts: opts, recording: recording, writer: writer,
		builder: reports.Builder{Run: header, Extensions: opts.Extensions},
	}
	if opts.Baseline != nil || opts.Summarize {
		s.summary = &compare.Builder{Run: header}
	}
	if !opts.NoPage {
		s.page, err = newPage()
	}
	return s, err
}

// Close frees the resources of the sink.
func (s *Sink) Close() {
	s.opts.Progress.Close()
	s.page.close()
}

// Scenario implements harness.Sink.
func (s *Sink) Scenario(scenario record.Scenario) error {
	s.opts.Progress.Scenario(scenario.Name)
	s.scenario = scenario
	return s.writer.Scenario(scenario)
}

// Trial implements harness.Sink. It flushes the recording to the system, so that a kill loses
// only the trials that are not done.
func (s *Sink) Trial(j harness.Judged) error {
	if j.Stack != nil {
		fmt.Fprintf(s.opts.Stacks, "%s: %s\n%s\n", j.Scenario.Name, j.Trial.End.HarnessError, j.Stack)
	}
	s.trials++
	s.opts.Progress.Trial(j.Verdict)
	s.builder.Add(s.scenario, j.Facts, j.Findings)
	if s.summary != nil {
		s.summary.Add(*j.Scenario, j.Trial.Head.N, &j.Facts, j.Findings)
	}
	s.page.add(&s.scenario, &j)
	// The timings first: a recorded trial has its timings.
	if err := s.addTimings(j.Timings); err != nil {
		return err
	}
	if err := s.writer.Trial(j.Lines); err != nil {
		return err
	}
	return s.recording.Flush()
}

func (s *Sink) addTimings(timings []record.Timing) (err error) {
	if len(timings) == 0 {
		return nil
	}
	if s.timings == nil {
		if s.timings, err = s.out.Create(timingsFile); err != nil {
			return err
		}
	}
	if err := record.WriteTimings(s.timings, timings); err != nil {
		return err
	}
	return s.timings.Flush()
}

// Finish completes the recording, writes the reports and commits all files.
func (s *Sink) Finish(outcome harness.Outcome) (reports.Report, error) {
	s.opts.Progress.Close()
	s.builder.Interrupted, s.builder.Stopped, s.builder.FailFast, s.builder.NotRun =
		outcome.Interrupted, outcome.Stopped, outcome.FailFast, outcome.NotRun
	report := s.builder.Close()
	if s.summary != nil {
		now, err := s.summary.Close()
		if err != nil {
			return report, err
		}
		s.now = now
		s.opts.Baseline.compare(&report, s.out.Path(), now)
	}
	if err := s.writer.Close(record.Close{
		Trials: outcome.Trials, Interrupted: outcome.Interrupted, Stopped: outcome.Stopped, FailFast: outcome.FailFast,
		NotRun: outcome.NotRun,
	}); err != nil {
		return report, err
	}
	report.Run.Lines, report.Run.LastHash = s.writer.Last()
	files, err := createFiles(s.out, s.parts(report))
	if err != nil {
		return report, err
	}
	files = append(files, s.recording)
	if s.timings != nil {
		files = append(files, s.timings)
	}
	if err := s.out.Commit(files...); err != nil {
		return report, err
	}
	return report, s.removeEarlier()
}

// Side returns the run as a side of a comparison. Finish must have returned its report, and the options
// must have Summarize.
func (s *Sink) Side(report reports.Report) *Side {
	return &Side{Baseline: s.now, path: s.out.Path(), report: report}
}

// FinishExploration is Finish for the runs of an exploration.
func (s *Sink) FinishExploration(r *result.Exploration, interrupted bool) (reports.Report, error) {
	s.explored = r
	return s.Finish(harness.Outcome{Trials: s.trials, Interrupted: interrupted})
}

// Seconds returns how long a trial of each scenario took, on average, by the clock of the progress.
func (s *Sink) Seconds() map[string]float64 { return s.opts.Progress.Seconds() }

// First returns the name of the file that people read first: the page, if there is one.
func (s *Sink) First() string {
	if s.page == nil {
		return markdownFile
	}
	return htmlFile
}

// removeEarlier removes the files of an earlier run that this run does not write.
func (s *Sink) removeEarlier() error {
	names := []string{StatementFile, SignatureFile, history.NoteFile} // of the earlier files
	if s.timings == nil {
		names = append(names, timingsFile)
	}
	if s.explored == nil {
		names = append(names, ExplorationFile, explorationMarkdownFile)
	}
	if s.page == nil {
		names = append(names, htmlFile)
	}
	if s.opts.Baseline == nil {
		names = append(names, comparisonFile)
	}
	return s.out.Remove(names...)
}

// parts are the reports.
func (s *Sink) parts(report reports.Report) []part {
	parts := []part{
		{jsonFile, func(w io.Writer) error { return reports.JSON(w, report) }},
		{junitFile, func(w io.Writer) error { return reports.JUnit(w, report) }},
		{markdownFile, func(w io.Writer) error { return doc.Markdown(w, reports.Document(report, false), 0) }},
	}
	if report.Comparison != nil {
		parts = append(parts, part{comparisonFile, func(w io.Writer) error { return reports.JSON(w, report.Comparison) }})
	}
	if r := s.explored; r != nil {
		parts = append(parts,
			part{ExplorationFile, func(w io.Writer) error { return result.WriteExploration(w, r) }},
			part{explorationMarkdownFile, func(w io.Writer) error { return doc.Markdown(w, reports.ExplorationDocument(r, nil), 0) }},
		)
	}
	if s.page != nil {
		parts = append(parts, part{htmlFile, func(w io.Writer) error { return s.page.write(w, report, s.explored, nil, s.opts.Origin()) }})
	}
	return parts
}
