package drive_test

import (
	"context"
	"fmt"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// departing returns the record and the facts of trial 1 with perturbations.
func departing(d drive.Driver, texts ...string) (record.Trial, measure.Facts) {
	GinkgoHelper()
	var ps []perturb.Perturbation
	for _, text := range texts {
		p, err := perturb.Parse(text)
		Expect(err).NotTo(HaveOccurred())
		ps = append(ps, p)
	}
	perturbed, err := d.Perturbed(ps)
	Expect(err).NotTo(HaveOccurred())
	tr, _ := perturbed.Trial(context.Background(), 1)
	Expect(tr.End.HarnessError).To(BeEmpty())
	return tr, measure.Trial(perturbed.Head(), tr, nil, kinds.Language().Extensions())
}

// wholeInterview is the golden path of an interview.
const wholeInterview = "drive: {interview: {persona: tom}}\nbackend: {model: gpt-6.1-terra, cast: tom}\nexpect: {status: finished}\n"

var _ = Describe("A perturbed interview", func() {
	var (
		d      drive.Driver
		golden measure.Facts
	)
	BeforeEach(func() {
		d = driver(newEnv(), wholeInterview)
		_, golden = departing(d)
	})

	// same expects the result of the golden path.
	same := func(f measure.Facts, text string) {
		GinkgoHelper()
		Expect(f.Run.Status).To(Equal("finished"), "%s: %s", text, f.Run.Details)
		Expect(f.Run.Violations).To(BeEmpty(), text)
		Expect(interviewOf(f).Answers).To(Equal(interviewOf(golden).Answers), text)
		Expect(interviewOf(f).QueuedCalls).To(BeZero(), text)
	}

	It("lists its points of perturbation", func() {
		Expect(golden.Run.Writes).To(BeNumerically(">", golden.Calls.Total))
		points := d.Points()
		Expect(points.NoWrites).To(BeEmpty())
		Expect(points.NoTurns).To(BeEmpty())
	})

	It("survives a crash and a full disk at each write", Label("I-03", "I-18"), func() {
		kinds := []string{perturb.CrashBefore, perturb.CrashAfter, perturb.DiskFull}
		for n := range golden.Run.Writes {
			text := fmt.Sprintf("write=%d:%s", n+1, kinds[n%len(kinds)])
			_, f := departing(d, text)
			same(f, text)
			Expect(f.Run.Struck).To(Equal(map[string]int{text: 1}))
			Expect(f.Script.Unfired).To(BeEmpty())
			Expect(f.Calls.Total).To(BeNumerically("<=", golden.Calls.Total+1), text)
		}
	})

	It("survives every action of the user at each turn", Label("I-18"), func() {
		kinds := []string{
			perturb.Double, perturb.Concurrent, perturb.Reload, perturb.Empty, perturb.Long, perturb.Stale, perturb.Ahead, perturb.Restart,
		}
		for n := 3; n <= golden.Run.Iterations; n++ {
			text := fmt.Sprintf("turn=%d:%s", n, kinds[n%len(kinds)])
			_, f := departing(d, text)
			same(f, text)
			Expect(f.Run.Struck).To(Equal(map[string]int{text: 1}))
			Expect(f.Script.Unfired).To(BeEmpty())
			Expect(f.Calls.Total).To(Equal(golden.Calls.Total), text)
		}
	})

	It("can begin twice, and after a restart", func() {
		for _, text := range []string{"turn=1:double", "turn=1:restart"} {
			_, f := departing(d, text)
			same(f, text)
			Expect(f.Run.Struck).To(HaveKey(text))
		}
	})

	It("counts a repeated submission as one turn", func() {
		_, f := departing(d, "turn=5:double", "turn=6:concurrent", "turn=400:reload")
		Expect(f.Script.Unfired).To(ConsistOf("turn=400:reload: there were 50 submissions"))
		Expect(interviewOf(f).Repeated).To(Equal(2))
	})

	DescribeTable("reports perturbations that did not fire", func(text, why string) {
		_, f := departing(d, text)
		same(f, text)
		Expect(f.Run.Struck).To(BeEmpty())
		Expect(f.Script.Unfired).To(ConsistOf(text + ": " + why))
	},
		Entry("nothing is shown before the first turn", "turn=1:reload", "it needs a message that was shown before"),
		Entry("no message comes before the first", "turn=2:stale", "it needs a message that was shown before"),
		Entry("there are fewer turns", "turn=400:double", "there were 50 submissions"),
		Entry("there are fewer writes", "write=400:crash-after", "there were 74 writes"),
	)

	It("survives repeated crashes", func() {
		_, f := departing(d, "write=2:crash-before,every=3")
		same(f, "every third write")
		Expect(f.Run.Struck["write=2:crash-before,every=3"]).To(BeNumerically(">", 20))
	})

	It("reports that nothing can be stored, and can be resumed", func() {
		_, f := departing(d, "write=9:disk-full,every=1")
		Expect(f.Run.Status).To(Equal("error"))
		Expect(f.Run.Details).To(HavePrefix("store_failed: "))
		Expect(f.Run.Violations).To(BeEmpty())
		Expect(f.Run.Resumed).To(Equal("finished"))

		_, f = departing(d, "write=1:crash-before,every=1")
		Expect(f.Run.Details).To(HavePrefix("start: "))
		Expect(f.Run.Resumed).To(Equal("finished"))
	})

	It("can be resumed after its end, which does not change its measures", func() {
		tr, f := departing(d, "call=5:status,times=3")
		Expect(f.Run.Status).To(Equal("failed"))
		Expect(f.Run.Resumed).To(Equal("finished"))
		Expect(f.Run.Violations).To(BeEmpty())
		Expect(f.Calls.Total).To(Equal(7), "four, and three attempts at the fifth")
		Expect(interviewOf(f).Answers).To(BeNumerically("<", interviewOf(golden).Answers))
		Expect(f.Run.Writes).To(BeNumerically("<", golden.Run.Writes))
		Expect(f.Run.Cause).To(Equal("unavailable"))
		Expect(f.Run.Details).To(ContainSubstring(f.Run.Cause))
		Expect(tr.Exchanges).To(HaveLen(7))
		Expect(tr.End.Duration.Seconds()).To(BeNumerically("<", golden.Run.Duration))
	})

	It("gives the same recording twice", func() {
		one, _ := departing(d, "write=30:crash-after", "turn=9:concurrent", "call=5:status,times=3")
		two, _ := departing(d, "write=30:crash-after", "turn=9:concurrent", "call=5:status,times=3")
		Expect(encoded(one)).To(Equal(encoded(two)))
	})
})

var _ = Describe("A perturbed supervisor", func() {
	var (
		d      drive.Driver
		golden measure.Facts
	)
	BeforeEach(func() {
		text := three + indent("looks:\n  tests: [{verdict: fail}, {verdict: pass}]") +
			"backend:\n  model: gpt-4.1-mini\n  rules:\n    - {text: DONE, latency: 10s}\nexpect: {status: complete}\n"
		d = driver(newEnv(), text)
		_, golden = departing(d)
		Expect(golden.Run.Status).To(Equal("complete"))
		Expect(superviseOf(golden).Open).To(BeZero())
		Expect(superviseOf(golden).Planned).To(Equal(3))
		Expect(superviseOf(golden).Done).To(Equal(4), "including the task of a failed check")
		Expect(superviseOf(golden).Stored).To(BeNumerically(">", 8))
	})

	It("survives a crash at each write, with the journal of the golden path", Label("P-05"), func() {
		for n := range golden.Run.Writes {
			for _, do := range []string{perturb.CrashBefore, perturb.CrashAfter} {
				text := fmt.Sprintf("write=%d:%s", n+1, do)
				_, f := departing(d, text)
				Expect(f.Run.Status).To(Equal("complete"), text)
				Expect(f.Run.Violations).To(BeEmpty(), text)
				Expect(f.Run.Struck).To(Equal(map[string]int{text: 1}))
				Expect(superviseOf(f).Journal).To(Equal(superviseOf(golden).Journal), text)
				Expect(superviseOf(f).Stored).To(Equal(superviseOf(golden).Stored), text)
			}
		}
	})

	It("ends when the disk is full, reports that with the open tasks, and can be resumed", Label("P-05"), func() {
		for n := range golden.Run.Writes {
			text := fmt.Sprintf("write=%d:disk-full", n+1)
			tr, f := departing(d, text)
			Expect(f.Run.Status).To(Equal("error"), text)
			Expect(f.Run.Details).To(ContainSubstring("no space left"), text)
			Expect(f.Run.Violations).To(BeEmpty(), text)
			Expect(f.Run.Resumed).To(Equal("complete"), text)
			Expect(superviseOf(f).Done+superviseOf(f).Open).To(Equal(superviseOf(f).Tasks), text)
			Expect(tr.Calls).To(HaveLen(len(tr.Exchanges)), text)
		}
	})

	It("survives repeated crashes and full disks", Label("P-05"), func() {
		for _, do := range []string{perturb.CrashBefore, perturb.CrashAfter, perturb.DiskFull} {
			text := fmt.Sprintf("write=3:%s,every=4", do)
			_, f := departing(d, text)
			Expect(f.Run.Status).To(Equal("complete"), text)
			Expect(f.Run.Violations).To(BeEmpty(), text)
			Expect(f.Run.Struck[text]).To(BeNumerically(">", 1))
			Expect(superviseOf(f).Journal).To(Equal(superviseOf(golden).Journal), text)
		}
	})

	It("is abandoned by the harness if it can never store anything", func() {
		for _, do := range []string{perturb.CrashBefore, perturb.DiskFull} {
			p := perturb.Perturbation{At: perturb.Write, N: 5, Do: do, Every: 1}
			perturbed, err := d.Perturbed([]perturb.Perturbation{p})
			Expect(err).NotTo(HaveOccurred())
			tr, _ := perturbed.Trial(context.Background(), 1)
			Expect(tr.End.HarnessError).To(ContainSubstring("inject less often"))
		}
	})

	It("has no turns to perturb", func() {
		p, err := perturb.Parse("turn=2:double")
		Expect(err).NotTo(HaveOccurred())
		_, err = d.Perturbed([]perturb.Perturbation{p})
		Expect(err).To(MatchError(ContainSubstring(d.Points().NoTurns)))
	})

	It("can be resumed after a task was blocked", func() {
		_, f := departing(d, "call=2:refusal")
		Expect(f.Run.Status).To(Equal("blocked"))
		Expect(f.Run.Details).To(ContainSubstring("refused"))
		Expect(f.Run.Resumed).To(Equal("complete"))
		Expect(superviseOf(f).Open).To(BeNumerically(">", 0))
		Expect(f.Calls.Total).To(BeNumerically("<=", 4))
		Expect(strings.Join(superviseOf(f).Order, " ")).NotTo(ContainSubstring("b c"), "that was done afterwards")
	})

	It("gives the same recording twice", func() {
		one, _ := departing(d, "write=5:disk-full", "call=2:refusal")
		two, _ := departing(d, "write=5:disk-full", "call=2:refusal")
		Expect(encoded(one)).To(Equal(encoded(two)))
	})
})
