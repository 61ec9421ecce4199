package step_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

var parts = []step.Part{step.Completeness, step.Consistency, step.Correctness, step.Constraints}

var requirements = step.Requirements{
	Inputs:      []string{"code", "severity_limit"},
	Constraints: []string{"At most 10 issues", "Never change a file of the workspace"},
	Context:     []string{"src/app.js", "The task: audit the handler in lib/db.js."},
}

// judged returns the findings on a verification that a part is replaced in.
func judged(part, replacement string, c step.Requirements) step.Verification {
	GinkgoHelper()
	text := "verification:\n"
	for _, p := range parts {
		if string(p) == part {
			text += replacement
			continue
		}
		text += "  " + string(p) + ": ✓\n"
	}
	return step.JudgeVerification(read(text), c)
}

// messages returns the findings in words.
func messages(r step.Verification) []string {
	all := []string{}
	for _, f := range r.Findings {
		all = append(all, string(f.Part)+": "+f.Message)
	}
	return all
}

var _ = Describe("Judge", Label("R-08"), func() {
	It("lets a verification pass that names what the contract asks for", func() {
		r := step.JudgeVerification(read(`verification:
  completeness:
    question: Is every input treated?
    check: ["the code: 2 files", "the limit of severity, 7"]
  consistency:
    check: ["app.js line 12", "lib/db.js line 3"]
  correctness:
    check: [each call was followed to its end]
  constraints:
    check: ["3 issues of 10", "no file was changed"]
`), requirements)
		Expect(messages(r)).To(BeEmpty())
		Expect(r.Passed()).To(BeTrue())
		Expect(r.Claims[0].Bound).To(BeTrue())
		Expect(r.Claims[1].Bound).To(BeTrue())
		Expect(r.Claims[2].Bound).To(BeFalse(), "nothing in a contract says what is correct")
		Expect(r.Claims[3].Bound).To(BeTrue())
	})

	It("accepts the claim of a tick form, apart from its evidence", func() {
		r := step.JudgeVerification(read("verification:\n  completeness: ✓\n  consistency: ✓ well\n  correctness: ✓\n  constraints: ✓ 3 issues, no file of the workspace changed\n"), requirements)
		Expect(r.Passed()).To(BeTrue())
		Expect(r.Verified()).To(BeFalse())
		Expect(r.ByWord()).To(Equal([]step.Part{step.Completeness, step.Consistency}))
		Expect(r.Claims[0].Bound).To(BeFalse())
		Expect(r.Claims[1].Bound).To(BeFalse())
		Expect(r.Claims[3].Bound).To(BeTrue())
		Expect(r.Holds(step.Completeness)).To(BeTrue())
	})

	It("verifies a tick form that names what the contract asks for, and no bare one", func() {
		Expect(step.JudgeVerification(read("verification:\n  completeness: ✓ code, severity_limit\n  consistency: ✓ src/app.js\n  correctness: ✓ line 12\n"+
			"  constraints: ✓ 3 issues, no file of the workspace changed\n"), requirements).Verified()).To(BeTrue())
		bare := read("verification:\n  completeness: ✓ ok\n  consistency: ✓ ok\n  correctness: ✓ ok\n  constraints: ✓ ok\n")
		Expect(step.JudgeVerification(bare, requirements).ByWord()).To(Equal([]step.Part{step.Completeness, step.Consistency, step.Constraints}))
		Expect(step.JudgeVerification(bare, step.Requirements{}).ByWord()).To(Equal([]step.Part{step.Consistency}), "nothing else is asked for")
	})

	DescribeTable("finds a changed file where a constraint forbids it", func(constraint string, forbids bool) {
		c := step.Requirements{Constraints: []string{constraint}, Written: []string{"docs/start.md"}}
		text := "verification:\n  completeness: ✓\n  consistency: ✓\n  correctness: ✓\n  constraints: ✓ " + constraint + "\n"
		if forbids {
			Expect(messages(step.JudgeVerification(read(text), c))).To(Equal([]string{
				fmt.Sprintf("constraints: the constraint %q does not hold: the run changed %q", constraint, "docs/start.md"),
			}))
		} else {
			Expect(step.JudgeVerification(read(text), c).Passed()).To(BeTrue())
		}
		c.Written = nil
		Expect(step.JudgeVerification(read(text), c).Passed()).To(BeTrue())
	},
		Entry("no file is changed", "No file is changed.", true),
		Entry("never change a file", "Never change a file of the workspace", true),
		Entry("no files may be modified", "No files may be modified", true),
		Entry("do not edit any file", "Do not edit any file", true),
		Entry("read-only", "The workspace is read-only.", true),
		Entry("no file is modified, in French", "Aucun fichier n’est modifié.", true),
		Entry("modify no file, in French", "Ne modifie aucun fichier du projet", true),
		Entry("read-only, in French", "L'audit se fait en lecture seule", true),
		Entry("files outside a folder", "Never change a file outside docs", false),
		Entry("large files", "Do not create files larger than 10 KB", false),
		Entry("a number of files", "At most 10 files are changed", false),
		Entry("one change for each file", "Each file is changed once", false),
		Entry("all files but those of a folder, in French", "Ne modifie que les fichiers de docs", false),
	)

	It("does not change the answers that it is given", func() {
		given := read("verification:\n  completeness: ✓ code, severity limit\n")
		step.JudgeVerification(given, requirements)
		Expect(given[0].Bound).To(BeFalse())
	})

	It("finds each part that is not there", func() {
		r := step.JudgeVerification(nil, requirements)
		Expect(messages(r)).To(Equal([]string{
			"completeness: the verification does not answer it", "consistency: the verification does not answer it",
			"correctness: the verification does not answer it", "constraints: the verification does not answer it",
		}))
		Expect(r.Passed()).To(BeFalse())
		Expect(r.Holds(step.Correctness)).To(BeFalse())
		Expect(step.Verification{}.Passed()).To(BeFalse())
		Expect(step.Verification{}.Holds(step.Correctness)).To(BeFalse())
	})

	DescribeTable("finds",
		func(part, text, want string) {
			r := judged(part, text, requirements)
			Expect(messages(r)).To(Equal([]string{part + ": " + want}))
			Expect(r.Holds(step.Part(part))).To(BeFalse())
		},
		Entry("a denial", "correctness", "  correctness: ✗ line 12 is wrong\n", "the agent says that it does not hold: ✗ line 12 is wrong"),
		Entry("a denial in the schema form", "correctness", "  correctness:\n    check: [line 12]\n    passed: false\n", "the agent says that it does not hold: line 12"),
		Entry("a sentence that claims nothing", "correctness", "  correctness: line 12 was read\n", "it says neither that it holds nor that it does not; begin with ✓ or ✗: line 12 was read"),
		Entry("an empty list", "correctness", "  correctness:\n    check: []\n    passed: true\n", "it names no check; list under check: what was looked at"),
		Entry("no list and no claim", "correctness", "  correctness:\n    question: Is it?\n", "it names no check, and does not say that it passes"),
		Entry("an input that no check names", "completeness", "  completeness:\n    check: [the code]\n", `no check names "severity_limit"`),
		Entry("an input of which a check names a half", "completeness", "  completeness:\n    check: [the code, the limit]\n", `no check names "severity_limit"`),
		Entry("a constraint that no check names", "constraints", "  constraints:\n    check: [no file was changed]\n", `no check names "At most 10 issues"`),
		Entry("a list of other things", "constraints", "  constraints:\n    check: [all is well]\n", `no check names "At most 10 issues", "Never change a file of the workspace"`),
		Entry("a file that was not read", "consistency", "  consistency:\n    check: [src/app.js, src/auth.js line 3]\n", `it refers to "src/auth.js", which was not read`),
		Entry("one in the tick form", "consistency", "  consistency: ✓ as in main.go and ./app.js\n", `it refers to "main.go", which was not read`),
	)

	DescribeTable("takes for no file",
		func(text string) {
			Expect(messages(judged("consistency", "  consistency: ✓ "+text+"\n", requirements))).To(BeEmpty())
		},
		Entry("a call", "the call of res.json() and of fs.sh(x)"),
		Entry("a member", "console.log and process.env are as they were"),
		Entry("a product", "Node.js and Vue.js"),
		Entry("an address", "as on https://example.com/a/guide.html"),
		Entry("a version and a line", "v1.2.3, L.12, and e.g. this, p.ex. cela"),
		Entry("the end of a path that was read", "app.js, line 3"),
		Entry("a path with a dot before it", "./src/app.js:12"),
		Entry("a path that the task names", "lib/db.js."),
		Entry("a longer path to a file that was named by less", "db.js"),
		Entry("a path of another system", `src\app.js`),
	)

	It("looks at a bounded number of files, and lists fewer", func() {
		var b strings.Builder
		for i := range 5_000 {
			fmt.Fprintf(&b, " a%d.go", i)
		}
		Expect(messages(judged("consistency", "  consistency: ✓"+b.String()+"\n", requirements))[0]).To(HaveSuffix(`"a9.go", 190 more, which was not read`))
	})

	It("does not take a longer name for a file that was read", func() {
		Expect(messages(judged("consistency", "  consistency: ✓ as in p.js\n", requirements))).To(HaveLen(1))
		Expect(messages(judged("consistency", "  consistency: ✓ as in app.json\n", requirements))).To(HaveLen(1))
		Expect(messages(judged("consistency", "  consistency: ✓ as in other/app.js\n", requirements))).To(HaveLen(1))
	})

	It("asks for no check where the contract requires nothing", func() {
		r := step.JudgeVerification(read(`verification:
  completeness: {check: [], passed: true}
  consistency: {check: [the task], passed: true}
  correctness: {check: [the sums], passed: true}
  constraints: {check: [], passed: true}
`), step.Requirements{})
		Expect(messages(r)).To(BeEmpty())
	})

	DescribeTable("recognises a constraint in the words of a check",
		func(constraint, check string, want bool) {
			c := step.Requirements{Constraints: []string{constraint}}
			r := judged("constraints", "  constraints:\n    check:\n      - \""+check+"\"\n", c)
			Expect(r.Passed()).To(Equal(want))
		},
		Entry("in French", "Ne modifie aucun fichier du dépôt", "aucune modification de fichiers", true),
		Entry("without its accents", "Répondre en français", "réponse en francais", true),
		Entry("by its figure", "Au plus 80 caractères par ligne", "80 caractères", true),
		Entry("not by words that say nothing", "The output must be in the language of the task", "it is of the best", false),
		Entry("not by one word in four or more", "Name every ticket with its number and author", "name", false),
		Entry("not in another language", "Ne modifie aucun fichier", "nothing was changed", false),
		Entry("of nothing but small words, by one of them", "Not all of it", "not all", true),
	)
})
