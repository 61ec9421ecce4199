package journal_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/journal"
)

var _ = Describe("a state folder", func() {
	var dir string
	BeforeEach(func() { dir = filepath.Join(GinkgoT().TempDir(), "new", "state") })

	open := func() *journal.Disk {
		GinkgoHelper()
		s, err := journal.Open(dir, 1)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(s.Close)
		return s
	}
	loaded := func() *journal.Disk {
		GinkgoHelper()
		s := open()
		_, err := readStore(s)
		Expect(err).NotTo(HaveOccurred())
		return s
	}

	It("is its owner's alone", func() {
		s := loaded()
		Expect(s.Append([]byte("1"))).To(Succeed())
		Expect(s.Checkpoint(nil)).To(Succeed())
		Expect(s.Save("context", nil)).To(Succeed())
		modes := map[string]fs.FileMode{}
		Expect(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			rel, _ := filepath.Rel(dir, path)
			modes[filepath.ToSlash(rel)] = info.Mode().Perm()
			return err
		})).To(Succeed())
		Expect(modes).To(Equal(map[string]fs.FileMode{
			".": 0o700, "journal": 0o600, "snapshot": 0o600, "lock": 0o600, "owner": 0o600, "saved": 0o700, "saved/context": 0o600,
		}))
	})

	It("is held by one at a time, who is named", func() {
		first := loaded()
		_, err := journal.Open(dir, 1)
		Expect(err).To(MatchError(journal.ErrBusy))
		Expect(err).To(MatchError(And(
			HaveSuffix(fmt.Sprintf("process %d", os.Getpid())), ContainSubstring(dir))))
		Expect(first.Append([]byte("1"))).To(Succeed(), "it was disturbed")
		Expect(first.Close()).To(Succeed())
		Expect(filepath.Join(dir, "owner")).NotTo(BeAnExistingFile())
		found, err := readStore(open())
		Expect(err).NotTo(HaveOccurred())
		Expect(found.After).To(Equal([]string{"1"}))
	})

	It("does not name who is gone", func() {
		open()
		for _, content := range []string{"", "x", "-4", "0", "99999999999999999999999"} {
			Expect(os.WriteFile(filepath.Join(dir, "owner"), []byte(content), 0o600)).To(Succeed())
			_, err := journal.Open(dir, 1)
			Expect(err).To(MatchError(journal.ErrBusy))
			Expect(err).To(MatchError(ContainSubstring("a process whose id is unknown")))
		}
	})

	DescribeTable("is not left through a symbolic link",
		func(name string, use func() error) {
			outside := filepath.Join(GinkgoT().TempDir(), "outside")
			Expect(os.WriteFile(outside, []byte(journal.Header), 0o600)).To(Succeed())
			Expect(os.MkdirAll(dir, 0o700)).To(Succeed())
			if err := os.Symlink(outside, filepath.Join(dir, name)); err != nil {
				Skip("this system has no symbolic links: " + err.Error())
			}
			Expect(use()).To(MatchError(ContainSubstring("escapes")))
			Expect(os.ReadFile(outside)).To(BeEquivalentTo(journal.Header))
		},
		Entry("of the lock", "lock", func() error { _, err := journal.Open(dir, 1); return err }),
		Entry("of the journal", "journal", func() error { _, err := readStore(open()); return err }),
		Entry("of the folder of blobs", "saved", func() error { return loaded().Save("a", nil) }),
		Entry("of a part of a snapshot", "snapshot_partial", func() error { return loaded().Checkpoint(nil) }),
	)

	It("is not a file", func() {
		Expect(os.MkdirAll(filepath.Dir(dir), 0o700)).To(Succeed())
		Expect(os.WriteFile(dir, nil, 0o600)).To(Succeed())
		_, err := journal.Open(dir, 1)
		Expect(err).To(MatchError(And(ContainSubstring(dir), ContainSubstring("choose another one"))))
	})
})

var _ = Describe("a view of a state folder", func() {
	var dir string
	BeforeEach(func() { dir = GinkgoT().TempDir() })

	view := func() *journal.Viewer {
		GinkgoHelper()
		v, err := journal.View(dir)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(v.Close)
		return v
	}
	look := func(v *journal.Viewer) (found contents) {
		GinkgoHelper()
		var err error
		found.Recovery, err = v.Load(
			func(data []byte) error { found.State = string(data); return nil },
			func(data []byte) error { found.After = append(found.After, string(data)); return nil })
		Expect(err).NotTo(HaveOccurred())
		return found
	}

	It("finds none where there is none", func() {
		_, err := journal.View(dir)
		Expect(err).To(MatchError(fs.ErrNotExist))
		_, err = journal.View(filepath.Join(dir, "deeper"))
		Expect(err).To(MatchError(fs.ErrNotExist))
		Expect(os.ReadDir(dir)).To(BeEmpty())
	})

	It("shows what another process writes, and who that is", func() {
		s, err := journal.Open(dir, 1)
		Expect(err).NotTo(HaveOccurred())
		_, err = readStore(s)
		Expect(err).NotTo(HaveOccurred())
		v := view()
		for i := range 3 {
			Expect(s.Append(fmt.Append(nil, i))).To(Succeed())
			Expect(look(v).Records).To(Equal(i + 1))
		}
		Expect(s.Checkpoint([]byte("state"))).To(Succeed())
		Expect(s.Save("context", []byte("a.go"))).To(Succeed())
		Expect(look(v)).To(Equal(contents{Recovery: journal.Recovery{Records: 3, Snapshot: true}, State: "state"}))
		Expect(v.Read("context")).To(BeEquivalentTo("a.go"))
		pid, running := v.Owner()
		Expect(running).To(BeTrue())
		Expect(pid).To(Equal(os.Getpid()))
		Expect(s.Append([]byte("more"))).To(Succeed())

		Expect(s.Close()).To(Succeed())
		_, running = v.Owner()
		Expect(running).To(BeFalse())
		s, err = journal.Open(dir, 1)
		Expect(err).NotTo(HaveOccurred(), "the question kept the lock")
		Expect(s.Close()).To(Succeed())
	})

	It("changes nothing, torn or not", func() {
		path := filepath.Join(dir, "journal")
		torn := append(bytes.Join(lines(sample()), nil), "torn"...)
		Expect(os.WriteFile(path, torn, 0o600)).To(Succeed())
		v := view()
		Expect(look(v).Torn).To(Equal(4))
		_, running := v.Owner()
		Expect(running).To(BeFalse())
		Expect(os.ReadFile(path)).To(Equal(torn))
		Expect(os.ReadDir(dir)).To(HaveLen(1))
	})

	It("reports a missing journal beside a snapshot, as the next process does", func() {
		s, err := journal.Open(dir, 1)
		Expect(err).NotTo(HaveOccurred())
		_, err = readStore(s)
		Expect(err).NotTo(HaveOccurred())
		Expect(s.Append([]byte("1"))).To(Succeed())
		Expect(s.Checkpoint([]byte("state"))).To(Succeed())
		Expect(s.Close()).To(Succeed())
		Expect(os.Remove(filepath.Join(dir, "journal"))).To(Succeed())
		gone := And(MatchError(journal.ErrCorrupt), MatchError(ContainSubstring("the snapshot covers the records up to 1, but the journal ends at record 0")))

		v := view()
		_, err = v.Load(nil, nil)
		Expect(err).To(gone)
		s, err = journal.Open(dir, 1)
		Expect(err).NotTo(HaveOccurred())
		_, err = readStore(s)
		Expect(err).To(gone)
		Expect(s.Close()).To(Succeed())
		_, err = v.Load(nil, nil)
		Expect(err).To(gone, "the next process made it look new")
	})

	It("reports errors in its input", func() {
		Expect(os.WriteFile(filepath.Join(dir, "journal"), []byte("notes\n"), 0o600)).To(Succeed())
		_, err := view().Load(nil, nil)
		Expect(err).To(And(MatchError(journal.ErrCorrupt), MatchError(ContainSubstring(dir))))
	})
})
