package main

import (
	"bytes"
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
	recording, err := os.Create(filepath.Join(t.TempDir(), "recording.jsonl"))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	defer recording.Close()
	written := 0
	write := func(w io.Writer) error {
		written++
		_, err := w.Write([]byte("PK"))
		return err
	}

	a := &app{stdout: terminal}
	err = a.output("", format{binary: true}, recording, write)
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("not for a terminal; name a file with --out")))
	g.Expect(written).To(gomega.BeZero())
	g.Expect(a.output(filepath.Join(t.TempDir(), "x.eval"), format{binary: true}, recording, write)).To(gomega.Succeed())

	var pipe bytes.Buffer
	a.stdout = &pipe
	g.Expect(a.output("", format{binary: true}, recording, write)).To(gomega.Succeed())
	g.Expect(pipe.String()).To(gomega.Equal("PK"))
}
