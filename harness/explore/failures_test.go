package explore_test

import (
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// breaks returns a cell with a violation and an outcome.
func breaks(outcome result.Outcome, perturb ...string) result.Cell {
	return result.Cell{Family: result.Pairs, Perturb: perturb, Outcome: outcome, Findings: []gate.Finding{
		{Severity: gate.Failing, Rule: gate.InvariantRule, Message: "few: one call will do"},
	}}
}

var _ = Describe("The failures of an exploration", func() {
	It("are the violations of failed runs", func() {
		failed, _ := explore.Failures([]result.Cell{
			breaks(result.Unfired, "call=1:timeout"),
			breaks(result.Failed, "call=2:timeout"),
			breaks(result.Errored, "call=3:timeout"),
		})
		Expect(failed).To(Equal([]int{1}), "a run that shows nothing breaks nothing")
		Expect(explore.Broken([]gate.Finding{
			{Severity: gate.Info, Rule: "unused-line", Message: "noted"},
			{Severity: gate.Broken, Rule: "harness", Message: "not judged"},
		})).To(BeEmpty())
		Expect(explore.Broken([]gate.Finding{{Severity: gate.Failing, Rule: "promise", Message: "lost"}})).To(HaveLen(1))
	})

	It("try each smaller perturbation once, and known ones never", func() {
		cells := []result.Cell{
			breaks(result.Failed, "call=1:timeout", "call=2:empty-text"),
			breaks(result.Failed, "call=1:timeout", "call=3:refusal"),
		}
		_, candidates := explore.Failures(cells)
		Expect(candidates).To(ConsistOf("call=1:timeout", "call=2:empty-text", "call=3:refusal"))
		_, candidates = explore.Failures(cells, "call=1:timeout", "call=3:refusal")
		Expect(candidates).To(ConsistOf("call=2:empty-text"))
	})

	It("are recorded once for each command, up to a limit", func() {
		var cells []result.Cell
		for n := 1; n <= 300; n++ {
			c := breaks(result.Failed, fmt.Sprintf("call=%d:timeout", n))
			c.Shrunk, c.Command = c.Perturb, fmt.Sprint("rehearse run ", n)
			cells = append(cells, c, c, breaks(result.Unfired, "call=1:refusal"))
		}
		runs, err := explore.Smallest(cells)
		Expect(err).NotTo(HaveOccurred())
		Expect(runs).To(HaveLen(200))
		Expect(runs[0]).To(Equal("call=1:timeout"))
		Expect(runs[199]).To(Equal("call=200:timeout"))
		cells[0].Shrunk = []string{"call=one"}
		_, err = explore.Smallest(cells)
		Expect(err).To(HaveOccurred())
	})

	DescribeTable("are prolonged only if a retry healed them",
		func(retried, ended, healed bool) {
			p, err := perturb.Parse("call=1:slow-drip")
			Expect(err).NotTo(HaveOccurred())
			Expect(explore.Healed(p, retried, ended)).To(Equal(healed))
		},
		Entry("healed by a retry", true, false, true),
		Entry("survived without a retry", false, false, false),
		Entry("retried in vain", true, true, false),
		Entry("fatal", false, true, false),
	)
})
