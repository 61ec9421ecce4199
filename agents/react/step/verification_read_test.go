package step_test

import (
	"errors"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
)

// read reads a verification that must be readable.
func read(text string) []step.Claim {
	GinkgoHelper()
	found, err := step.ReadVerification(text)
	Expect(err).NotTo(HaveOccurred())
	return found
}

// claim reports whether a part with this text passes.
func claim(text string) bool {
	GinkgoHelper()
	found := read("verification:\n  correctness: " + text + "\n")
	Expect(found).To(HaveLen(1))
	return found[0].Passed
}

var _ = Describe("Read", func() {
	It("reads the tick form", func() {
		Expect(read(`verification:
  completeness: ✓ Both inputs are treated
  consistency: "ok: the lines are those of the file"

  # and then
  correctness: [x] done: all of it,
    and more
  constraints: ✗ two of them are open
`)).To(Equal([]step.Claim{
			{Part: step.Completeness, Form: "tick", Passed: true, Text: "✓ Both inputs are treated", Pos: step.Pos{Line: 2, Column: 3}},
			{Part: step.Consistency, Form: "tick", Passed: true, Text: "ok: the lines are those of the file", Pos: step.Pos{Line: 3, Column: 16}},
			{Part: step.Correctness, Form: "tick", Passed: true, Text: "[x] done: all of it, and more", Pos: step.Pos{Line: 6, Column: 3}},
			{Part: step.Constraints, Form: "tick", Text: "✗ two of them are open", Pos: step.Pos{Line: 8, Column: 3}},
		}))
	})

	It("reads the schema form, in any order of the parts", func() {
		Expect(read(`verification:
  constraints:
    question: Are the constraints kept?
    check:
      - at most ten: ✓ there are three
      - [x] in French: it is
    status: ✓ both
    answer: They are.
  completeness: {question: "Every input?", check: [code, 2], passed: true}
  consistency:
    - ✓ app.js: as it was read
    -
    - …
  correctness:
    question: Is it right?
    check: the lines were looked at again
`)).To(Equal([]step.Claim{
			{Part: step.Completeness, Form: "schema", Passed: true, Checks: []string{"code", "2"}, Pos: step.Pos{Line: 9, Column: 3}},
			{Part: step.Consistency, Form: "schema", Passed: true, Checks: []string{"✓ app.js: as it was read"}, Pos: step.Pos{Line: 10, Column: 3}},
			{Part: step.Correctness, Form: "schema", Passed: true, Checks: []string{"the lines were looked at again"}, Pos: step.Pos{Line: 14, Column: 3}},
			{
				Part: step.Constraints, Form: "schema", Passed: true, Text: "They are.",
				Checks: []string{"at most ten: ✓ there are three", "[x] in French: it is"}, Pos: step.Pos{Line: 2, Column: 3},
			},
		}))
	})

	It("reads both forms in one verification, and French names", func() {
		found := read("verification:\r\n  Complétude: ✔️ tout est traité\r\n  cohérence:\r\n    check: [a]\r\n  exactitude: oui\r\n  contraintes : true\r\n")
		order, forms := []step.Part{}, []string{}
		for _, a := range found {
			Expect(a.Passed).To(BeTrue())
			order, forms = append(order, a.Part), append(forms, a.Form)
		}
		Expect(order).To(Equal(parts))
		Expect(forms).To(Equal([]string{"tick", "schema", "tick", "tick"}))
	})

	It("reads a flow mapping as a whole", func() {
		found := read(`verification: {completeness: "✓ all", correctness: {check: [a], ok: false}, constraints: true}`)
		Expect(found).To(HaveLen(3))
		Expect([]bool{found[0].Passed, found[1].Passed, found[2].Passed}).To(Equal([]bool{true, false, true}))
	})

	DescribeTable("takes for a claim",
		func(text string) { Expect(claim(text)).To(BeTrue()) },
		Entry("a tick", "✓ all of it"), Entry("a heavy one", "✔ all of it"), Entry("an emoji", "✅ all of it"), Entry("with a selector", "✔️ all"),
		Entry("a box", "☑ all"), Entry("a checked box", "[x] all"), Entry("in capitals", "[X] all"), Entry("with a tick", "[✓] all"),
		Entry("ok", "ok all of it"), Entry("OK with a mark", "OK - all"), Entry("pass", "pass"), Entry("passed", "PASSED: all"), Entry("yes", "Yes, all of it"),
		Entry("oui", "Oui, tout y est"), Entry("vrai", "vrai"), Entry("true", "true"), Entry("a tick at the end", "all of it ✓"),
		Entry("in a sentence with no", "✓ no error found"), Entry("with a full stop", "all of it ✅."), Entry("in bold", "\"**ok** all\""),
		Entry("a product", "✓ 3 × 4 cells were looked at"), Entry("quoted", "\"✓ so: it is\""), Entry("a block text", "|\n    ✓ so: it is"),
	)

	DescribeTable("takes for none",
		func(text string) { Expect(claim(text)).To(BeFalse()) },
		Entry("a cross", "✗ two are open"), Entry("a heavy one", "✘ two"), Entry("an emoji", "❌ two"), Entry("a multiplication sign", "× two"),
		Entry("an open box", "[ ] two"), Entry("an empty one", "[] two"), Entry("no", "no: two"), Entry("non", "Non, il en manque"), Entry("failed", "failed"),
		Entry("ko", "KO"), Entry("false", "false"), Entry("a tick with a cross behind", "✓ one, ✗ two"), Entry("a sentence without a mark", "all of it"),
		Entry("a word that goes on", "valid inputs are read"), Entry("yes, but", "yes, but one"), Entry("ok sauf", "ok sauf un"), Entry("null", "null"),
		Entry("a cross at the end", "two are open ✗"),
	)

	DescribeTable("lets a part in the schema form pass",
		func(fields string, want bool) {
			found := read("verification:\n  correctness:\n" + fields)
			Expect(found[0].Form).To(Equal("schema"))
			Expect(found[0].Passed).To(Equal(want))
		},
		Entry("that names checks", "    check: [a]\n", true),
		Entry("but not one that names none", "    question: Is it?\n    check: []\n", false),
		Entry("but not one that names nothing but dots", "    check: [...]\n", false),
		Entry("but not one that says no", "    check: [a]\n    passed: false\n", false),
		Entry("but not one that says no in words", "    check: [a]\n    ok: ✗ it is not\n", false),
		Entry("but not one with a check that fails", "    check: [a, \"✗ b\"]\n    passed: true\n", false),
		Entry("but not one with a named check that fails", "    - a: false\n", false),
		Entry("but not one with an open box", "    - [x] a\n    - [ ] b\n", false),
		Entry("that says yes, whatever it names; Judge looks at that", "    check: []\n    ok: yes\n", true),
	)

	DescribeTable("refuses with the place, the rule and what to write",
		func(text, place, message string) {
			_, err := step.ReadVerification(text)
			e, ok := errors.AsType[*step.Error](err)
			Expect(ok).To(BeTrue())
			Expect(fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Rule)).To(Equal(place))
			Expect(e.Message).To(ContainSubstring(message))
		},
		Entry("nothing", "", "1:1 no-verification", "completeness, consistency, correctness, constraints"),
		Entry("another document", "\nthought: x\n", "2:1 no-verification", `found "thought: x"`),
		Entry("no parts", "verification:\n", "1:1 no-verification", "has no parts"),
		Entry("a text", "verification: all of it\n", "1:1 no-verification", "has no parts"),
		Entry("an unknown part", "verification:\n  completness: ✓\n", "2:3 unknown-part", `did you mean "completeness"?`),
		Entry("an unknown part of another word", "verification:\n  beauty:\n    check: [a]\n", "2:3 unknown-part", "the parts are completeness,"),
		Entry("a part twice", "verification:\n  correctness: ✓\n  correctness: ✓\n", "3:3 duplicate-part", "first on line 2"),
		Entry("a part twice in the other form", "verification:\n  correctness:\n    - a\n  correctness:\n    - b\n", "4:3 duplicate-part", "first on line 2"),
		Entry("a part in two languages", "verification:\n  exactitude: ✓\n  correctness:\n    - b\n", "3:3 duplicate-part", "first on line 2"),
		Entry("an unknown key", "verification:\n  correctness:\n    chek: [a]\n", "2:3 unknown-key", `did you mean "check"?`),
		Entry("a number", "verification:\n  correctness:\n    12\n", "3:5 bad-value", "a mark and a sentence"),
		Entry("an empty part", "verification:\n  correctness:\n", "2:15 bad-value", "says nothing"),
		Entry("broken YAML", "verification:\n  correctness:\n    check: [a\n", "4:1 yaml", "not valid YAML"),
		Entry("a text that is too long", "verification:\n"+strings.Repeat(" ", 64<<10), "1:1 too-large", "at most 65536"),
	)
})
