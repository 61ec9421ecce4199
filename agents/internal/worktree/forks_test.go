package worktree_test

import (
	"context"
	"os"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/internal/worktree"
)

// forks returns the forks of a keeper of a repository, in the folder .rehearse/forks, as a new process does.
func forks(ctx context.Context, f folder) *worktree.Forks {
	GinkgoHelper()
	f.write(".rehearse/.gitignore", "*\n")
	k, _ := keep(ctx, f, false)
	all, err := k.Forks(f.path(".rehearse/forks"))
	Expect(err).NotTo(HaveOccurred())
	DeferCleanup(all.Close)
	return all
}

func open(ctx context.Context, all *worktree.Forks, name string) folder {
	GinkgoHelper()
	dir, err := all.Open(ctx, name)
	Expect(err).NotTo(HaveOccurred())
	return folder(dir)
}

func merge(ctx context.Context, all *worktree.Forks, name string) worktree.Kept {
	GinkgoHelper()
	kept, err := all.Merge(ctx, name, "task "+name)
	Expect(err).NotTo(HaveOccurred())
	return kept
}

var _ = Describe("forks of a keeper", Label("H-01"), func() {
	It("are merged once, and later ones have the work of earlier ones", func(ctx SpecContext) {
		f := newRepository()
		all := forks(ctx, f)
		a, b := open(ctx, all, "a"), open(ctx, all, "round-1.b")
		a.write("a", "a\n")
		b.write("sub/b", "b\n")
		b.remove("main.go")
		Expect(merge(ctx, all, "a").String()).To(MatchRegexp(`^[0-9a-f]{10} on rehearse/run: 1 file, \+1 −0$`))
		Expect(merge(ctx, all, "a").IsZero()).To(BeTrue())
		Expect(open(ctx, all, "c").read("a")).To(Equal("a\n"))
		Expect(all.Refresh(ctx, "round-1.b")).To(Succeed())
		Expect(b.read("a")).To(Equal("a\n"))
		merge(ctx, all, "round-1.b")
		Expect(f.read("a") + f.read("sub/b") + f.read("main.go")).To(Equal("a\nb\n-"))
		Expect(f.git("branch", "--show-current")).To(Equal("main"))

		Expect(all.Remove(ctx, func(name string) bool { return name == "c" })).To(Succeed())
		Expect(f.git("for-each-ref", "--format=%(refname)")).To(Equal("refs/heads/main\nrefs/heads/rehearse/forks/run/c\nrefs/heads/rehearse/run"))
		Expect(a.read("main.go")).To(Equal("-"))
	})

	It("keep their work for the next process, which removes what is incomplete or not needed", func(ctx SpecContext) {
		f := newRepository()
		all := forks(ctx, f)
		open(ctx, all, "a").write("a", "half\n")
		open(ctx, all, "b").write("b", "b\n")
		gone := open(ctx, all, "gone")
		Expect(os.RemoveAll(string(gone))).To(Succeed())
		incomplete := open(ctx, all, "incomplete")
		incomplete.remove("main.go")
		f.git("update-ref", "-d", "refs/heads/rehearse/forks/run/incomplete")
		all.Close()

		all = forks(ctx, f)
		Expect(open(ctx, all, "a").read("a")).To(Equal("half\n"))
		Expect(open(ctx, all, "incomplete").read("main.go")).To(Equal("package main\n"))
		Expect(open(ctx, all, "gone").read("main.go")).To(Equal("package main\n"))
		Expect(all.Remove(ctx, func(string) bool { return false })).To(Succeed())
		Expect(f.git("worktree", "list")).NotTo(ContainSubstring(".rehearse"))
		Expect(f.git("branch", "--list", "rehearse/forks/*")).To(BeEmpty())
		Expect(f.path(".rehearse/forks")).NotTo(BeADirectory())
	})

	It("are set aside after a conflict, and begin anew", func(ctx SpecContext) {
		f := newRepository()
		all := forks(ctx, f)
		open(ctx, all, "a").write("main.go", "package a\n")
		open(ctx, all, "b").write("main.go", "package b\n")
		open(ctx, all, "c").write("main.go", "package c\n")
		merge(ctx, all, "a")
		_, err := all.Merge(ctx, "b", "task b")
		Expect(err).To(MatchError(ContainSubstring("both sides changed main.go")))
		Expect(f.read("main.go")).To(Equal("package a\n"))
		undone, err := all.SetAside(ctx, "b", "a conflict")
		Expect(err).NotTo(HaveOccurred())
		Expect(undone.Ref).To(Equal("refs/rehearse/undone/rehearse/run/1"))
		Expect(f.git("show", undone.Commit+":main.go")).To(Equal("package b"))
		Expect(open(ctx, all, "b").read("main.go")).To(Equal("package a\n"))
		Expect(open(ctx, all, "c").read("main.go")).To(Equal("package a\n"), "opening it again merges")
		Expect(f.git("show", "refs/rehearse/undone/rehearse/run/2:main.go")).To(Equal("package c"))
		Expect(all.Undone(undone).String()).To(HavePrefix("rolled back 1 file, +1 −1; they are kept as refs/rehearse/undone/"))
	})

	It("are the folder in them that is the plan's one", func(ctx SpecContext) {
		f := newRepository()
		f.write("plans/plan.yaml", "name: p\n")
		plans := folder(f.path("plans"))
		all := forks(ctx, plans)
		Expect(open(ctx, all, "a").read("plan.yaml")).To(Equal("name: p\n"))
		Expect(open(ctx, all, "a").read("../main.go")).To(Equal("package main\n"))
	})

	It("have a merge completed during which the process was killed", func(ctx SpecContext) {
		f := newRepository()
		f.write("keep", "1\n")
		f.write("gone", "1\n")
		all := forks(ctx, f)
		before := f.git("rev-parse", "rehearse/run")
		a := open(ctx, all, "a")
		a.write("new", "a\n")
		a.write("main.go", "package a\n")
		a.remove("gone")
		after := merge(ctx, all, "a").Commit
		all.Close()
		// As after a kill while files were written: one is cut off, one is old. The user changed another one.
		f.git("update-ref", "refs/heads/rehearse/run", before)
		f.git("update-ref", "refs/rehearse/landing/rehearse/run", after)
		f.write("main.go", "pack")
		f.write("gone", "1\n")
		f.write("keep", "the user's\n")

		all = forks(ctx, f)
		Expect(f.read("main.go") + f.read("new") + f.read("gone") + f.read("keep")).To(Equal("package a\na\n-the user's\n"))
		Expect(f.git("rev-parse", "rehearse/run~1")).To(Equal(after))
		Expect(f.git("show", "rehearse/run:keep")).To(Equal("the user's"), "the checkpoint before the run")
		Expect(f.git("show", "refs/rehearse/undone/rehearse/run/1:main.go")).To(Equal("pack"))
		Expect(f.git("for-each-ref", "refs/rehearse/landing")).To(BeEmpty())
		Expect(merge(ctx, all, "a").IsZero()).To(BeTrue())
	})
})
