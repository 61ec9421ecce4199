package folder_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/internal/folder"
)

func open(g gomega.Gomega, path string) *folder.Folder {
	f, err := folder.Open(path)
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return f
}

func content(g gomega.Gomega, elements ...string) string {
	data, err := os.ReadFile(filepath.Join(elements...))
	g.Expect(err).NotTo(gomega.HaveOccurred())
	return string(data)
}

func TestASecondRunIsRefusedUntilTheFirstEnds(t *testing.T) {
	g, dir := gomega.NewWithT(t), filepath.Join(t.TempDir(), "a", "b")
	first := open(g, dir)
	_, err := folder.Open(dir)
	g.Expect(err).To(gomega.MatchError(folder.ErrBusy))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("--out")))
	g.Expect(first.Close()).To(gomega.Succeed())
	g.Expect(open(g, dir).Close()).To(gomega.Succeed())
}

func TestAFileIsWholeOrPartial(t *testing.T) {
	g, dir := gomega.NewWithT(t), t.TempDir()
	f := open(g, dir)
	defer f.Close()
	write := func(text string) error {
		return f.Write("report.json", func(w *folder.File) error { _, err := w.WriteString(text); return err })
	}
	g.Expect(write("one")).To(gomega.Succeed())

	pending, err := f.Create("report.json")
	g.Expect(err).NotTo(gomega.HaveOccurred())
	fmt.Fprint(pending, "two")
	g.Expect(pending.Flush()).To(gomega.Succeed())
	g.Expect(content(g, dir, "report.json")).To(gomega.Equal("one"), "the earlier file is kept until the commit")
	g.Expect(content(g, dir, "report.json"+folder.Partial)).To(gomega.Equal("two"))

	g.Expect(pending.Commit()).To(gomega.Succeed())
	g.Expect(content(g, dir, "report.json")).To(gomega.Equal("two"))
	g.Expect(filepath.Join(dir, "report.json"+folder.Partial)).NotTo(gomega.BeAnExistingFile())
}

func TestAFailedWriteKeepsTheEarlierFile(t *testing.T) {
	g, dir := gomega.NewWithT(t), t.TempDir()
	f := open(g, dir)
	defer f.Close()
	g.Expect(f.Write("a", func(w *folder.File) error { _, err := w.WriteString("kept"); return err })).To(gomega.Succeed())
	boom := errors.New("boom")
	err := f.Write("a", func(w *folder.File) error { fmt.Fprint(w, "lost"); return boom })
	g.Expect(err).To(gomega.MatchError(boom))
	g.Expect(content(g, dir, "a")).To(gomega.Equal("kept"))
	g.Expect(filepath.Join(dir, "a"+folder.Partial)).NotTo(gomega.BeAnExistingFile())
}

func TestAFullDiskIsNamed(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("this system has no /dev/full")
	}
	g, dir := gomega.NewWithT(t), t.TempDir()
	g.Expect(os.Symlink("/dev/full", filepath.Join(dir, "a"+folder.Partial))).To(gomega.Succeed())
	f := open(g, dir)
	defer f.Close()
	err := f.Write("a", func(w *folder.File) error { _, err := w.WriteString("x"); return err })
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("free some space")))
	g.Expect(filepath.Join(dir, "a")).NotTo(gomega.BeAnExistingFile())
}

func TestAFolderThatCannotBeMade(t *testing.T) {
	g, dir := gomega.NewWithT(t), t.TempDir()
	blocker := filepath.Join(dir, "file")
	g.Expect(os.WriteFile(blocker, nil, 0o600)).To(gomega.Succeed())
	_, err := folder.Open(filepath.Join(blocker, "out"))
	g.Expect(err).To(gomega.MatchError(gomega.ContainSubstring("choose another one with --out")))
}

func TestRemoveForgivesWhatIsNotThere(t *testing.T) {
	g, dir := gomega.NewWithT(t), t.TempDir()
	f := open(g, dir)
	defer f.Close()
	g.Expect(os.WriteFile(filepath.Join(dir, "old"), nil, 0o600)).To(gomega.Succeed())
	g.Expect(f.Remove("old", "never")).To(gomega.Succeed())
	g.Expect(filepath.Join(dir, "old")).NotTo(gomega.BeAnExistingFile())
}
