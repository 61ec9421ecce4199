package rundir_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// TestEntryOfARunIsThatOfItsRecording: H-04: what a run stores is what importing its recording stores.
func TestEntryOfARunIsThatOfItsRecording(t *testing.T) {
	g := gomega.NewWithT(t)
	folder := t.TempDir()
	language := kinds.All().Language()
	prices, err := price.Default()
	g.Expect(err).NotTo(gomega.HaveOccurred())
	set, wrong := scenarios.Load([]string{"shipped:loop/golden-marker"}, scenarios.Options{
		Kinds: kinds.All().Formats(), CheckExpr: language.Check, CheckInvariant: language.CheckInvariant, Prices: prices,
	})
	g.Expect(wrong.Err()).NotTo(gomega.HaveOccurred())
	failing := set[0]
	failing.Name, failing.Expect.Status = "failing", "never"
	set = append(set, failing)

	out, err := atomicdir.Open(folder)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer out.Close()
	sink, err := rundir.NewSink(out, harness.Header(set, "rehearse test", prices, map[string]string{"variant": "b"}), rundir.SinkOptions{
		Extensions: language.Extensions(), Summarize: true, NoPage: true,
	})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer sink.Close()
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New(nil)}
	defer env.Close()
	outcome, err := harness.Run(t.Context(), set, harness.Options{Env: env, Sink: sink, Language: language})
	g.Expect(err).NotTo(gomega.HaveOccurred())
	report, err := sink.Finish(outcome)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	stored := sink.Side(report).Entry()
	recording := filepath.Join(folder, "recording.jsonl")
	from := reports.Origin{Began: time.Unix(1e9, 0).UTC(), Ended: time.Unix(1e9+60, 0).UTC(), Origin: history.Origin{Branch: "main"}}
	g.Expect(rundir.WriteNote(out, rundir.RecordingFile, from, &stored.Run)).To(gomega.Succeed())
	g.Expect(rundir.OriginOf(recording)).To(gomega.Equal(from))
	g.Expect(stored.Results).To(gomega.HaveLen(len(set)))
	g.Expect(stored.Variant).To(gomega.Equal("b"))
	g.Expect(stored.Results[0].Name).To(gomega.Equal("failing"))
	g.Expect(stored.Results[0].Findings).NotTo(gomega.BeEmpty())

	imported, err := rundir.ReadEntry(t.Context(), recording, language)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(imported).To(gomega.BeComparableTo(stored))

	// Without its note, only the recording is known.
	g.Expect(os.Remove(filepath.Join(folder, history.NoteFile))).To(gomega.Succeed())
	imported, err = rundir.ReadEntry(t.Context(), recording, language)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(imported.Branch).To(gomega.BeEmpty())
	g.Expect(imported.Began).NotTo(gomega.BeZero())
	g.Expect(imported.Results).To(gomega.BeComparableTo(stored.Results))

	// As a side of a comparison it equals the recording.
	side, err := rundir.ReadRun(t.Context(), folder, recording, language)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	before := rundir.Compare(side, side)
	g.Expect(rundir.Compare(rundir.SideOf(folder, &stored), rundir.SideOf(folder, &stored))).To(gomega.BeComparableTo(before))

	text, err := os.ReadFile(recording)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(os.WriteFile(recording, []byte(strings.Replace(string(text), "failing", "passing", 1)), 0o600)).To(gomega.Succeed())
	_, err = rundir.ReadEntry(t.Context(), recording, language)
	g.Expect(err).To(gomega.MatchError(rundir.ErrAltered))
}
