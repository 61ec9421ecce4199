package harness

import (
	"errors"
	"fmt"
	"os"
	slashpath "path"
	"path/filepath"
	"slices"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// SnapshotSink is a Sink that takes snapshots of the first trial of a scenario and compares the trials with
// them. It stores the snapshots in the recording, which is then judged in the same way later. It takes no
// snapshot of a trial that fails for another reason.
type SnapshotSink struct {
	Sink
	// Language judges the trials again.
	Language *gate.Language
	// Missing takes snapshots that do not exist. Update also replaces snapshots that differ.
	Missing, Update bool

	taken  []TakenSnapshot
	failed []string
	head   *record.Scenario // of the scenario whose snapshots are taken
	judge  *gate.Judge      // nil without snapshots
	held   bool             // the scenario has no trial yet
}

// TakenSnapshot is a snapshot to write.
type TakenSnapshot struct {
	// Folder is the scenario's folder, and File the name in it, with slashes.
	Folder, File string
	// Text is the new content.
	Text string
	// Changed is true for a snapshot that existed.
	Changed bool
}

// Path returns the path of the snapshot.
func (t *TakenSnapshot) Path() string { return filepath.Join(t.Folder, filepath.FromSlash(t.File)) }

// Taken returns the snapshots that were taken, in the order of the run.
func (s *SnapshotSink) Taken() []TakenSnapshot { return s.taken }

// Failed returns the names of the scenarios whose snapshots were not taken, because they fail for another
// reason.
func (s *SnapshotSink) Failed() []string { return s.failed }

// before returns s with sink as its next sink, or sink if s is nil.
func (s *SnapshotSink) before(sink Sink, l *gate.Language) Sink {
	if s == nil {
		return sink
	}
	s.Sink, s.Language = sink, l
	return s
}

// Scenario implements Sink.
func (s *SnapshotSink) Scenario(head record.Scenario) error {
	snapshot := head.Expect.Snapshot
	s.head, s.judge = &head, nil
	if s.held = snapshot != nil && (s.Update || s.Missing && snapshot.Missing()) && !scenarios.Shipped(head.File); s.held {
		return nil
	}
	return s.Sink.Scenario(head)
}

// Trial implements Sink.
func (s *SnapshotSink) Trial(j Judged) error {
	if s.held {
		s.held = false
		if err := s.take(&j); err != nil {
			return err
		}
		if err := s.Sink.Scenario(*s.head); err != nil {
			return err
		}
	}
	if s.judge != nil {
		j.Scenario, j.Findings = s.head, s.judge.Judge(j.Facts)
		for i := range j.Findings {
			j.Findings[i].Trial = j.Trial.Head.N
		}
		j.Verdict = gate.VerdictOf(j.Findings)
	}
	return s.Sink.Trial(j)
}

// take takes the snapshots of the first trial, unless it fails for another reason.
func (s *SnapshotSink) take(j *Judged) error {
	others := slices.DeleteFunc(slices.Clone(j.Findings), func(f gate.Finding) bool { return f.Rule == gate.SnapshotRule })
	switch gate.VerdictOf(others) {
	case gate.Pass:
	case gate.Skip:
		return nil
	default:
		s.failed = append(s.failed, s.head.Name)
		return nil
	}
	snapshot := *s.head.Expect.Snapshot
	stored := snapshot.Stored
	snapshot.Stored = map[string]string{}
	for key, file := range snapshot.Files() {
		before, existed := stored[key]
		text := j.Facts.Snapshots[key]
		if snapshot.Stored[key] = text; existed && (!s.Update || text == before) {
			snapshot.Stored[key] = before
			continue
		}
		if len(text) > scenarios.MaxSnapshot {
			return fmt.Errorf("take the snapshot %s of %s: it would have %d bytes; at most %d are allowed",
				file, s.head.Name, len(text), scenarios.MaxSnapshot)
		}
		s.taken = append(s.taken, TakenSnapshot{filepath.Dir(filepath.FromSlash(s.head.File)), file, text, existed})
	}
	s.head.Expect.Snapshot = &snapshot
	var err error
	s.judge, err = gate.ForScenario(s.Language, s.head)
	return err
}

// WriteSnapshots writes snapshots, each completely or not at all. It does not follow symbolic links out of the
// folder of a scenario.
func WriteSnapshots(taken []TakenSnapshot) error {
	for i := range taken {
		if err := taken[i].write(); err != nil {
			return fmt.Errorf("write the snapshot %s: %w", taken[i].Path(), atomicdir.Explain(err))
		}
	}
	return nil
}

func (t *TakenSnapshot) write() error {
	root, err := os.OpenRoot(t.Folder)
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.MkdirAll(slashpath.Dir(t.File), 0o755); err != nil {
		return err
	}
	partial := t.File + atomicdir.Partial
	if err := root.WriteFile(partial, []byte(t.Text), 0o644); err != nil {
		return errors.Join(err, root.Remove(partial))
	}
	return root.Rename(partial, t.File)
}
