package main

import (
	"bytes"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/reports"
)

const (
	passedSpecs = `[{"SpecReports": [{"LeafNodeType": "It", "LeafNodeText": "names the missing field", "LeafNodeLabels": ["H-03"], "State": "passed"}]}]`
	failedSpecs = `[{"SpecReports": [{"LeafNodeType": "It", "LeafNodeText": "fails", "LeafNodeLabels": ["H-02"], "State": "failed"}]}]`
)

var _ = Describe("the command", Label("H-05"), func() {
	var folder string
	BeforeEach(func() { folder = GinkgoT().TempDir() })

	file := func(name, text string) string {
		GinkgoHelper()
		path := filepath.Join(folder, name)
		Expect(os.WriteFile(path, []byte(text), 0o600)).To(Succeed())
		return path
	}
	report := func(altered string) string {
		return file("report.json", `{"schema": "`+reports.Schema+`"`+altered+`, "scenarios": [
			{"name": "loop/no-progress", "verdict": "pass", "proves": ["L-05"]}, {"name": "loop/other", "verdict": "fail"}]}`)
	}
	trace := func(args ...string) (int, string, string) {
		var stdout, stderr bytes.Buffer
		code := run(args, &stdout, &stderr)
		return code, stdout.String(), stderr.String()
	}

	It("lists requirements with the scenarios that prove them", func() {
		code, out, errs := trace(report(""))
		Expect(code).To(Equal(exitProven), errs)
		Expect(out).To(MatchRegexp(`(?m)^Proven\n(.*\n)+L-05 .* loop/no-progress$`))
		Expect(out).To(And(ContainSubstring("Not covered"), MatchRegexp(`incomplete requirements.yaml: 1 of 67 requirements\s+proven,\s+66\s+not\s+covered`)))
	})
	It("adds the results of specs, and fails if a spec refutes a requirement", func() {
		code, out, errs := trace("-specs", file("passed.json", passedSpecs), report(""))
		Expect(code).To(Equal(exitProven), errs)
		Expect(out).To(ContainSubstring("names the missing field"))

		both := file("failed.json", failedSpecs) + "," + file("passed.json", passedSpecs)
		code, out, _ = trace("-specs", both, report(""))
		Expect(code).To(Equal(exitRefuted))
		Expect(out).To(MatchRegexp(`(?m)^Failing\n(.*\n)+H-02 .* fails \(fail\)$`))
	})
	DescribeTable("rejects invalid arguments", func(want string, args func() []string) {
		code, out, errs := trace(args()...)
		Expect(code).To(Equal(exitUsage))
		Expect(out).To(BeEmpty())
		Expect(errs).To(ContainSubstring(want))
	},
		Entry("no report", "the report.json of a run", func() []string { return nil }),
		Entry("specs that do not exist", "none.json", func() []string { return []string{"-specs", "none.json", report("")} }),
		Entry("specs that are not Ginkgo's", "wrong.json", func() []string {
			return []string{"-specs", file("wrong.json", `{"no": "list"`), report("")}
		}),
		Entry("an altered recording", "was altered", func() []string { return []string{report(`, "altered": true`)} }),
		Entry("another JSON file", "the schema is", func() []string { return []string{file("other.json", "{}")} }),
	)
})
