package work_test

import (
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/persist/plan"
)

var _ = Describe("a list of todos", Label("P-01"), func() {
	DescribeTable("in Markdown", func(ctx SpecContext, text string, verdict plan.Verdict, details string, items ...string) {
		r := ask(ctx, folder(map[string]string{"TODO.md": text}), plan.Probe{File: "TODO.md"})
		Expect(r.Verdict).To(Equal(verdict), "%+v", r)
		Expect(r.Details).To(ContainSubstring(details))
		if len(items) == 0 {
			Expect(r.Items).To(BeEmpty())
			return
		}
		Expect(r.Items).To(Equal(items))
	},
		Entry("all done", "# List\n\n- [x] one\n- [X] two\n", plan.Pass, "TODO.md: none of 2 todos open"),
		Entry("some open", "- [x] one\n- [ ] two\n- [~] three\n", plan.Fail, "TODO.md: 2 of 3 todos open, 1 in progress", "two", "three (in progress)"),
		Entry("nested, numbered, with other bullets", "1. [x] a\n   - [ ] b\n     * [ ] c\n2. [/] d\n+ [ ] e\n", plan.Fail, "4 of 5", "b", "c", "d (in progress)", "e"),
		Entry("an unknown mark is open", "- [?] a\n- [-] b\n", plan.Fail, "2 of 2", "a", "b"),
		Entry("apart from each other", "- [ ] a\n\n  more about it\n\n- [x] b\n", plan.Fail, "1 of 2", "a"),
		Entry("in a quote", "> - [ ] a\n", plan.Fail, "1 of 1 todo open", "a"),
		Entry("not in a code block", "- [x] a\n\n```\n- [ ] b\n```\n\n~~~md\n- [ ] c\n~~~\n\n    - [ ] d\n", plan.Pass, "none of 1 todo open"),
		Entry("not in a comment", "- [x] a\n\n<!--\n- [ ] b\n-->\n", plan.Pass, "none of 1 todo open"),
		Entry("not in a sentence", "- [x] a\n\nWrite - [ ] for open.\n- see [ ] there\n- [ ]without a space\n- [link](x)\n", plan.Pass, "none of 1 todo open"),
		Entry("a mark that looks like a reference", "- [x] a\n- [ ] b\n\n[x]: http://example.org\n", plan.Fail, "1 of 2", "b"),
		Entry("with line ends of Windows", "- [x] a\r\n- [ ] b\r\n", plan.Fail, "1 of 2", "b"),
		Entry("empty", " \n", plan.Pass, "none of 0 todos"),
		Entry("without checkboxes", "- write the tests\n", plan.Unknown, "no checkbox"),
		Entry("with a hostile text", "- [ ] a\x1b[31m\u202eb\n", plan.Fail, "1 of 1", `a\x1b[31m\u202eb`),
		Entry("nested without end", strings.Repeat("- ", 200_000)+"[ ] a", plan.Unknown, "nested more than 100 deep"),
		Entry("quoted without end", strings.Repeat(">", 200_000)+"- [ ] a", plan.Unknown, "nested more than 100 deep"),
	)

	DescribeTable("in JSON", func(ctx SpecContext, text string, verdict plan.Verdict, details string, items ...string) {
		r := ask(ctx, folder(map[string]string{"todos.json": text}), plan.Probe{File: "todos.json"})
		Expect(r.Verdict).To(Equal(verdict), "%+v", r)
		Expect(r.Details).To(ContainSubstring(details))
		Expect(r.Items).To(HaveLen(len(items)))
		for i, item := range items {
			Expect(r.Items[i]).To(Equal(item))
		}
	},
		Entry("an array", `[{"id":"1","content":"a","status":"completed"},{"id":"2","content":"b","status":"pending","activeForm":"x"}]`, plan.Fail, "1 of 2 todos", "b"),
		Entry("under todos", `{"todos":[{"content":"a","status":"in_progress"},{"title":"b","status":"in-progress"},{"id":7,"status":"pending"}]}`, plan.Fail, "2 in progress", "a (in progress)", "b (in progress)", "7"),
		Entry("all done", `{"todos":[{"content":"a","status":"done"},{"content":"b","status":"cancelled"}]}`, plan.Pass, "none of 2 todos"),
		Entry("empty", `[]`, plan.Pass, "none of 0 todos"),
		Entry("no list", `{"items":[]}`, plan.Unknown, `no list "todos"`),
		Entry("null", `null`, plan.Unknown, `no list "todos"`),
		Entry("an unknown status", `[{"content":"a","status":"maybe"}]`, plan.Unknown, `todo 1 has the unknown status "maybe"`),
		Entry("no status", `[{"content":"a"}]`, plan.Unknown, `the unknown status ""`),
		Entry("no JSON", `[{"content":`, plan.Unknown, "unexpected end of JSON input"),
		Entry("another type", `"x"`, plan.Unknown, "cannot unmarshal"),
		Entry("nested without end", strings.Repeat("[", 1_000_000), plan.Unknown, "todos"),
	)

	It("names twenty of many, and how many more there are", func(ctx SpecContext) {
		dir := folder(map[string]string{"TODO.md": strings.Repeat("- [ ] a\n", 30)})
		r := ask(ctx, dir, plan.Probe{File: "TODO.md"})
		Expect(r.Items).To(HaveLen(plan.MaxFindings))
		Expect(r.Items[19]).To(Equal("… and 11 more"))
		write(dir, "TODO.md", strings.Repeat("- [ ] a\n", 29))
		Expect(ask(ctx, dir, plan.Probe{File: "TODO.md"}).Items).NotTo(Equal(r.Items), "one less is progress")
	})

	It("is unknown where it is missing, no file, too large, or leads out of the folder", func(ctx SpecContext) {
		dir := folder(map[string]string{"big.md": strings.Repeat("x", 1<<20+1), "d/x": ""})
		other := folder(map[string]string{"TODO.md": "- [x] a\n"})
		Expect(os.Symlink(filepath.Join(other, "TODO.md"), filepath.Join(dir, "out.md"))).To(Succeed())
		Expect(os.Symlink("../"+filepath.Base(other)+"/TODO.md", filepath.Join(dir, "up.md"))).To(Succeed())
		for _, name := range []string{"d", "big.md", "out.md", "up.md", "../x.md"} {
			r := ask(ctx, dir, plan.Probe{File: name})
			Expect(r.Verdict).To(Equal(plan.Unknown), name)
			Expect(r.Details).To(ContainSubstring("cannot be read"), name)
		}
		r := ask(ctx, dir, plan.Probe{File: "none.md"})
		Expect(r).To(Equal(plan.CheckResult{
			Verdict: plan.Unknown, Details: "there is no file none.md in the folder of the plan; create it, or remove the probe",
		}))
		Expect(ask(ctx, dir, plan.Probe{File: "up.md"}).Details).To(Equal("the todos cannot be read: up.md: path escapes from parent"))
		Expect(ask(ctx, filepath.Join(dir, "gone"), plan.Probe{File: "x"}).Verdict).To(Equal(plan.Unknown))
	})

	It("is read through a link that stays in the folder", func(ctx SpecContext) {
		dir := folder(map[string]string{"d/TODO.md": "- [x] a\n"})
		Expect(os.Symlink("d/TODO.md", filepath.Join(dir, "TODO.md"))).To(Succeed())
		Expect(ask(ctx, dir, plan.Probe{File: "TODO.md"}).Verdict).To(Equal(plan.Pass))
	})
})
