package worktree_test

import (
	"context"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

func keep(ctx context.Context, f folder, rollback bool) (*worktree.Keeper, worktree.Kept) {
	GinkgoHelper()
	k, before, err := worktree.Keep(ctx, string(f), worktree.KeeperOptions{
		Branch: "rehearse/run", Rollback: rollback, Now: func() time.Time { return at },
	})
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(k.Close)
	return k, before
}

var _ = Describe("a keeper", func() {
	It("records each success, and nothing if no file changed", func(ctx SpecContext) {
		f := newRepository()
		f.write("mine", "mine\n")
		k, before := keep(ctx, f, false)
		Expect(f.git("show", before.Commit+":mine")).To(Equal("mine"))
		Expect(before.String()).To(Equal(before.Commit[:10] + " on rehearse/run"))

		f.write("a", "one\ntwo\n")
		e, kept, err := k.After(ctx, "iteration 1", "")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.Detail).To(Equal(kept.Commit[:10] + " on rehearse/run: 1 file, +2 −0"))
		Expect(f.git("log", "-1", "--format=%s %ad", "--date=unix", "rehearse/run")).To(Equal("rehearse: iteration 1 1795424400"))
		e, kept, err = k.After(ctx, "iteration 2", "")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.Kind).To(BeEmpty())
		Expect(kept.IsZero()).To(BeTrue())
		Expect(k.Count()).To(Equal(2))
	})

	It("restores the files after a failure only if it is asked to", func(ctx SpecContext) {
		f := newRepository()
		k, _ := keep(ctx, f, false)
		f.write("main.go", "broken\n")
		e, _, err := k.After(ctx, "iteration 1", "exit status 1")
		Expect(err).NotTo(HaveOccurred())
		Expect(e.Kind).To(BeEmpty())
		Expect(f.read("main.go")).To(Equal("broken\n"))

		k, before := keep(ctx, f, true)
		f.write("main.go", "more broken\n")
		canceled, cancel := context.WithCancel(ctx)
		cancel()
		e, kept, err := k.After(canceled, "iteration 2", "exit status 1")
		Expect(err).NotTo(HaveOccurred(), "it is completed although the run ends")
		Expect(e.Detail).To(Equal("rolled back 1 file, +1 −1; they are kept as refs/rehearse/undone/rehearse/run/1"))
		Expect(kept.Commit).To(Equal(before.Commit))
		Expect(f.read("main.go")).To(Equal("broken\n"))
	})

	It("names files that a checkpoint does not have", func(ctx SpecContext) {
		f := newRepository()
		f.write("inner/x", "x")
		folder(f.path("inner")).git("init", "--quiet")
		_, before := keep(ctx, f, false)
		Expect(before.String()).To(HaveSuffix("a nested repository: inner/"))
	})

	It("explains that there is no repository", func(ctx SpecContext) {
		_, _, err := worktree.Keep(ctx, string(newFolder()), worktree.KeeperOptions{Branch: "rehearse/run"})
		Expect(worktree.Explain(err, "--git")).To(MatchError(And(
			HavePrefix("--git needs a git repository: "), HaveSuffix("run git init there, or leave out --git"))))
	})
})

var _ = DescribeTable("the name of a run becomes the name of a branch that git accepts",
	func(ctx SpecContext, name, want string) {
		branch := worktree.BranchName(name)
		Expect(branch).To(Equal(want))
		newRepository().git("check-ref-format", "refs/heads/"+branch)
	},
	Entry("", "loop-20261123-091500.123", "rehearse/loop-20261123-091500.123"),
	Entry("", "plan-été / 1", "rehearse/plan--t----1"),
	Entry("", "..a..b..lock", "rehearse/a.b"),
	Entry("", "-.-", "rehearse/run"),
	Entry("", "x@{-1}~^:?*[\\", "rehearse/x---1"),
)
