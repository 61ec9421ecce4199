package gate_test

import (
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("Judge of snapshots", Label("H-04"), func() {
	against := func(agent string, stored map[string]string, got string) []gate.Finding {
		GinkgoHelper()
		s := expect.Snapshot{Text: "snapshots/a.snap", Stored: stored}
		j, err := gate.ForScenario(nil, &record.Scenario{Name: "refund", Agent: agent, Expect: expect.Expect{Snapshot: &s}})
		Expect(err).NotTo(HaveOccurred())
		return j.Judge(facts(func(f *measure.Facts) { f.Snapshots = map[string]string{"text": got} }))
	}

	It("passes an equal snapshot", func() {
		Expect(against("command", map[string]string{"text": "a\n"}, "a\n")).To(BeEmpty())
	})

	It("fails without one, and names the command that writes it", func() {
		found := against("command", nil, "a\n")
		Expect(found).To(HaveLen(1))
		Expect(found[0]).To(Equal(gate.Finding{
			Severity: gate.Failing, Rule: "snapshot", Message: "the snapshot snapshots/a.snap does not exist",
			At: "expect.snapshot", Accept: "rehearse run refund --update",
		}))
		Expect(against("function", nil, "a\n")[0].Accept).To(Equal("go test -update"))
	})

	DescribeTable("shows the lines that differ",
		func(want, got, evidence string) {
			found := against("command", map[string]string{"text": want}, got)
			Expect(found).To(HaveLen(1))
			Expect(found[0].Message).To(Equal("the final text differs from the snapshot snapshots/a.snap"))
			Expect(found[0].Accept).To(Equal("rehearse run refund --update"))
			Expect(found[0].Evidence).To(Equal(evidence))
			Expect(found[0].Expected).To(Equal(want))
			Expect(found[0].Actual).To(Equal(got))
		},
		Entry("in the middle", "a\nb\nc\n", "a\nx\nc\n", "from line 2:\n- b\n+ x"),
		Entry("at the end", "a\n", "a\nb\n", "from line 2:\n+ b"),
		Entry("repeated", "a\na\n", "a\n", "from line 2:\n- a"),
		Entry("everywhere", "a", "b", "from line 1:\n- a\n+ b"),
		Entry("in many lines", "", lines(10), "from line 1:\n+ "+strings.Join(strings.Split(lines(8), "\n")[:8], "\n+ ")+"\n+ … 2 lines more"),
	)
})

// lines returns n different lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "line %d\n", i+1)
	}
	return b.String()
}
