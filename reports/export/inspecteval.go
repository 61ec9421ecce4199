package export

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"fmt"
	"hash"
	"hash/crc32"
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
	all := newPacked()
	err := samples(func(sc record.Scenario, tr record.Trial, f measure.Facts, findings []gate.Finding) error {
		s := l.sample(h, &sc, &tr, &f, findings)
		if err := a.add(fmt.Sprintf("samples/%s_epoch_%d.json", s.ID, s.Epoch), s); err != nil {
			return err
		}
		data, err := format.Marshal(s.summary())
		all.element(data)
		return err
	})
	if err != nil {
		return err
	}
	if err := a.pack("summaries.json", all); err != nil {
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

// pack adds a compressed member.
func (a archive) pack(name string, p *packed) error {
	if err := p.finish(); err != nil {
		return fmt.Errorf("compress %s: %w", name, err)
	}
	file, err := a.zip.CreateRaw(&zip.FileHeader{
		Name: name, Method: zip.Deflate, CRC32: p.crc.Sum32(),
		CompressedSize64: uint64(p.out.Len()), UncompressedSize64: p.size, //nolint:gosec // a length
	})
	if err == nil {
		_, err = p.out.WriteTo(file)
	}
	if err != nil {
		return fmt.Errorf("write %s to the archive: %w", name, err)
	}
	return nil
}

// packed is a JSON list that is compressed as it grows: the summaries of all samples are one
// member of the archive, and members are written one after another.
type packed struct {
	joined
	out   bytes.Buffer
	flate *flate.Writer
	crc   hash.Hash32
	size  uint64
}

func newPacked() *packed {
	p := &packed{crc: crc32.NewIEEE()}
	p.flate, _ = flate.NewWriter(&p.out, flate.DefaultCompression) // the level is a valid one
	p.joined = joined{out: p, next: "["}
	return p
}

// Write implements io.Writer.
func (p *packed) Write(data []byte) (int, error) {
	p.size += uint64(len(data))
	_, _ = p.crc.Write(data)
	return p.flate.Write(data)
}

func (p *packed) finish() error {
	if p.next == "[" {
		p.write([]byte("["))
	}
	p.write([]byte("]"))
	if p.err != nil {
		return p.err
	}
	return p.flate.Close()
}
