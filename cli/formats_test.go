package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"
)

// A terminal's user would see what a binary format makes of the terminal.
func TestBinaryFormatsAreNotForTerminals(t *testing.T) {
	g := gomega.NewWithT(t)
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skipf("there is no terminal to try it with: %v", err)
	}
	defer terminal.Close()
	const recording = "recording.jsonl"
	written := 0
	write := func(w io.Writer) error {
		written++
		_, err := w.Write([]byte("PK"))
		return err
	}

	a := &app{stdout: terminal}
	err = a.output("", true, recording, write)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("not for a terminal; name a file with --out")))
	g.Expect(written).To(gomega.BeZero())
	g.Expect(a.output(filepath.Join(t.TempDir(), "x.eval"), true, recording, write)).To(gomega.Succeed())

	var pipe bytes.Buffer
	a.stdout = &pipe
	g.Expect(a.output("", true, recording, write)).To(gomega.Succeed())
	g.Expect(pipe.String()).To(gomega.Equal("PK"))
}

// Reading two gigabytes takes a minute: whoever asks for an end gets it, and no half
// a file.
func TestAReportCanBeInterrupted(t *testing.T) {
	g := gomega.NewWithT(t)
	dir := t.TempDir()
	recording := filepath.Join(dir, "recording.jsonl")
	g.Expect(os.WriteFile(recording, []byte("never read\n"), 0o600)).To(gomega.Succeed())
	ctx, interrupt := context.WithCancelCause(context.Background())
	interrupt(errors.New("the signal came"))
	for _, flags := range []reportFlags{
		{format: "terminal"},
		{format: "eval", out: filepath.Join(dir, "x")},
		{format: "otlp", out: filepath.Join(dir, "x")},
		{format: "inspect", out: filepath.Join(dir, "x")},
		{format: "terminal", verify: true},
	} {
		var out bytes.Buffer
		a := &app{stdout: &out, stderr: &out, getenv: os.Getenv}
		err := a.report(ctx, recording, flags)
		exit, ok := errors.AsType[*exitError](err)
		g.Expect(ok).To(gomega.BeTrue(), flags.format)
		g.Expect(exit.code).To(gomega.Equal(exitInterrupted), err.Error())
		g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("the signal came")))
		g.Expect(out.String()).To(gomega.BeEmpty())
	}
	left, err := os.ReadDir(dir)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	g.Expect(left).To(gomega.HaveLen(1), "only the recording")
}
