package jsonl_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/jsonl"
)

// flaky is a file that may write half of what it is given, or fail to sync or be cut.
type flaky struct {
	*os.File
	half, noSync, noCut bool
}

var errDisk = errors.New("the disk does not answer")

func (f *flaky) Write(p []byte) (int, error) {
	if f.half {
		return f.File.Write(p[:len(p)/2])
	}
	return f.File.Write(p)
}

func (f *flaky) Sync() error {
	if f.noSync {
		return errDisk
	}
	return f.File.Sync()
}

func (f *flaky) Truncate(size int64) error {
	if f.noCut {
		return errDisk
	}
	return f.File.Truncate(size)
}

var _ = Describe("a log", func() {
	var path string
	var file *flaky
	var log *jsonl.Log
	BeforeEach(func() {
		path = filepath.Join(GinkgoT().TempDir(), "log")
		Expect(os.WriteFile(path, []byte("one\ntor"), 0o600)).To(Succeed())
		f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND, 0)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(func() { Expect(f.Close()).To(MatchError(fs.ErrClosed)) })
		file = &flaky{File: f}
		log = jsonl.NewLog(file, 4, 0)
		Expect(log.Cut()).To(Succeed())
	})
	content := func() string {
		GinkgoHelper()
		data, err := os.ReadFile(path)
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}

	It("goes on behind its whole lines", func() {
		Expect(log.Append([]byte("two\nthree\n"))).To(Succeed())
		Expect(log.Close()).To(Succeed())
		Expect(content()).To(Equal("one\ntwo\nthree\n"))
	})

	It("takes back what was written in part", func() {
		file.half = true
		Expect(log.Append([]byte("two\n"))).To(MatchError(ContainSubstring("short write")))
		file.half = false
		Expect(log.Append([]byte("three\n"))).To(Succeed())
		Expect(log.Close()).To(Succeed())
		Expect(content()).To(Equal("one\nthree\n"))
	})

	It("takes no more lines when it does not know what the file holds", func() {
		file.half, file.noCut = true, true
		Expect(log.Append([]byte("two\n"))).To(MatchError(jsonl.ErrBroken))
		file.half, file.noCut = false, false
		Expect(log.Append([]byte("three\n"))).To(MatchError(jsonl.ErrBroken))
		Expect(log.Sync()).To(MatchError(jsonl.ErrBroken))
		Expect(log.Close()).To(Succeed())
		Expect(content()).To(Equal("one\ntw"))
	})

	It("takes no more lines after a failed sync", func() {
		log = jsonl.NewLog(file, 4, 2)
		file.noSync = true
		Expect(log.Append([]byte("two\n"))).To(Succeed())
		Expect(log.Append([]byte("three\n"))).To(And(MatchError(jsonl.ErrBroken), MatchError(errDisk)))
		file.noSync = false
		Expect(log.Sync()).To(MatchError(jsonl.ErrBroken))
		Expect(log.Close()).To(Succeed())
		Expect(content()).To(Equal("one\ntwo\n"))
	})
})

var _ = It("knows where whole lines end", func() {
	f, err := os.CreateTemp(GinkgoT().TempDir(), "")
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(f.Close)
	Expect(f.WriteString("one\n\ntor")).To(Equal(8))
	_, err = f.Seek(0, 0)
	Expect(err).NotTo(HaveOccurred())
	r := jsonl.NewReader(f, 3)
	type end struct {
		offset int64
		torn   bool
	}
	var ends []end
	for {
		if _, err := r.Next(); err != nil {
			break
		}
		ends = append(ends, end{r.Offset(), r.Torn()})
	}
	Expect(ends).To(Equal([]end{{4, false}, {5, false}, {8, true}}))
})
