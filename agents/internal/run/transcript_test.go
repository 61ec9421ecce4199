package run_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/run"
)

var _ = Describe("A transcript", func() {
	var path string
	BeforeEach(func() { path = filepath.Join(GinkgoT().TempDir(), "a", "t.jsonl") })
	reopen := func() (*run.Transcript, []string, error) {
		var lines []string
		t, err := run.ContinueTranscript(path, func(data []byte) error {
			lines = append(lines, string(data))
			return nil
		})
		return t, lines, err
	}

	It("is continued behind its whole lines", func() {
		t, err := run.CreateTranscript(path, "first")
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Append("second")).To(Succeed())
		Expect(t.Close()).To(Succeed())
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
		Expect(err).NotTo(HaveOccurred())
		_, err = f.WriteString(`"tor`)
		Expect(errors.Join(err, f.Close())).To(Succeed())

		var read []string
		Expect(run.ReadTranscript(path, func(data []byte) error { read = append(read, string(data)); return nil })).To(Succeed())
		t, lines, err := reopen()
		Expect(err).NotTo(HaveOccurred())
		Expect(lines).To(Equal([]string{`"first"`, `"second"`}))
		Expect(read).To(Equal(lines))
		Expect(t.Append("third")).To(Succeed())
		Expect(t.Close()).To(Succeed())
		Expect(os.ReadFile(path)).To(BeEquivalentTo("\"first\"\n\"second\"\n\"third\"\n"))
	})

	It("is not continued while it is written", func() {
		t, err := run.CreateTranscript(path, "first")
		Expect(err).NotTo(HaveOccurred())
		_, _, err = reopen()
		Expect(err).To(MatchError(run.ErrBusy))
		Expect(t.Append("second")).To(Succeed())
		Expect(t.Close()).To(Succeed())
		again, lines, err := reopen()
		Expect(err).NotTo(HaveOccurred())
		Expect(lines).To(HaveLen(2))
		Expect(again.Close()).To(Succeed())
	})

	It("is never replaced, and must exist to be continued", func() {
		_, _, err := reopen()
		Expect(err).To(MatchError(fs.ErrNotExist))
		t, err := run.CreateTranscript(path, "first")
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Close()).To(Succeed())
		_, err = run.CreateTranscript(path, "other")
		Expect(err).To(MatchError(fs.ErrExist))
	})

	It("reports the line that a reader rejects", func() {
		Expect(os.MkdirAll(filepath.Dir(path), 0o700)).To(Succeed())
		Expect(os.WriteFile(path, []byte("1\nx\n"), 0o600)).To(Succeed())
		odd := errors.New("odd")
		err := run.ReadTranscript(path, func(data []byte) error {
			if string(data) == "x" {
				return odd
			}
			return nil
		})
		Expect(err).To(And(MatchError(odd), MatchError(ContainSubstring("t.jsonl:2: odd"))))
	})
})
