package worktree_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

var _ = Describe("the state of a work tree", func() {
	It("depends on the content of tracked and untracked files and on the last commit", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		Expect(state(ctx, tree)).To(Equal(first))

		f.write("main.go", "package main\n\nfunc main() {}\n")
		f.write("new.go", "package main\n")
		second := state(ctx, tree)
		Expect(second.Hash()).NotTo(Equal(first.Hash()))
		Expect(changes(ctx, tree, first, second)).To(Equal(worktree.Changes{
			Files: []worktree.Change{
				{Path: "main.go", Kind: worktree.Changed, Added: 2}, {Path: "new.go", Kind: worktree.Added, Added: 1},
			},
			Count: 2, Added: 3,
		}))

		f.git("add", "-A")
		f.git("commit", "--quiet", "-m", "second")
		third := state(ctx, tree)
		Expect(third.Tree).To(Equal(second.Tree))
		Expect(third.Hash()).NotTo(Equal(second.Hash()), "a commit is a change")

		f.write("main.go", "package main\n")
		f.remove("new.go")
		f.git("reset", "--quiet", "--soft", "HEAD~1")
		Expect(state(ctx, tree).Hash()).To(Equal(first.Hash()))
	})

	It("is the same for every Tree of the folder, at any time", func(ctx SpecContext) {
		f := newRepository()
		f.write("new.txt", "new\n")
		f.git("add", "new.txt")
		f.write("new.txt", "newer\n")
		one := state(ctx, f.open(ctx, worktree.Options{}))
		Expect(state(ctx, f.open(ctx, worktree.Options{}))).To(Equal(one))
		Expect(state(ctx, f.open(ctx, record))).To(Equal(one))
	})

	It("changes if a file is replaced by one of equal size and time", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{})
		f.write("a", "one")
		first := state(ctx, tree)
		info, err := os.Stat(f.path("a"))
		Expect(err).NotTo(HaveOccurred())
		f.write("a", "two")
		Expect(os.Chtimes(f.path("a"), info.ModTime(), info.ModTime())).To(Succeed())
		Expect(state(ctx, tree).Hash()).NotTo(Equal(first.Hash()))
	})

	It("ignores what git ignores", func(ctx SpecContext) {
		f := newRepository()
		f.write(".gitignore", "*.log\nbuild/\n")
		f.write(".git/info/exclude", "private\n")
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		f.write("a.log", "log\n")
		f.write("build/out", "out\n")
		f.write("private", "p\n")
		f.write("rehearse-runs/.gitignore", "*\n")
		f.write("rehearse-runs/loop-1/transcript.jsonl", "{}\n")
		Expect(state(ctx, tree)).To(Equal(first))
	})

	It("leaves out what the caller excludes, in a rollback, too", func(ctx SpecContext) {
		f := newRepository()
		f.write("runs/old.jsonl", "old\n")
		f.git("add", "-A")
		f.git("commit", "--quiet", "-m", "runs")
		link := newFolder().path("link")
		Expect(os.Symlink(string(f), link)).To(Succeed())
		options := worktree.Options{Record: true, Exclude: []string{f.path("runs"), filepath.Join(link, "new.jsonl"), "/elsewhere"}}
		tree := f.open(ctx, options)
		first := state(ctx, tree)
		line, err := tree.Line(ctx, "rehearse/loop-1")
		Expect(err).NotTo(HaveOccurred())
		checkpoint(ctx, line, "before")
		f.write("runs/old.jsonl", "changed\n")
		f.write("runs/more.jsonl", "more\n")
		f.write("new.jsonl", "new\n")
		Expect(state(ctx, tree)).To(Equal(first))
		f.write("main.go", "package other\n")
		rollback(ctx, line)
		Expect(f.read("runs/old.jsonl") + f.read("runs/more.jsonl") + f.read("new.jsonl")).To(Equal("changed\nmore\nnew\n"))
	})

	It("writes nothing into the repository", func(ctx SpecContext) {
		f := newRepository()
		f.write("new.txt", "new\n")
		before := f.listing(".git")
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		f.write("new.txt", "newer\n")
		Expect(changes(ctx, tree, first, state(ctx, tree)).Count).To(Equal(1))
		Expect(f.listing(".git")).To(Equal(before))
		_, err := tree.Line(ctx, "rehearse/x")
		Expect(err).To(MatchError(worktree.ErrNotRecording))
	})

	It("has names with spaces, line breaks and other scripts", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		names := []string{" leading", "a b/c\td.txt", "line\nbreak", "été/日本語.md", "-n", ":(top)x", "quote\"'"}
		for _, name := range names {
			f.write(name, "x\n")
		}
		c := changes(ctx, tree, first, state(ctx, tree))
		var found []string
		for _, file := range c.Files {
			found = append(found, file.Path)
		}
		Expect(found).To(ConsistOf(names))
		Expect(c.String()).To(Equal("7 files, +7 −0"))
	})

	It("follows files that become folders, links and executables", func(ctx SpecContext) {
		f := newRepository()
		f.write("a", "text\n")
		f.write("dir/b", "text\n")
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		f.remove("a")
		f.write("a/inner", "text\n")
		f.remove("dir")
		Expect(os.Symlink("/etc/passwd", f.path("dir"))).To(Succeed())
		Expect(os.Chmod(f.path("main.go"), 0o700)).To(Succeed()) //nolint:gosec // executable on purpose
		second := state(ctx, tree)
		Expect(changes(ctx, tree, first, second).Files).To(ConsistOf(
			worktree.Change{Path: "a", Kind: worktree.Deleted, Deleted: 1}, worktree.Change{Path: "a/inner", Kind: worktree.Added, Added: 1},
			worktree.Change{Path: "dir", Kind: worktree.Added, Added: 1}, worktree.Change{Path: "dir/b", Kind: worktree.Deleted, Deleted: 1},
			worktree.Change{Path: "main.go", Kind: worktree.Changed},
		))
	})

	It("counts binary files without lines", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		f.write("image", "\x00\x01\x02")
		Expect(changes(ctx, tree, first, state(ctx, tree)).Files).To(Equal([]worktree.Change{
			{Path: "image", Kind: worktree.Added, Binary: true},
		}))
	})

	It("leaves out large and unreadable files and nested repositories, but sees that they change", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{MaxFile: 10})
		f.write("large", "more than ten bytes")
		f.write("nested/x", "x")
		folder(f.path("nested")).git("init", "--quiet")
		first := state(ctx, tree)
		Expect(first.Left).To(Equal([]string{"large", "nested/"}))
		Expect(state(ctx, tree)).To(Equal(first))
		f.write("large", "more than ten bytes, and one more")
		Expect(state(ctx, tree).Hash()).NotTo(Equal(first.Hash()))
	})

	It("refuses more files than the limit", func(ctx SpecContext) {
		f := newRepository()
		tree := f.open(ctx, worktree.Options{MaxFiles: 2})
		for _, name := range []string{"a", "b", "c"} {
			f.write(name, name)
		}
		_, err := tree.State(ctx)
		Expect(err).To(MatchError(worktree.ErrTooLarge))
		Expect(err).To(MatchError(ContainSubstring("3 files with 0 MB, at most 2 files")))
	})

	It("works in a repository without commits, with a detached head and in a subfolder", func(ctx SpecContext) {
		empty := newFolder()
		empty.git("init", "--quiet")
		empty.write("a", "a\n")
		tree := empty.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		Expect(first.Head).To(BeEmpty())
		empty.write("a", "b\n")
		Expect(changes(ctx, tree, first, state(ctx, tree)).String()).To(Equal("1 file, +1 −1"))

		f := newRepository()
		f.git("checkout", "--quiet", "--detach")
		f.write("sub/a", "a\n")
		inner := folder(f.path("sub")).open(ctx, worktree.Options{})
		Expect(inner.Dir()).To(Equal(string(f)))
		Expect(state(ctx, inner)).To(Equal(state(ctx, f.open(ctx, worktree.Options{}))))
	})

	It("follows the commit of a submodule", func(ctx SpecContext) {
		library, f := newRepository(), newRepository()
		f.git("submodule", "--quiet", "add", string(library), "lib")
		f.git("commit", "--quiet", "-m", "lib")
		tree := f.open(ctx, worktree.Options{})
		first := state(ctx, tree)
		sub := folder(f.path("lib"))
		sub.write("main.go", "package other\n")
		Expect(state(ctx, tree)).To(Equal(first), "files of a submodule are not followed")
		sub.git("commit", "--quiet", "-am", "other")
		Expect(state(ctx, tree).Hash()).NotTo(Equal(first.Hash()))
		Expect(state(ctx, sub.open(ctx, worktree.Options{})).Head).NotTo(BeEmpty(), "a submodule is a work tree, too")
	})

	It("does not wait for the lock of the user's index, and reads one that is damaged or in a merge", func(ctx SpecContext) {
		f := newRepository()
		want := state(ctx, f.open(ctx, worktree.Options{}))
		f.write(".git/index.lock", "")
		Expect(state(ctx, f.open(ctx, worktree.Options{}))).To(Equal(want))
		f.remove(".git/index.lock")

		f.git("checkout", "--quiet", "-b", "other")
		f.write("main.go", "package other\n")
		f.git("commit", "--quiet", "-am", "other")
		f.git("checkout", "--quiet", "main")
		f.write("main.go", "package mine\n")
		f.git("commit", "--quiet", "-am", "mine")
		merge := exec.Command("git", "-c", "user.name=u", "-c", "user.email=u@localhost", "merge", "other")
		merge.Dir = string(f)
		Expect(merge.Run()).NotTo(Succeed(), "there is a conflict")
		conflict := state(ctx, f.open(ctx, worktree.Options{}))
		Expect(conflict.Hash()).NotTo(Equal(want.Hash()))

		f.write(".git/index", "damaged")
		Expect(state(ctx, f.open(ctx, worktree.Options{}))).To(Equal(conflict))
	})
})

var _ = Describe("opening", func() {
	It("reports a folder that is not in a work tree", func(ctx SpecContext) {
		for _, dir := range []string{string(newFolder()), newRepository().path(".git"), newFolder().path("missing")} {
			_, err := worktree.Open(ctx, dir, worktree.Options{})
			Expect(errors.Is(err, worktree.ErrNone)).To(BeTrue(), "%s: %v", dir, err)
		}
	})

	It("passes over an empty folder with the name of a repository, which a killed sandbox leaves", func(ctx SpecContext) {
		f := newFolder()
		Expect(os.Mkdir(f.path(".git"), 0o700)).To(Succeed())
		_, err := worktree.Open(ctx, string(f), worktree.Options{})
		Expect(err).To(MatchError(worktree.ErrNone))
		f = newRepository()
		Expect(os.MkdirAll(f.path("below/.git"), 0o700)).To(Succeed())
		tree, err := worktree.Open(ctx, f.path("below"), worktree.Options{})
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(tree.Close)
		Expect(filepath.EvalSymlinks(string(f))).To(Equal(tree.Dir()))
	})

	It("finds no repository if the file of a sandbox is gone by the time git looks for it", func(ctx SpecContext) {
		f, bin := newFolder(), newFolder()
		f.write(".git", "")
		script := "#!/bin/sh\nrm -f '" + f.path(".git") + "'\necho 'fatal: not a git repository' >&2\nexit 128\n"
		Expect(os.WriteFile(bin.path("git"), []byte(script), 0o700)).To(Succeed())
		GinkgoT().Setenv("PATH", string(bin)+string(os.PathListSeparator)+os.Getenv("PATH"))
		_, err := worktree.Open(ctx, string(f), worktree.Options{})
		Expect(err).To(MatchError(worktree.ErrNone))
	})

	It("reports that git is missing", func(ctx SpecContext) {
		f := newRepository()
		GinkgoT().Setenv("PATH", string(newFolder()))
		_, err := worktree.Open(ctx, string(f), worktree.Options{})
		Expect(err).To(MatchError(worktree.ErrNoGit))
	})

	It("reports a damaged repository with the message of git", func(ctx SpecContext) {
		f := newFolder()
		f.write(".git", "gitdir: nowhere\n")
		_, err := worktree.Open(ctx, string(f), worktree.Options{})
		Expect(err).To(MatchError(And(ContainSubstring("open the git work tree of "+string(f)), ContainSubstring("nowhere"))))
	})

	It("leaves its own temporary files out of a work tree that contains TMPDIR", func(ctx SpecContext) {
		f := newRepository()
		f.write("tmp/x", "x\n")
		GinkgoT().Setenv("TMPDIR", f.path("tmp"))
		_, line := f.line(ctx)
		other := f.open(ctx, worktree.Options{})
		before := state(ctx, other)
		f.write("main.go", "package broken\n")
		changes, err := other.Changes(ctx, before, state(ctx, other))
		Expect(err).NotTo(HaveOccurred())
		Expect(changes.Count).To(Equal(1))
		Expect(rollback(ctx, line).Changes.Count).To(Equal(1))
		Expect(state(ctx, other)).To(Equal(before), "its own files and those of the other are not there")
	})

	It("is not led elsewhere by variables of the environment", func(ctx SpecContext) {
		f, other := newRepository(), newRepository()
		GinkgoT().Setenv("GIT_DIR", other.path(".git"))
		GinkgoT().Setenv("GIT_WORK_TREE", string(other))
		GinkgoT().Setenv("GIT_INDEX_FILE", other.path(".git/index"))
		tree := f.open(ctx, worktree.Options{})
		Expect(tree.Dir()).To(Equal(string(f)))
	})

	It("starts no program of the repository's configuration or hooks", func(ctx SpecContext) {
		f := newRepository()
		mark := filepath.Join(string(newFolder()), "ran")
		f.write("evil.sh", "#!/bin/sh\necho ran >> '"+mark+"'\ncat\n")
		Expect(os.Chmod(f.path("evil.sh"), 0o700)).To(Succeed()) //nolint:gosec // a program
		evil := f.path("evil.sh")
		f.write(".gitattributes", "* filter=evil diff=evil merge=evil\n")
		for _, key := range []string{
			"core.fsmonitor", "core.sshCommand", "core.pager", "core.editor", "diff.external", "filter.evil.clean", "filter.evil.smudge",
			"filter.evil.process", "diff.evil.textconv", "diff.evil.command", "merge.evil.driver", "gpg.program", "core.alternateRefsCommand",
		} {
			f.git("config", key, evil)
		}
		f.git("config", "commit.gpgSign", "true")
		f.git("config", "core.hooksPath", f.path("hooks"))
		for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-commit", "post-commit"} {
			f.write("hooks/"+hook, "#!/bin/sh\necho "+hook+" >> '"+mark+"'\n")
			Expect(os.Chmod(f.path("hooks/"+hook), 0o700)).To(Succeed()) //nolint:gosec // a hook
		}

		tree, line := f.line(ctx)
		f.write("main.go", "package evil\n")
		f.write("new", "new\n")
		rollback(ctx, line)
		Expect(f.read("main.go")).To(Equal("package main\n"))
		dir := newFolder().path("fork")
		fork, err := tree.Fork(ctx, dir, line.Last())
		Expect(err).NotTo(HaveOccurred())
		defer fork.Close()
		folder(dir).write("main.go", "package fork\n")
		theirs, err := fork.Line(ctx, "rehearse/task")
		Expect(err).NotTo(HaveOccurred())
		base := line.Last()
		f.write("other", "other\n")
		_, err = line.Merge(ctx, base, checkpoint(ctx, theirs, "task"), "task", at)
		Expect(err).NotTo(HaveOccurred())
		Expect(tree.RemoveFork(ctx, dir)).To(Succeed())
		Expect(mark).NotTo(BeAnExistingFile())
		Expect(strings.TrimSpace(f.read("main.go"))).To(Equal("package fork"))
	})
})

// listing returns the paths, sizes and times below a folder.
func (f folder) listing(name string) (found []string) {
	GinkgoHelper()
	Expect(filepath.Walk(f.path(name), func(path string, info os.FileInfo, err error) error {
		if err == nil {
			found = append(found, path+" "+info.ModTime().String())
		}
		return err
	})).To(Succeed())
	return found
}
