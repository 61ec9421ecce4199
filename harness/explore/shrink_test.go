package explore_test

import (
	"context"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	supervise "github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
)

var _ = Describe("A failure", func() {
	It("of a pair is shrunk to the fault that violates the invariant", func() {
		r := run(write(twoCalls+"invariants: ['calls.errors.all(kind, kind != \"malformed\")']\n"), only(result.Pairs))
		failed := 0
		for _, c := range r.Cells {
			if c.Outcome == result.Failed {
				failed++
				Expect(c.Shrunk).To(HaveLen(1))
				Expect(c.Perturb).To(ContainElement(c.Shrunk[0]))
				Expect(c.Command).To(Equal("rehearse run " + r.File + " --perturb '" + c.Shrunk[0] + "'"))
			}
		}
		Expect(failed).To(BeNumerically(">", 3))
	})

	It("that needs both faults keeps both", func() {
		r := run(write(twoCalls+"invariants: ['run.perturbed < 2']\n"), only(result.Pairs))
		i := slices.IndexFunc(r.Cells, func(c result.Cell) bool { return c.Outcome == result.Failed })
		Expect(i).NotTo(Equal(-1))
		c := r.Cells[i]
		Expect(c.Perturb).To(HaveLen(2))
		Expect(c.Shrunk).To(Equal(c.Perturb))
		Expect(strings.Count(c.Command, " --perturb ")).To(Equal(2))
	})

	It("is not shrunk to a run that violates something else", func() {
		r := run(write(twoCalls+"invariants: ['run.perturbed < 2', 'calls.errors.all(kind, kind != \"malformed\")']\n"), only(result.Pairs))
		both := 0
		for _, c := range r.Cells {
			if c.Outcome == result.Failed && len(c.Findings) == 2 {
				both++
				Expect(c.Shrunk).To(Equal(c.Perturb))
			}
		}
		Expect(both).To(BeNumerically(">", 3))
	})

	It("keeps as many repetitions as the violation needs", func() {
		r := run(write(twoCalls+"invariants: ['calls.failed < 2']\n"), only(result.Faults, result.Outages))
		Expect(cell(r, "call=1:timeout,times=2").Shrunk).To(Equal([]string{"call=1:timeout,times=2"}))
	})

	It("is shrunk to a round latency", func() {
		r := run(write(twoCalls+"invariants: [latency.max < 5.0]\n"), only(result.Latency))
		Expect(cell(r, "call=1:latency,first=59.999999999s").Shrunk).To(Equal([]string{"call=1:latency,first=10s"}))
	})

	It("of a group of crashes is shrunk to the write that causes it", func() {
		sc := load("persist/ten-hours")[0]
		sc.Drive.Options.(*supervise.Options).Copies = 170 // 246 writes, of which four or five share a run
		sc.Expect.That, sc.Expect.Calls = nil, nil
		sc.Invariants = []string{
			"// unharmed: nothing happens at the 182nd write\n!events.exists(e, e.name == 'perturbation' && e.n == 182)",
		}
		groups := only(result.Crashes)
		groups.MaxRuns = 6 // the first 2 of each kind
		r := run(sc, groups)
		Expect(r.Golden.Writes).To(Equal(246))
		Expect(cell(r, "write=1:crash-before,every=60").Outcome).To(Equal(result.Survived))
		failed := cell(r, "write=2:crash-before,every=60")
		Expect(failed.Outcome).To(Equal(result.Failed))
		Expect(failed.Fired).To(BeNumerically(">", 2))
		Expect(failed.Shrunk).To(Equal([]string{"write=182:crash-before"}))
	})

	It("with two violations keeps both while it is shrunk", func() {
		r := run(write(twoCalls+"invariants: ['run.perturbed < 2 || calls.failed == 0', 'calls.failed < 2']\n"), only(result.Outages, result.Faults))
		c := cell(r, "call=1:timeout,times=2")
		Expect(c.Findings).To(HaveLen(2))
		Expect(c.Shrunk).To(Equal(c.Perturb), "a single timeout violates neither")
	})

	It("is recorded after the golden run", func() {
		sink := &memory{}
		sc := write(twoCalls + "invariants: ['calls.errors.all(kind, kind != \"malformed\")']\n")
		r := run(sc, explore.Options{Language: kinds.Language(), Sink: sink})
		Expect(sink.heads[0].Perturb).To(BeEmpty())
		Expect(sink.trials[0].Verdict).To(Equal(gate.Pass))
		commands := map[string]bool{}
		for _, c := range r.Cells {
			if c.Outcome == result.Failed {
				commands[c.Command] = true
			}
		}
		Expect(sink.trials).To(HaveLen(1 + len(commands)))
		for i, j := range sink.trials {
			Expect(j.Lines).NotTo(BeEmpty())
			if i > 0 {
				Expect(j.Verdict).To(Equal(gate.Fail))
				Expect(commands).To(HaveKey(explore.Command(&sc, sink.heads[i].Perturb)))
			}
		}
	})

	It("to write to the sink ends the exploration", func() {
		_, err := explore.Run(context.Background(), write(twoCalls), explore.Options{Language: kinds.Language(), Env: newEnv(), Sink: full{}})
		Expect(err).To(MatchError(ContainSubstring("no space left")))
	})
})
