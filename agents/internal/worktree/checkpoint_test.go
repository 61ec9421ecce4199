package worktree_test

import (
	"os"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

var _ = Describe("checkpoints", func() {
	It("commit all files on a branch of their own, without touching the user's branch, index and stash", func(ctx SpecContext) {
		f := newRepository()
		f.write("staged.txt", "staged\n")
		f.git("add", "staged.txt")
		f.write("staged.txt", "changed again\n")
		f.write("untracked.txt", "untracked\n")
		before := f.git("status", "--porcelain")
		head := f.git("rev-parse", "HEAD")

		_, line := f.line(ctx)
		f.write("main.go", "package better\n")
		cp := checkpoint(ctx, line, "iteration 1: better")

		Expect(f.git("log", "--format=%s|%an", "rehearse/loop-1")).To(Equal(
			"iteration 1: better|rehearse\nbefore the run|rehearse\nfirst|u"))
		Expect(f.git("show", cp.Commit+":main.go")).To(Equal("package better"))
		Expect(f.git("show", cp.Commit+"~1:untracked.txt")).To(Equal("untracked"))
		Expect(f.git("show", cp.Commit+"~1:staged.txt")).To(Equal("changed again"))
		Expect(f.git("fsck", "--no-dangling")).To(BeEmpty())

		f.write("main.go", "package main\n")
		Expect(f.git("status", "--porcelain")).To(Equal(before))
		Expect(f.git("rev-parse", "HEAD")).To(Equal(head))
		Expect(f.git("stash", "list")).To(BeEmpty())
	})

	It("are not repeated for equal files", func(ctx SpecContext) {
		f := newRepository()
		_, line := f.line(ctx)
		first := line.Last()
		cp, recorded, err := line.Checkpoint(ctx, "again", at)
		Expect(err).NotTo(HaveOccurred())
		Expect(recorded).To(BeFalse())
		Expect(cp).To(Equal(first))
	})

	It("have the commits of the agent as parents", func(ctx SpecContext) {
		f := newRepository()
		_, line := f.line(ctx)
		f.write("a", "a\n")
		f.git("add", "a")
		f.git("commit", "--quiet", "-m", "by the agent")
		cp := checkpoint(ctx, line, "iteration 1")
		Expect(f.git("log", "--format=%s", cp.Commit+"^2", "-1")).To(Equal("by the agent"))
	})

	It("are continued by another process", func(ctx SpecContext) {
		f := newRepository()
		_, first := f.line(ctx)
		again, err := f.open(ctx, record).Line(ctx, "rehearse/loop-1")
		Expect(err).NotTo(HaveOccurred())
		Expect(again.Last()).To(Equal(first.Last()))
		f.write("a", "a\n")
		checkpoint(ctx, again, "iteration 2")
		f.write("a", "b\n")
		_, _, err = first.Checkpoint(ctx, "behind", at)
		Expect(err).To(MatchError(ContainSubstring("record a checkpoint on the branch rehearse/loop-1")), "no checkpoint is lost")
	})

	It("are refused on a branch that is checked out or has no valid name", func(ctx SpecContext) {
		f := newRepository()
		_, line := f.line(ctx)
		f.git("checkout", "--quiet", "rehearse/loop-1")
		f.write("a", "a\n")
		_, _, err := line.Checkpoint(ctx, "x", at)
		Expect(err).To(MatchError(ContainSubstring("is checked out")))
		for _, name := range []string{"", "a..b", "-x", "a b", "@{-1}"} {
			_, err := f.open(ctx, record).Line(ctx, name)
			Expect(err).To(HaveOccurred(), name)
		}
	})

	It("work in an empty repository", func(ctx SpecContext) {
		f := newFolder()
		f.git("init", "--quiet")
		f.write("a", "a\n")
		_, line := f.line(ctx)
		f.write("a", "b\n")
		rollback(ctx, line)
		Expect(f.read("a")).To(Equal("a\n"))
		Expect(f.git("status", "--porcelain")).To(Equal("?? a"))
	})
})

var _ = Describe("a rollback", func() {
	It("restores what the run changed and nothing else", func(ctx SpecContext) {
		f := newRepository()
		f.write(".gitignore", "ignored\nold-cache/\n")
		f.write("mine", "my uncommitted work\n")
		f.write("été/à garder", "gardé\n")
		f.write("ignored", "before\n")
		f.git("add", "mine")
		before := f.git("status", "--porcelain")
		_, line := f.line(ctx)

		f.write("main.go", "broken\n")
		f.remove("mine")
		f.remove("été")
		f.write("new/deep/file", "new\n")
		f.write("ignored", "after\n")
		f.write("old-cache/x", "x\n")
		undone := rollback(ctx, line)

		Expect(f.read("main.go")).To(Equal("package main\n"))
		Expect(f.read("mine")).To(Equal("my uncommitted work\n"))
		Expect(f.read("été/à garder")).To(Equal("gardé\n"))
		Expect(f.path("new")).NotTo(BeADirectory())
		Expect(f.read("ignored")).To(Equal("after\n"), "ignored files are left alone")
		Expect(f.read("old-cache/x")).To(Equal("x\n"))
		Expect(f.git("status", "--porcelain")).To(Equal(before))

		Expect(undone.Changes.Count).To(Equal(4))
		Expect(undone.Ref).To(Equal("refs/rehearse/undone/rehearse/loop-1/1"))
		Expect(f.git("show", undone.Ref+":new/deep/file")).To(Equal("new"), "what was undone is kept")
		Expect(f.git("rev-parse", undone.Ref)).To(Equal(undone.Commit))
	})

	It("is repeated, and does nothing without a change", func(ctx SpecContext) {
		f := newRepository()
		_, line := f.line(ctx)
		Expect(rollback(ctx, line)).To(Equal(worktree.Undone{}))
		for _, text := range []string{"one\n", "two\n"} {
			f.write("main.go", text)
			undone := rollback(ctx, line)
			Expect(f.git("show", undone.Ref+":main.go")).To(Equal(strings.TrimSpace(text)))
		}
		again, err := f.open(ctx, record).Line(ctx, "rehearse/loop-1")
		Expect(err).NotTo(HaveOccurred())
		f.write("main.go", "three\n")
		Expect(rollback(ctx, again).Ref).To(HaveSuffix("/3"))
	})

	It("leaves the commits of the agent and reports them", func(ctx SpecContext) {
		f := newRepository()
		_, line := f.line(ctx)
		f.write("main.go", "broken\n")
		f.git("commit", "--quiet", "-am", "broken")
		Expect(rollback(ctx, line).HeadMoved).To(BeTrue())
		Expect(f.read("main.go")).To(Equal("package main\n"))
		Expect(f.git("log", "-1", "--format=%s")).To(Equal("broken"))
	})

	It("changes nothing where an ignored file would be overwritten", func(ctx SpecContext) {
		f := newRepository()
		f.write("data", "mine\n")
		_, line := f.line(ctx)
		f.remove("data")
		f.write("main.go", "changed\n")
		f.write(".gitignore", "data\n")
		f.write("data/inner", "ignored\n")
		_, err := line.Rollback(ctx, "failed", at)
		if err == nil {
			Expect(f.read("data")).To(Equal("mine\n"))
			return
		}
		Expect(err).To(MatchError(ContainSubstring("restore files in")))
		Expect(f.read("data/inner")).To(Equal("ignored\n"))
		Expect(f.read("main.go")).To(Equal("changed\n"))
	})

	It("needs a checkpoint", func(ctx SpecContext) {
		line, err := newRepository().open(ctx, record).Line(ctx, "rehearse/x")
		Expect(err).NotTo(HaveOccurred())
		_, err = line.Rollback(ctx, "x", at)
		Expect(err).To(MatchError(ContainSubstring("no checkpoint")))
	})

	It("keeps executable files, links and line endings", func(ctx SpecContext) {
		f := newRepository()
		f.git("config", "core.autocrlf", "true")
		f.write("crlf", "a\r\nb\r\n")
		f.write("run.sh", "#!/bin/sh\n")
		Expect(os.Chmod(f.path("run.sh"), 0o700)).To(Succeed()) //nolint:gosec // a program
		Expect(os.Symlink("main.go", f.path("link"))).To(Succeed())
		_, line := f.line(ctx)
		for _, name := range []string{"crlf", "run.sh", "link"} {
			f.remove(name)
		}
		rollback(ctx, line)
		Expect(f.read("crlf")).To(Equal("a\r\nb\r\n"))
		info, err := os.Stat(f.path("run.sh"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm() & 0o100).NotTo(BeZero())
		Expect(os.Readlink(f.path("link"))).To(Equal("main.go"))
	})
})
