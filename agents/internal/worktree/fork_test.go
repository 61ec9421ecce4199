package worktree_test

import (
	"context"
	"errors"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

// fork creates a work tree from the last checkpoint and returns a function that records its files.
func fork(ctx context.Context, tree *worktree.Tree, line *worktree.Line, task string) (folder, func() worktree.Checkpoint) {
	GinkgoHelper()
	dir := newFolder().path("a fork of " + task)
	forked, err := tree.Fork(ctx, dir, line.Last())
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(forked.Close)
	own, err := forked.Line(ctx, "rehearse/task-"+task)
	Expect(err).NotTo(HaveOccurred())
	return folder(dir), func() worktree.Checkpoint {
		GinkgoHelper()
		return checkpoint(ctx, own, "task "+task)
	}
}

var _ = Describe("a fork", func() {
	It("has the files of the checkpoint, with the user's uncommitted work, and a clean status", func(ctx SpecContext) {
		f := newRepository()
		f.write("a b/é.txt", "uncommitted\n")
		tree, line := f.line(ctx)
		dir, _ := fork(ctx, tree, line, "1")
		Expect(dir.read("a b/é.txt")).To(Equal("uncommitted\n"))
		Expect(dir.read("main.go")).To(Equal("package main\n"))
		Expect(dir.git("status", "--porcelain")).To(BeEmpty())
		Expect(dir.git("rev-parse", "HEAD")).To(Equal(line.Last().Commit))
		Expect(f.git("branch", "--show-current")).To(Equal("main"))
	})

	It("is merged in order, and a conflict changes nothing", func(ctx SpecContext) {
		f := newRepository()
		f.write("list", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")
		tree, line := f.line(ctx)
		base := line.Last()
		one, endOne := fork(ctx, tree, line, "1")
		two, endTwo := fork(ctx, tree, line, "2")
		three, endThree := fork(ctx, tree, line, "3")
		one.write("list", "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n")
		one.write("one.go", "package one\n")
		two.write("list", "1\n2\n3\n4\n5\n6\n7\n8\nTWO\n")
		two.remove("main.go")
		three.write("list", "THREE\n2\n3\n4\n5\n6\n7\n8\n9\n")
		three.write("été x", "x\n")
		three.write("main.go", "package three\n")

		_, err := line.Merge(ctx, base, endOne(), "task 1", at)
		Expect(err).NotTo(HaveOccurred())
		merged, err := line.Merge(ctx, base, endTwo(), "task 2", at)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.read("list")).To(Equal("ONE\n2\n3\n4\n5\n6\n7\n8\nTWO\n"))
		Expect(f.read("one.go")).To(Equal("package one\n"))
		Expect(f.read("main.go")).To(Equal("-"))

		_, err = line.Merge(ctx, base, endThree(), "task 3", at)
		var conflict *worktree.ConflictError
		Expect(err).To(MatchError(ContainSubstring("merge task 3: both sides changed ")))
		Expect(errors.As(err, &conflict)).To(BeTrue())
		Expect(conflict.Paths).To(ConsistOf("list", "main.go"))
		Expect(f.read("été x")).To(Equal("-"))
		Expect(line.Last()).To(Equal(merged))
		Expect(f.git("log", "--first-parent", "--format=%s", "rehearse/loop-1")).To(Equal("task 2\ntask 1\nbefore the run\nfirst"))
		Expect(f.git("log", "-1", "--format=%s", merged.Commit+"^2")).To(Equal("task 2"))
		Expect(f.git("status", "--porcelain")).To(Equal(" D main.go\n?? list\n?? one.go"), "the user's index is as it was")
	})

	It("records changes of the user in the meantime before it is merged", func(ctx SpecContext) {
		f := newRepository()
		tree, line := f.line(ctx)
		base := line.Last()
		dir, end := fork(ctx, tree, line, "1")
		dir.write("theirs", "t\n")
		f.write("mine", "m\n")
		_, err := line.Merge(ctx, base, end(), "task 1", at)
		Expect(err).NotTo(HaveOccurred())
		Expect(f.read("mine") + f.read("theirs")).To(Equal("m\nt\n"))
		Expect(f.git("log", "--first-parent", "--format=%s", "rehearse/loop-1")).To(
			Equal("task 1\nbefore merging: task 1\nbefore the run\nfirst"))
	})

	It("is removed, and so is one that a killed process left", func(ctx SpecContext) {
		f := newRepository()
		tree, line := f.line(ctx)
		dir, end := fork(ctx, tree, line, "1")
		dir.write("x", "x\n")
		commit := end().Commit
		other, _ := fork(ctx, tree, line, "2")
		other.remove(".git")
		for _, left := range []folder{dir, other} {
			Expect(tree.RemoveFork(ctx, string(left))).To(Succeed())
			Expect(string(left)).NotTo(BeADirectory())
		}
		Expect(f.git("worktree", "list")).NotTo(ContainSubstring("fork"))
		Expect(f.git("show", commit+":x")).To(Equal("x"))
	})

	It("is not created in a folder with files", func(ctx SpecContext) {
		f := newRepository()
		tree, line := f.line(ctx)
		dir := newFolder()
		dir.write("x", "x\n")
		_, err := tree.Fork(ctx, string(dir), line.Last())
		Expect(err).To(MatchError(ContainSubstring("create a work tree in " + string(dir))))
		Expect(dir.read("x")).To(Equal("x\n"))
	})
})
