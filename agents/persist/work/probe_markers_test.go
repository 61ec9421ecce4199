package work_test

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

var _ = Describe("markers", Label("P-01"), func() {
	todo := plan.Probe{Markers: []string{"TODO", "FIXME"}}

	It("are found in all text files, in the order of the paths", func(ctx SpecContext) {
		dir := folder(map[string]string{
			"b.go":      "x\n  // TODO: one\nFIXME and TODO on one line\n\nTODO",
			"a/z.txt":   "(FIXME)\r\n",
			"a/none.md": "nothing\n",
		})
		r := ask(ctx, dir, todo)
		Expect(r.Verdict).To(Equal(plan.Fail))
		Expect(r.Details).To(Equal("4 lines with TODO, FIXME in 2 files"))
		Expect(r.Items).To(Equal([]string{
			"a/z.txt:1: (FIXME)", "b.go:2: // TODO: one", "b.go:3: FIXME and TODO on one line", "b.go:5: TODO",
		}))
	})

	DescribeTable("are whole words", func(ctx SpecContext, text string, want plan.Verdict) {
		dir := folder(map[string]string{"a": text})
		Expect(ask(ctx, dir, plan.Probe{Markers: []string{"TODO", "@wip", "à"}}).Verdict).To(Equal(want))
	},
		Entry("plural", "TODOs", plan.Pass), Entry("prefix", "xTODO", plan.Pass), Entry("prefix with an underscore", "MY_TODO", plan.Pass),
		Entry("digit at the end", "TODO2", plan.Pass), Entry("prefix that is not ASCII", "éTODO", plan.Pass), Entry("lower case", "todo", plan.Pass),
		Entry("a second time alone", "TODOs TODO", plan.Fail), Entry("parenthesis", "TODO(me):", plan.Fail), Entry("dashes", "-TODO-", plan.Fail), Entry("invalid UTF-8", "\xffTODO\xff", plan.Fail),
		Entry("marker with a sign after a letter", "x@wip", plan.Fail), Entry("marker with a sign before a letter", "@wipe", plan.Pass), Entry("letter that is not ASCII in a word", "là", plan.Pass), Entry("letter that is not ASCII alone", "à", plan.Fail),
	)

	It("are searched in the files that match the patterns", func(ctx SpecContext) {
		dir := folder(map[string]string{"a.go": "TODO", "src/b.go": "TODO", "src/x/c.go": "TODO", "src/x/c.md": "TODO"})
		r := ask(ctx, dir, plan.Probe{Markers: todo.Markers, In: []string{"src/**/*.go"}})
		Expect(r.Items).To(Equal([]string{"src/b.go:1: TODO", "src/x/c.go:1: TODO"}))
	})

	It("are ignored in files of others, and in files that are not text", func(ctx SpecContext) {
		dir := folder(map[string]string{
			".git/x": "TODO", "vendor/x": "TODO", "a/node_modules/b/x": "TODO", "bin": "TODO\x00", "ok.txt": "fine",
			"plan.yaml": "name: p\ntasks: [{id: a, do: x}]\nchecks: {features: {markers: [TODO]}}\n",
		})
		other := folder(map[string]string{"x.go": "TODO"})
		Expect(os.Symlink(other, filepath.Join(dir, "link"))).To(Succeed())
		Expect(os.Symlink(filepath.Join(other, "x.go"), filepath.Join(dir, "x.go"))).To(Succeed())
		r := ask(ctx, dir, todo)
		Expect(r.Verdict).To(Equal(plan.Pass), "%+v", r)
		Expect(r.Details).To(Equal("no TODO, FIXME in 2 files"))
		write(dir, "other.yaml", "tasks: TODO")
		Expect(ask(ctx, dir, todo).Items).To(Equal([]string{"other.yaml:1: tasks: TODO"}), "that is no plan")
	})

	It("are passed over in folders that tools write, unless the plan names them", func(ctx SpecContext) {
		dir := folder(map[string]string{
			"a.go": "fine", "dist/b.js": "TODO", "web/.next/x.js": "TODO", "target/debug/x.rs": "TODO", "build/x.go": "TODO",
		})
		r := ask(ctx, dir, todo)
		Expect(r.Verdict).To(Equal(plan.Pass), "%+v", r)
		Expect(r.Details).To(Equal("no TODO, FIXME in 1 file; passed over as generated or ignored by git: 4 paths"))
		r = ask(ctx, dir, plan.Probe{Markers: todo.Markers, In: []string{"**/*.go", "build/**/*.go", "web/.next/*.js"}})
		Expect(r.Items).To(Equal([]string{"build/x.go:1: TODO", "web/.next/x.js:1: TODO"}))
	})

	It("are passed over in what git ignores, and searched in what it does not know yet", func(ctx SpecContext) {
		dir := folder(map[string]string{
			".gitignore": "*.gen.go\n/generated/\n", "new.go": "TODO", "x.gen.go": "TODO", "generated/y.go": "TODO", "sub/generated/z.go": "TODO",
			"kept.gen.go": "TODO",
		})
		git := func(args ...string) {
			GinkgoHelper()
			cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir, "-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"}, args...)...)
			out, err := cmd.CombinedOutput()
			Expect(err).NotTo(HaveOccurred(), "%s", out)
		}
		git("init", "--quiet")
		git("add", "--force", "kept.gen.go")
		git("commit", "--quiet", "--message", "x")
		r := ask(ctx, dir, todo)
		Expect(r.Items).To(Equal([]string{"kept.gen.go:1: TODO", "new.go:1: TODO", "sub/generated/z.go:1: TODO"}))
		Expect(r.Details).To(HaveSuffix("; passed over as generated or ignored by git: 2 paths"))
		Expect(ask(ctx, filepath.Join(dir, "sub"), todo).Items).To(Equal([]string{"generated/z.go:1: TODO"}))
	})

	It("name the files that were too large", func(ctx SpecContext) {
		dir := folder(map[string]string{"big": strings.Repeat("x", 1<<20+1), "ok": ""})
		Expect(ask(ctx, dir, todo).Details).To(Equal("no TODO, FIXME in 1 file; passed over as larger than 1048576 bytes: 1 file"))
	})

	It("are unknown where nothing was searched, or not all", func(ctx SpecContext) {
		dir := folder(map[string]string{"a.go": "x"})
		r := ask(ctx, dir, plan.Probe{Markers: todo.Markers, In: []string{"*.py"}})
		Expect(r.Verdict).To(Equal(plan.Unknown))
		Expect(r.Details).To(Equal("no text file was searched for TODO, FIXME; look at in"))
		Expect(ask(ctx, filepath.Join(dir, "gone"), todo).Verdict).To(Equal(plan.Unknown))
		if os.Getuid() == 0 {
			return // root reads everything
		}
		Expect(os.Chmod(filepath.Join(dir, "a.go"), 0)).To(Succeed())
		Expect(ask(ctx, dir, todo).Verdict).To(Equal(plan.Unknown))
	})

	It("are not searched any more when the context has ended", func() {
		ctx, cancel := context.WithCancelCause(context.Background())
		cancel(errors.New("enough"))
		r := ask(ctx, folder(map[string]string{"a": "TODO"}), todo)
		Expect(r.Verdict).To(Equal(plan.Unknown))
		Expect(r.Details).To(ContainSubstring("enough"))
	})

	It("are named twenty times at most, each on a line", func(ctx SpecContext) {
		r := ask(ctx, folder(map[string]string{"a": strings.Repeat("TODO "+strings.Repeat("x", 1000)+"\x1b\n", 100)}), todo)
		Expect(r.Items).To(HaveLen(plan.MaxFindings))
		Expect(r.Items[19]).To(Equal("… and 81 more"))
		Expect(len([]rune(r.Items[0]))).To(BeNumerically("<=", 200))
	})
})
