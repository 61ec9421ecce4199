package capture_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/mocks/tape"
)

var _ = Describe("the journal of a capture", func() {
	header := tape.Header{Date: clock.Epoch, Upstream: "api.example.com"}
	exchange := func(n int) tape.Exchange {
		return tape.Exchange{N: n, At: clock.Epoch, Protocol: "openai-chat", Path: "/chat/completions", Request: []byte("{}"), Status: 200, Body: []byte("{}")}
	}
	var path string
	BeforeEach(func() { path = filepath.Join(GinkgoT().TempDir(), "x.capture.jsonl") })

	It("has each exchange in the file when Keep returns, readable by its owner alone", func() {
		j, err := capture.CreateJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		for n := 1; n <= 3; n++ {
			Expect(j.Keep(exchange(n))).To(Succeed())
			t, err := capture.ReadJournal(path)
			Expect(err).NotTo(HaveOccurred())
			Expect(t.Exchanges).To(HaveLen(n))
			Expect(t.Next()).To(Equal(n + 1))
		}
		Expect(j.Close()).To(Succeed())
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(fs.FileMode(0o600)))
	})

	It("is never overwritten, nor written by two at once", func() {
		j, err := capture.CreateJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		_, err = capture.CreateJournal(path, header)
		Expect(errors.Is(err, fs.ErrExist)).To(BeTrue())
		_, err = capture.ContinueJournal(path, header)
		Expect(err).To(MatchError(ContainSubstring("another capture writes to the file")))
		Expect(j.Close()).To(Succeed())
		Expect(os.ReadFile(path)).To(ContainSubstring("api.example.com"))
	})

	It("continues a file that a kill has torn", func() {
		j, err := capture.CreateJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		Expect(j.Keep(exchange(1))).To(Succeed())
		Expect(j.Keep(exchange(2))).To(Succeed())
		Expect(j.Close()).To(Succeed())
		info, err := os.Stat(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(os.Truncate(path, info.Size()-5)).To(Succeed())

		j, err = capture.ContinueJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		Expect(j.Next()).To(Equal(2))
		Expect(j.Keep(exchange(2))).To(Succeed())
		Expect(j.Close()).To(Succeed())
		t, err := capture.ReadJournal(path)
		Expect(err).NotTo(HaveOccurred())
		Expect(t.Headers).To(HaveLen(2))
		Expect(t.Exchanges).To(HaveLen(2))
	})

	It("refuses another upstream, other files, and folders", func() {
		j, err := capture.CreateJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		Expect(j.Close()).To(Succeed())
		_, err = capture.ContinueJournal(path, tape.Header{Upstream: "elsewhere"})
		Expect(err).To(MatchError(ContainSubstring("it is a capture of api.example.com, and this one is of elsewhere")))
		Expect(os.WriteFile(path, []byte("replies: []\n"), 0o600)).To(Succeed())
		_, err = capture.ContinueJournal(path, header)
		Expect(err).To(MatchError(ContainSubstring("line 1: not a line of a capture")))
		Expect(os.ReadFile(path)).To(Equal([]byte("replies: []\n")))
		_, err = capture.ReadJournal(filepath.Dir(path))
		Expect(err).To(MatchError(ContainSubstring("not a regular file")))
		_, err = capture.ReadJournal(path + "x")
		Expect(err).To(MatchError(ContainSubstring("there is no capture")))
	})

	It("stores no exchange that could not be read again", func() {
		j, err := capture.CreateJournal(path, header)
		Expect(err).NotTo(HaveOccurred())
		x := exchange(1)
		x.Frames = []tape.Frame{{Bytes: 1}}
		Expect(j.Keep(x)).To(MatchError(ContainSubstring("1 bytes shorter than the body")))
		Expect(j.Close()).To(Succeed())
		Expect(strings.Count(string(must(os.ReadFile(path))), "\n")).To(Equal(1))
	})
})

func must[T any](v T, err error) T {
	GinkgoHelper()
	Expect(err).NotTo(HaveOccurred())
	return v
}
