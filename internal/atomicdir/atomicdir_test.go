package atomicdir_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
)

func TestFolder(t *testing.T) {
	RegisterFailHandler(Fail)
	RunSpecs(t, "internal/atomicdir")
}

var _ = Describe("a folder", func() {
	var dir string
	BeforeEach(func() { dir = GinkgoT().TempDir() })

	open := func() *atomicdir.Folder {
		f, err := atomicdir.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(f.Close)
		return f
	}
	create := func(f *atomicdir.Folder, name, text string) *atomicdir.File {
		file, err := f.Create(name)
		Expect(err).NotTo(HaveOccurred())
		fmt.Fprint(file, text)
		return file
	}
	content := func(name string) string {
		data, err := os.ReadFile(filepath.Join(dir, name))
		Expect(err).NotTo(HaveOccurred())
		return string(data)
	}
	// full makes the disk full for one file.
	full := func(name string) {
		if _, err := os.Stat("/dev/full"); err != nil {
			Skip("this system has no /dev/full")
		}
		Expect(os.Symlink("/dev/full", filepath.Join(dir, name+atomicdir.Partial))).To(Succeed())
	}

	It("is one run's until that ends", func() {
		dir = filepath.Join(dir, "a", "b")
		first, err := atomicdir.Open(dir)
		Expect(err).NotTo(HaveOccurred())
		_, err = atomicdir.Open(dir)
		Expect(err).To(MatchError(atomicdir.ErrBusy))
		Expect(err).To(MatchError(ContainSubstring("--out")))
		Expect(first.Close()).To(Succeed())
		open()
	})

	It("is new where that is asked for", func() {
		fresh := filepath.Join(dir, "new")
		f, err := atomicdir.OpenNew(fresh)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.Path()).To(Equal(fresh))
		Expect(f.Close()).To(Succeed())
		_, err = atomicdir.OpenNew(fresh)
		Expect(err).To(MatchError(fs.ErrExist))
	})

	It("holds an earlier file until the new one is whole", func() {
		f := open()
		Expect(f.Commit(create(f, "report.json", "one"))).To(Succeed())
		pending := create(f, "report.json", "two")
		Expect(pending.Flush()).To(Succeed())
		Expect(content("report.json")).To(Equal("one"))
		Expect(content("report.json" + atomicdir.Partial)).To(Equal("two"))
		Expect(f.Commit(pending)).To(Succeed())
		Expect(content("report.json")).To(Equal("two"))
		Expect(filepath.Join(dir, "report.json"+atomicdir.Partial)).NotTo(BeAnExistingFile())
	})

	mode := func(name string) fs.FileMode {
		info, err := os.Stat(name)
		Expect(err).NotTo(HaveOccurred())
		return info.Mode().Perm()
	}

	It("keeps others from reading what it makes", func() {
		dir = filepath.Join(dir, "runs", "one")
		f := open()
		Expect(f.Commit(create(f, "recording.jsonl", "one"))).To(Succeed())
		Expect(mode(filepath.Join(dir, "recording.jsonl"))).To(Equal(fs.FileMode(0o600)))
		Expect(mode(dir)).To(Equal(fs.FileMode(0o700)))
		Expect(mode(filepath.Dir(dir))).To(Equal(fs.FileMode(0o700)))
		fresh, err := atomicdir.OpenNew(filepath.Join(dir, "a", "new"))
		Expect(err).NotTo(HaveOccurred())
		Expect(fresh.Close()).To(Succeed())
		Expect(mode(fresh.Path())).To(Equal(fs.FileMode(0o700)))
	})

	It("keeps others from reading what a torn run left open to them", func() {
		f := open()
		torn := filepath.Join(dir, "recording.jsonl"+atomicdir.Partial)
		Expect(os.WriteFile(torn, nil, 0o600)).To(Succeed())
		Expect(os.Chmod(torn, 0o644)).To(Succeed())
		Expect(f.Commit(create(f, "recording.jsonl", "one"))).To(Succeed())
		Expect(mode(filepath.Join(dir, "recording.jsonl"))).To(Equal(fs.FileMode(0o600)))
	})

	It("keeps others from reading a new file that is written alone, and the mode of one that was there", func() {
		name := filepath.Join(dir, "report.html")
		Expect(atomicdir.Replace(name, nil)).To(Succeed())
		Expect(mode(name)).To(Equal(fs.FileMode(0o600)))
		Expect(os.Chmod(name, 0o644)).To(Succeed())
		Expect(atomicdir.Replace(name, nil)).To(Succeed())
		Expect(mode(name)).To(Equal(fs.FileMode(0o644)))
	})

	It("changes all files of a run or none", func() {
		f := open()
		Expect(f.Commit(create(f, "a", "one"), create(f, "b", "one"))).To(Succeed())
		full("b")
		err := f.Commit(create(f, "a", "two"), create(f, "b", "two"))
		Expect(err).To(MatchError(ContainSubstring("free some space")))
		Expect(err).To(MatchError(ContainSubstring(filepath.Join(dir, "b"))))
		Expect(content("a")).To(Equal("one"))
		Expect(content("b")).To(Equal("one"))
		Expect(content("a" + atomicdir.Partial)).To(Equal("two"))
	})

	It("suggests a solution if it cannot be created", func() {
		blocker := filepath.Join(dir, "file")
		Expect(os.WriteFile(blocker, nil, 0o600)).To(Succeed())
		for _, open := range []func(string) (*atomicdir.Folder, error){atomicdir.Open, atomicdir.OpenNew} {
			_, err := open(filepath.Join(blocker, "out"))
			Expect(err).To(MatchError(ContainSubstring("choose another one with --out")))
		}
	})

	It("forgives the removal of what is not there", func() {
		f := open()
		Expect(os.WriteFile(filepath.Join(dir, "old"), nil, 0o600)).To(Succeed())
		Expect(f.Remove("old", "never")).To(Succeed())
		Expect(filepath.Join(dir, "old")).NotTo(BeAnExistingFile())
	})
})

var _ = Describe("one file that is replaced", func() {
	var path string
	BeforeEach(func() { path = filepath.Join(GinkgoT().TempDir(), "report.html") })

	names := func() (list []string) {
		entries, err := os.ReadDir(filepath.Dir(path))
		Expect(err).NotTo(HaveOccurred())
		for _, e := range entries {
			list = append(list, e.Name())
		}
		return list
	}
	text := func(s string) func(io.Writer) error {
		return func(w io.Writer) error {
			_, err := io.WriteString(w, s)
			return err
		}
	}

	It("is there once it is whole", func() {
		Expect(atomicdir.ReplaceWith(path, text("old"))).To(Succeed())
		Expect(atomicdir.ReplaceWith(path, func(w io.Writer) error {
			Expect(os.ReadFile(path)).To(Equal([]byte("old")))
			return text("new")(w)
		})).To(Succeed())
		Expect(os.ReadFile(path)).To(Equal([]byte("new")))
		Expect(names()).To(Equal([]string{"report.html"}))
	})
	It("stays as it was if it cannot be written", func() {
		Expect(atomicdir.ReplaceWith(path, text("old"))).To(Succeed())
		gone := errors.New("gone")
		Expect(atomicdir.ReplaceWith(path, func(w io.Writer) error { _ = text("half")(w); return gone })).To(MatchError(gone))
		Expect(os.ReadFile(path)).To(Equal([]byte("old")))
		Expect(names()).To(Equal([]string{"report.html"}))
	})
	It("is one of the two if two write it at once", func() {
		Expect(atomicdir.ReplaceWith(path, func(w io.Writer) error {
			Expect(text("first, ")(w)).To(Succeed())
			Expect(atomicdir.ReplaceWith(path, text("second"))).To(Succeed())
			return text("and whole")(w)
		})).To(Succeed())
		Expect(os.ReadFile(path)).To(Equal([]byte("first, and whole")))
		Expect(names()).To(Equal([]string{"report.html"}))
	})
	It("follows a symbolic link", func() {
		link := path + ".link"
		Expect(os.WriteFile(path, []byte("old"), 0o600)).To(Succeed())
		Expect(os.Symlink("report.html", link)).To(Succeed())
		Expect(atomicdir.ReplaceWith(link, text("new"))).To(Succeed())
		Expect(os.ReadFile(path)).To(Equal([]byte("new")))
		Expect(os.Lstat(link)).To(HaveField("Mode()", WithTransform(func(m fs.FileMode) fs.FileMode { return m.Type() }, Equal(fs.ModeSymlink))))
	})
	It("names the place where it cannot be created", func() {
		err := atomicdir.ReplaceWith(filepath.Join(path, "x"), text(""))
		Expect(err).To(MatchError(ContainSubstring("create " + path)))
	})
})
