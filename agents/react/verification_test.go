package react_test

import (
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/event"
)

var _ = Describe("The chain of verification", Label("R-08"), func() {
	It("is reported as not verified where it holds by the agent's word alone", func() {
		ticks := "verification:\n  completeness: ✓ ok\n  consistency: ✓ ok\n  correctness: ✓ ok\n  constraints: ✓ ok\n"
		res := newRig(searching, docs(finished, ticks, "completely invented")).run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Verified).To(BeFalse())
		Expect(res.Details).To(Equal("completed in iteration 1, not verified"))
		res = newRig(searching, docs(finished, verified, report)).run()
		Expect(res.Verified).To(BeTrue())
		Expect(res.Details).To(Equal("completed in iteration 1"))
	})

	It("does not hold where the agent changed a file against a constraint", func() {
		r := newRig(doing("generate", "  path: x"), docs(finished, strings.Replace(verified, "1 of at most ten findings", "no file is changed", 1), report))
		r.agent.Contract.Constraints = []string{"No file is changed."}
		r.options.Revisions = -1
		r.set.results["generate"] = action.Result{Observation: found, Written: []string{"docs/start.md"}}
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusPartial))
		Expect(res.Missing).To(ContainElement(ContainSubstring(`the run changed "docs/start.md"`)))
	})

	It("causes one revision when a part fails", func() {
		r := newRig(searching, docs(finished, doubtful, report), docs(verified, "Two findings."))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Output).To(Equal("Two findings."))
		Expect(res.Iterations).To(Equal(2))
		Expect(refused(res)).To(Equal([]string{"unverified", ""}))
		Expect(r.phases()).To(Equal("act reflect revise"))
		Expect(r.asked(3)).To(ContainSubstring("completeness: the agent says that it does not hold"))
		verdicts := r.emitted(event.Verdict, "verification")
		Expect(verdicts).To(HaveLen(2))
		Expect(verdicts[0].Attrs).To(Equal(map[string]any{
			"passed": false, "verified": false, "revision": 0, "completeness": false, "consistency": true, "correctness": true, "constraints": true,
		}))
		Expect(verdicts[0].Detail).To(HavePrefix("completeness: "))
		Expect(verdicts[1].Attrs).To(And(HaveKeyWithValue("passed", true), HaveKeyWithValue("revision", 1)))
	})

	DescribeTable("ends with a part done, and the missing parts, when it still fails",
		func(revisions, max, calls int) {
			r := newRig(searching, docs(finished, doubtful, report), docs(doubtful, "v2"), docs(doubtful, "v3"), docs(doubtful, "v4"))
			r.options.Revisions, r.options.MaxIterations = revisions, max
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusPartial))
			Expect(res.ExitCode).To(Equal(10))
			Expect(res.Missing).To(ConsistOf(HavePrefix("completeness: ")))
			Expect(res.Next).To(ContainSubstring("completeness: "))
			Expect(res.Verification.Passed()).To(BeFalse())
			Expect(r.requests).To(HaveLen(calls))
			Expect(res.Transcript[len(res.Transcript)-1].Refused).To(BeEmpty(), "the last one is not asked for again")
		},
		Entry("after one revision by default", 0, 0, 3),
		Entry("after as many as the caller allows", 2, 0, 4),
		Entry("at once where none is allowed", -1, 0, 2),
		Entry("at once where no iteration is left for one", 0, 1, 2),
	)

	It("is asked for where an answer ends without it", func() {
		r := newRig(searching, docs(finished, "Some output without a verification."), docs(verified, report))
		Expect(r.run().Status).To(Equal(react.StatusDone))
		Expect(r.phases()).To(Equal("act reflect verify"))
		Expect(r.asked(3)).To(Equal("Write the verification of the contract, then ---, then the final output."))
	})

	It("is asked for again when it is malformed, at the cost of an iteration", func() {
		r := newRig(searching, finished, "verification:\n  completness: ✓ all\n---\nx", docs(verified, report))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"unknown-part", ""}))
		Expect(r.asked(4)).To(HavePrefix("That was not accepted: line 2, column 3: "))
	})

	It("may come before the output, in an answer of its own", func() {
		r := newRig(searching, docs(finished, verified), report)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(res.Output).To(Equal(report))
		Expect(refused(res)).To(Equal([]string{""}))
	})

	It("is asked for again with the output where the answer lacks that", func() {
		r := newRig(searching, finished, verified, report)
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"incomplete-end", ""}))
		Expect(r.asked(4)).To(HavePrefix("That was not accepted: the answer has no output (rule incomplete-end)"))
	})

	It("does not allow another action", func() {
		r := newRig(searching, finished, reading, docs(verified, report))
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusDone))
		Expect(refused(res)).To(Equal([]string{"already-ended", ""}))
		Expect(r.set.done).To(HaveLen(1))
	})

	It("may still find that a person is needed", func() {
		r := newRig(searching, finished, deciding("escalate", "trigger: ambiguity"))
		Expect(r.run().Status).To(Equal(react.StatusEscalate))
	})

	It("leaves a part done when it never comes, and a question when the output does not come either", func() {
		r := newRig(searching, docs(finished, verified), "", "", "")
		r.options.MaxIterations = 2
		Expect(r.run().Trigger).To(Equal(react.Iterations))

		r = newRig(searching, docs(finished, doubtful, report), "nothing", "nothing")
		r.options.MaxIterations = 2
		res := r.run()
		Expect(res.Status).To(Equal(react.StatusPartial))
		Expect(res.Output).To(Equal(report))
		Expect(res.Missing).To(ConsistOf(HavePrefix("completeness: "), HavePrefix("the chain of verification: ")))
	})

	It("accepts the files that were read or that the task and the observations name", func() {
		r := newRig(searching, docs(finished, strings.Replace(verified, "src/login.go is", "src/login.go, go.mod and main.go are", 1), report))
		r.task.Do = "Audit what main.go calls."
		r.set.results["search"] = action.Result{Observation: found + "\ngo.mod: 2 modules"}
		Expect(r.run().Status).To(Equal(react.StatusDone))

		r = newRig(searching, docs(finished, strings.Replace(verified, "src/login.go is", "src/other.go is", 1), report))
		r.options.Revisions = -1
		Expect(r.run().Missing).To(ConsistOf(ContainSubstring("src/other.go")))
	})

	Describe("of an output with a schema", func() {
		const schema = `{"type": "object", "required": ["findings"], "additionalProperties": false, "properties": {"findings": {"type": "array", "items": {"type": "object", "properties": {"line": {"type": "integer"}}}}}}`

		DescribeTable("finds the value",
			func(output, value string) {
				r := newRig(searching, docs(finished, verified, output))
				r.agent.Contract.Output = []byte(schema)
				res := r.run()
				Expect(res.Status).To(Equal(react.StatusDone), "%s", res.Details)
				Expect(res.Value).To(MatchJSON(value))
			},
			Entry("bare JSON", `{"findings": [{"line": 12}]}`, `{"findings": [{"line": 12}]}`),
			Entry("JSON in a fence", "```json\n{\"findings\": []}\n```\n", `{"findings": []}`),
			Entry("JSON in a fence, with words around it", "Here it is:\n\n~~~\n{\"findings\": []}\n~~~\nThat is all.\n", `{"findings": []}`),
			Entry("the fence that matches, of two", "```json\n{\"x\": 1}\n```\nand\n```json\n{\"findings\": []}\n```\n", `{"findings": []}`),
			Entry("JSON below a comment", "# Final output\n{\"findings\": []}", `{"findings": []}`),
			Entry("YAML", "findings:\n  - line: 12\n    note: eval\n", `{"findings": [{"line": 12, "note": "eval"}]}`),
			Entry("YAML with a date", "findings:\n  - line: 12\n    note: 2026-01-02\n", `{"findings": [{"line": 12, "note": "2026-01-02"}]}`),
			Entry("YAML in a fence", "```yaml\nfindings: []\n```", `{"findings": []}`),
		)

		DescribeTable("fails if the value does not match, and names the place",
			func(output, finding string) {
				r := newRig(searching, docs(finished, verified, output), docs(verified, `{"findings": []}`))
				r.agent.Contract.Output = []byte(schema)
				res := r.run()
				Expect(res.Status).To(Equal(react.StatusDone))
				Expect(refused(res)).To(Equal([]string{"unverified", ""}))
				Expect(r.asked(3)).To(ContainSubstring("correctness: "))
				Expect(r.asked(3)).To(ContainSubstring(finding))
				Expect(r.emitted(event.Verdict, "verification")[0].Attrs).To(HaveKeyWithValue("correctness", false))
			},
			Entry("another type", `{"findings": [{"line": "12"}]}`, "/findings/0/line"),
			Entry("a key that lacks", `{}`, "findings"),
			Entry("a key too many", "findings: []\nmore: 1\n", "more"),
			Entry("text", "One finding.", "neither JSON nor YAML"),
			Entry("JSON that is cut", `{"findings": [`, "neither JSON nor YAML"),
		)

		It("takes a text where the schema asks for one", func() {
			r := newRig(searching, docs(finished, verified, "# Notes\n\nAll well: yes.\n"))
			r.agent.Contract.Output = []byte(`{"type": "string", "minLength": 3}`)
			res := r.run()
			Expect(res.Status).To(Equal(react.StatusDone), "%s", res.Details)
			Expect(string(res.Value)).To(Equal(`"# Notes\n\nAll well: yes."`))
		})

		It("is not held against more than a megabyte", func() {
			r := newRig(searching, docs(finished, verified, strings.Repeat("[", 2<<20)))
			r.agent.Contract.Output = []byte(schema)
			r.options.Revisions = -1
			Expect(r.run().Missing).To(ConsistOf("correctness: the output has 2097152 bytes; at most 1048576 can be held against the schema"))
		})

		DescribeTable("makes no call with a schema that cannot be used, and fetches none", func(schema, message string) {
			r := newRig(searching, docs(finished, verified, "{}"))
			r.agent.Contract.Output = []byte(schema)
			res := r.run()
			Expect(res.Err).To(MatchError(react.ErrAgent))
			Expect(res.Details).To(ContainSubstring(message))
			Expect(r.requests).To(BeEmpty())
		},
			Entry("of another place", `{"$ref": "http://127.0.0.1:1/schema.json"}`, "127.0.0.1"),
			Entry("of a file", `{"$ref": "file:///etc/passwd"}`, "passwd"),
			Entry("that is none", `{"type": 7}`, "schema"),
		)
	})
})
