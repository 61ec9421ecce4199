package verify_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/step"
	"github.com/rehearse-dev/rehearse/agents/react/verify"
)

var _ = Describe("Read", func() {
	It("reads the tick form", func() {
		found, err := verify.Read(`verification:
  completeness: ✓ Both inputs are treated
  consistency: "ok: the lines are those of the file"
  correctness: [x] done: all of it,
    and more
  constraints: ✗ two of them are open
`)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(Equal([]verify.Answer{
			{Part: verify.Completeness, Form: verify.Tick, Passed: true, Text: "✓ Both inputs are treated", Pos: step.Pos{Line: 2, Column: 3}},
			{Part: verify.Consistency, Form: verify.Tick, Passed: true, Text: "ok: the lines are those of the file", Pos: step.Pos{Line: 3, Column: 16}},
			{Part: verify.Correctness, Form: verify.Tick, Passed: true, Text: "[x] done: all of it, and more", Pos: step.Pos{Line: 4, Column: 3}},
			{Part: verify.Constraints, Form: verify.Tick, Text: "✗ two of them are open", Pos: step.Pos{Line: 6, Column: 3}},
		}))
	})

	It("reads the schema form", func() {
		found, err := verify.Read(`verification:
  completeness:
    question: Is every input treated?
    check: [code, language]
    passed: true
  consistency:
    - app.js was read
  correctness:
    check: []
    passed: true
  constraints:
    check:
      - at most ten: ✗ there are eleven
`)
		Expect(err).NotTo(HaveOccurred())
		Expect(found).To(HaveLen(4))
		Expect(found[0]).To(Equal(verify.Answer{Part: verify.Completeness, Form: verify.Schema, Passed: true, Checks: []string{"code", "language"}, Pos: step.Pos{Line: 2, Column: 3}}))
		Expect(found[1].Passed).To(BeTrue())
		Expect(found[2].Passed).To(BeTrue())
		Expect(found[3].Passed).To(BeFalse())
		r := verify.Judge(found, verify.Contract{Required: []string{"code", "language"}, Constraints: []string{"At most ten issues"}, Context: []string{"src/app.js"}})
		Expect(r.Findings).To(HaveLen(2))
	})
})
