package rundir

import (
	"context"
	"fmt"
	"os"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/shard"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/reports"
)

// Merge merges the recordings of all shards of a run, judges their trials and writes the same files as one
// run would. It calls open when it has checked that the shards are complete. It returns the report and the
// closed sink. For errors see shard.Merge. The end of ctx ends it with its cause.
func Merge(ctx context.Context, folders []string, open func() (*atomicdir.Folder, error), language *gate.Language, opts SinkOptions,
) (reports.Report, *Sink, error) {
	opts.Extensions = language.Extensions()
	m := merging{openOut: open, opts: opts, language: language, timings: map[trialKey][]record.Timing{}}
	defer m.close()
	sources := make([]shard.Source, len(folders))
	for i, folder := range folders {
		file, err := m.open(folder)
		if err != nil {
			return reports.Report{}, nil, err
		}
		sources[i] = shard.Source{Name: folder, Recording: contextSeeker{contextReader{ctx, file}, file}}
	}
	if err := shard.Merge(sources, &m); err != nil {
		return reports.Report{}, nil, err
	}
	report, err := m.sink.Finish(harness.Outcome{Trials: m.trials})
	return report, m.sink, err
}

// merging is the shard.Sink that writes a merged run.
type merging struct {
	openOut  func() (*atomicdir.Folder, error)
	opts     SinkOptions
	language *gate.Language
	files    []*os.File
	timings  map[trialKey][]record.Timing
	sink     *Sink
	judge    reports.Judge
	trials   int
}

type trialKey struct {
	scenario string
	n        int
}

// open opens the recording in a folder, and reads the timings beside it.
func (m *merging) open(folder string) (*os.File, error) {
	path, err := FindRecording(folder)
	if err != nil {
		return nil, err
	}
	timings, err := readTimings(beside(path, timingsFile), record.ReadTimings)
	if err != nil {
		return nil, err
	}
	for _, t := range timings {
		key := trialKey{t.Scenario, t.Trial}
		m.timings[key] = append(m.timings[key], t)
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	m.files = append(m.files, file)
	return file, nil
}

func (m *merging) close() {
	for _, file := range m.files {
		_ = file.Close() // it was only read
	}
	if m.sink != nil {
		m.sink.Close()
	}
}

// Begin implements shard.Sink.
func (m *merging) Begin(run record.Run) error {
	var all []record.Timing
	for _, timings := range m.timings {
		all = append(all, timings...)
	}
	m.judge = reports.Rejudge(m.language, all)
	out, err := m.openOut()
	if err != nil {
		return err
	}
	m.sink, err = NewSink(out, run, m.opts)
	return err
}

// Scenario implements shard.Sink.
func (m *merging) Scenario(head record.Scenario) error { return m.sink.Scenario(head) }

// Trial implements shard.Sink.
func (m *merging) Trial(head record.Scenario, trial record.Trial) error {
	lines, err := record.Encode(trial)
	if err != nil {
		return err
	}
	facts, findings, err := m.judge(head, trial)
	if err != nil {
		return fmt.Errorf("judge scenario %q: %w", head.Name, err)
	}
	for i := range findings {
		findings[i].Trial = trial.Head.N
	}
	m.trials++
	return m.sink.Trial(harness.Judged{
		Scenario: &head, Trial: trial, Lines: lines, Timings: m.timings[trialKey{head.Name, trial.Head.N}],
		Facts: facts, Findings: findings, Verdict: gate.VerdictOf(findings),
	})
}

// contextSeeker is a file that is read until a context ends.
type contextSeeker struct {
	contextReader
	file *os.File
}

// Seek implements io.Seeker.
func (s contextSeeker) Seek(offset int64, whence int) (int64, error) {
	return s.file.Seek(offset, whence)
}
