package export

import (
	"archive/zip"
	"fmt"
	"io"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// Eval writes the log as an .eval file: a zip archive with a file for each sample, their
// summaries, and the head. Its bytes depend only on the recording.
func (l *Log) Eval(w io.Writer, h Head, samples Samples) error {
	a := archive{zip: zip.NewWriter(w)}
	head := l.header(h)
	if err := a.add("_journal/start.json", journalStart{Version: version, Eval: head.Eval, Plan: head.Plan}); err != nil {
		return err
	}
	if err := samples(func(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
		s := l.sample(h, &sc, &tr, &f, findings)
		return a.add(fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch), s)
	}); err != nil {
		return err
	}
	if err := a.summaries(l, h, samples); err != nil {
		return err
	}
	if err := a.add("header.json", head); err != nil {
		return err
	}
	if err := a.zip.Close(); err != nil {
		return fmt.Errorf("write the end of the archive: %w", err)
	}
	return nil
}

// maxSummary limits the texts of a summary, in characters.
const maxSummary = 300

func (s *sample) summary() sampleSummary {
	out := sampleSummary{
		ID: s.ID, Epoch: s.Epoch, Input: sanitize.Text(s.Input, maxSummary), Target: sanitize.Text(s.Target, maxSummary),
		Metadata:   map[string]any{},
		ModelUsage: s.ModelUsage, RoleUsage: s.RoleUsage, StartedAt: s.StartedAt, CompletedAt: s.CompletedAt,
		TotalTime: s.TotalTime, WorkingTime: s.WorkingTime, UUID: s.UUID, Completed: true, MessageCount: len(s.Messages),
	}
	for name, value := range s.Metadata {
		if text, ok := value.(string); ok {
			value = sanitize.Text(text, maxSummary)
		}
		out.Metadata[name] = value
	}
	for name, sc := range s.Scores {
		sc.Explanation = sanitize.Text(sc.Explanation, maxSummary)
		out.Scores = map[string]sampleScore{name: sc}
	}
	if s.Error != nil {
		out.Error = sanitize.Text(s.Error.Message, maxSummary)
	}
	return out
}

// archive is a zip file whose members have no dates.
type archive struct{ zip *zip.Writer }

func (a archive) add(name string, v any) error {
	data, err := format.Marshal(v)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	file, err := a.zip.Create(name)
	if err == nil {
		_, err = file.Write(data)
	}
	if err != nil {
		return fmt.Errorf("write %s to the archive: %w", name, err)
	}
	return nil
}

// summaries adds the summaries of all samples, one by one. The members of a zip file are written
// one after another, so the samples are read again.
func (a archive) summaries(l *Log, h Head, samples Samples) error {
	file, err := a.zip.Create("summaries.json")
	if err != nil {
		return fmt.Errorf("write summaries.json to the archive: %w", err)
	}
	all := &joined{out: file, next: "["}
	if err := samples(func(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
		s := l.sample(h, &sc, &tr, &f, findings)
		data, err := format.Marshal(s.summary())
		if err != nil {
			return fmt.Errorf("write the summary of trial %d of %s: %w", tr.Head.N, sc.Name, err)
		}
		all.element(data)
		return all.err
	}); err != nil {
		return err
	}
	return all.end("]")
}
