package explore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gleak"

	supervise "github.com/rehearse-dev/rehearse/agents/persist/kind"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/redact"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// newEnv is what an exploration shares; it is closed after the spec, when no
// goroutine may be left.
func newEnv() *drive.Env {
	GinkgoHelper()
	before := gleak.Goroutines()
	prices, err := price.Default()
	Expect(err).NotTo(HaveOccurred())
	env := &drive.Env{Makers: kinds.All().Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redact.New(nil)}
	DeferCleanup(func() {
		Expect(env.Close()).To(Succeed())
		Eventually(gleak.Goroutines).ShouldNot(gleak.HaveLeaked(before))
	})
	return env
}

// load reads scenarios, shipped ones or files.
func load(pattern string) []scenarios.Scenario {
	GinkgoHelper()
	set, found := scenarios.Load([]string{pattern}, scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant})
	Expect(found).To(BeEmpty())
	return set
}

// write puts a scenario into a file.
func write(text string) scenarios.Scenario {
	GinkgoHelper()
	file := filepath.Join(GinkgoT().TempDir(), "spec.yaml")
	Expect(os.WriteFile(file, []byte(text), 0o600)).To(Succeed())
	return load(file)[0]
}

// run explores a scenario.
func run(sc scenarios.Scenario, opts explore.Options) result.Exploration {
	GinkgoHelper()
	opts.Env = newEnv()
	r, err := explore.Run(context.Background(), sc, opts)
	Expect(err).NotTo(HaveOccurred())
	return r
}

// cell is the one with the perturbations.
func cell(r result.Exploration, perturb ...string) result.Cell {
	GinkgoHelper()
	for _, c := range r.Cells {
		if strings.Join(c.Perturb, " ") == strings.Join(perturb, " ") {
			return c
		}
	}
	Fail(fmt.Sprintf("no cell %v among %d", perturb, len(r.Cells)))
	return result.Cell{}
}

// memory is a sink that keeps everything.
type memory struct {
	heads  []record.Scenario
	trials []harness.Judged
}

func (m *memory) Scenario(s record.Scenario) error { m.heads = append(m.heads, s); return nil }
func (m *memory) Trial(j harness.Judged) error     { m.trials = append(m.trials, j); return nil }

// twoCalls is a loop that tries each call again once.
const twoCalls = `name: spec/two-calls
drive:
  loop: {prompt: Fix it and say DONE., error_limit: 2, call_timeout: 1m}
backend:
  model: gpt-4.1-mini
  replies:
    - {text: "I look at it first.", latency: 1s}
    - {text: "Fixed.\nDONE", latency: 1s}
expect: {status: done, calls: 2}
`

var only = func(f ...result.Family) explore.Options {
	return explore.Options{Language: kinds.Language(), Families: f}
}

var _ = Describe("Run", func() {
	It("tells how an agent comes through each perturbation, with proof that it happened", func() {
		r := run(write(twoCalls), explore.Options{Language: kinds.Language(), Tool: "rehearse test", Workers: 2})
		Expect(r.Schema).To(Equal(result.ExplorationSchema))
		Expect(r.Tool).To(Equal("rehearse test"))
		Expect(r.Scenario).To(Equal("spec/two-calls"))
		Expect(r.Agent).To(Equal("loop"))
		Expect(r.Seed).To(BeEquivalentTo(1))
		Expect(r.Golden.Status).To(Equal("done"))
		Expect(r.Golden.Calls.Total).To(Equal(2))
		Expect(r.Calls).To(Equal([]result.Call{{N: 1, Purpose: "loop"}, {N: 2, Purpose: "loop"}}))
		Expect(r.Invariants).To(Equal(kinds.Language().Invariants("loop")))
		Expect(r.Left).To(Equal([]string{"crash: the agent keeps nothing on disk", "user: nobody takes turns with the agent"}))

		survived := cell(r, "call=2:status,status=503")
		Expect(survived.Outcome).To(Equal(result.Survived))
		Expect(survived.Fired).To(Equal(1))
		Expect(survived.Calls).To(Equal(3))
		Expect(survived.Findings).To(BeEmpty())

		degraded := cell(r, "call=1:status,status=503,times=2")
		Expect(degraded.Family).To(Equal(result.Outages))
		Expect(degraded.Outcome).To(Equal(result.Degraded))
		Expect(degraded.Status).To(Equal("error"))
		Expect(degraded.Details).To(ContainSubstring("unavailable"))
		Expect(degraded.Fired).To(Equal(2))

		unfired := cell(r, "call=1:missing-done")
		Expect(unfired.Outcome).To(Equal(result.Unfired))
		Expect(unfired.Fired).To(Equal(0))
		Expect(unfired.Findings).To(HaveLen(1))
		Expect(unfired.Findings[0].Evidence).To(ContainSubstring("it cannot show in that answer"))

		just, late := cell(r, "call=1:latency,first=59.999999999s"), cell(r, "call=1:latency,first=1m0.000000001s")
		Expect(just.Calls).To(Equal(2), "answered a tick before the limit")
		Expect(late.Calls).To(Equal(3), "cut off a tick after it, and made again")
		Expect(just.Outcome).To(Equal(result.Survived))

		Expect(cell(r, "call=2:text-truncated").Outcome).To(Equal(result.Degraded), "nobody says DONE any more")
		Expect(r.Covered).To(MatchRegexp(`^\d+ pairs cover \d+ of \d+ pairs of faults and 1 of 1 pairs of calls$`))
		for _, c := range r.Cells {
			Expect(c.Outcome == result.Unfired || c.Fired > 0).To(BeTrue(), "%v", c)
			Expect(c.Command).To(BeEmpty())
		}
	})

	It("lets faults last until the agent gives up, also where they were not tried by themselves", func() {
		r := run(write(twoCalls), only(result.Outages))
		both := run(write(twoCalls), only(result.Faults, result.Outages))
		var lasting []string
		for _, c := range both.Cells {
			if c.Family == result.Outages {
				lasting = append(lasting, c.Perturb...)
			}
		}
		Expect(lasting).To(ContainElements("call=1:timeout,times=2", "call=2:status,status=503,times=2"))
		Expect(lasting).NotTo(ContainElement(ContainSubstring("slow-drip")), "it brings the answer")
		for _, c := range r.Cells {
			Expect(c.Outcome).To(Equal(result.Degraded), "%v", c)
			Expect(lasting).To(ContainElements(c.Perturb))
		}
		Expect(r.Cells).To(HaveLen(len(lasting)))
		once := run(write(strings.Replace(twoCalls, "error_limit: 2", "error_limit: 1", 1)), only(result.Outages))
		Expect(once.Cells).NotTo(BeEmpty())
		for _, c := range once.Cells {
			Expect(c.Fired).To(BeNumerically(">", 1), "what strikes once is a fault, and no outage: %v", c.Perturb)
		}
	})

	It("explores a whole interview", func() {
		r := run(load("interview/golden-lea")[0], explore.Options{Language: kinds.Language(), Workers: 2, MaxRuns: 24, Families: []result.Family{result.Texts}})
		Expect(r.Calls).To(HaveLen(24))
		Expect(r.Calls[0].Purpose).To(Equal("preamble"))
		Expect(r.Calls[1].Label).NotTo(BeEmpty())
		Expect(r.NotRun).To(Equal(24*4 - 24))
		Expect(r.Count()).To(Equal(map[result.Outcome]int{result.Survived: 24}))
	})

	It("has one result whatever the number of workers", func() {
		texts := map[string]bool{}
		for _, workers := range []int{0, 1, 4} {
			sc := write(twoCalls + "invariants: [run.iterations <= 2]\n")
			sc.File = "spec.yaml"
			data, err := json.Marshal(run(sc, explore.Options{Language: kinds.Language(), Workers: workers}))
			Expect(err).NotTo(HaveOccurred())
			texts[string(data)] = true
		}
		Expect(texts).To(HaveLen(1))
	})

	It("refuses a golden path that does not pass", func() {
		_, err := explore.Run(context.Background(), write(strings.Replace(twoCalls, "calls: 2", "calls: 3", 1)), explore.Options{Language: kinds.Language(), Env: newEnv()})
		var golden *explore.GoldenError
		Expect(errors.As(err, &golden)).To(BeTrue())
		Expect(golden.Verdict).To(Equal(gate.Fail))
		Expect(err).To(MatchError("the golden path spec/two-calls does not pass (fail): expected exactly 3 calls, saw 2; run it alone and fix it first"))
	})

	It("blames no perturbation for what the golden path breaks by itself", func() {
		sc := write(twoCalls + "invariants: [\"// few: one call will do\\ncalls.total <= 1\"]\n")
		told := 0
		_, err := explore.Run(context.Background(), sc, explore.Options{Language: kinds.Language(), Env: newEnv(), Progress: func(explore.Progress) { told++ }})
		Expect(err).To(MatchError("the golden path spec/two-calls violates this invariant without perturbations: few: one call will do; fix one of them first"))
		Expect(err).To(BeAssignableToTypeOf(&explore.GoldenError{}))
		Expect(told).To(Equal(1), "nothing but the golden path was driven")
	})

	It("holds the golden path to the invariants that ship, too", func() {
		golden := harness.Judged{Scenario: &record.Scenario{Name: "spec", Agent: "loop"}, Verdict: gate.Pass}
		golden.Facts.Run = measure.RunFacts{Status: "error", ExitCode: 1, Details: "virtual clock stalled"}
		Expect(explore.Sound(golden)).To(MatchError(ContainSubstring("spec violates this invariant without perturbations: never-hangs: ")))
		golden.Facts.Run.Details = "no answer within 1m (timeout)"
		Expect(explore.Sound(golden)).To(Succeed())
	})

	It("leaves the scenario's own perturbations and trials aside", func() {
		sc := write(strings.Replace(twoCalls, "expect: {status: done, calls: 2}", "perturb: ['call=1:timeout']\ntrials: 3", 1))
		r := run(sc, only(result.Texts))
		Expect(r.Golden.Calls.Total).To(Equal(2))
		Expect(r.Cells).To(HaveLen(8))
	})

	It("stops after as many runs as are asked for, and says what is missing", func() {
		r := run(write(twoCalls), explore.Options{Language: kinds.Language(), MaxRuns: 10, Families: []result.Family{result.Texts, result.Latency, result.Pairs}, Pairs: 5})
		Expect(r.Cells).To(HaveLen(10))
		Expect(r.NotRun).To(Equal(4*2 + 8 - 10 + 5))
		Expect(r.Stopped).To(Equal("the limit of 10 runs was reached"))
		Expect(r.Covered).To(HavePrefix("0 pairs cover 0 of "), "no pair was driven")
	})

	It("keeps what is done when the user interrupts", func() {
		ctx, cancel := context.WithCancel(context.Background())
		told := 0
		sc := write(twoCalls + "invariants: ['run.perturbed == 0']\n")
		r, err := explore.Run(ctx, sc, explore.Options{Language: kinds.Language(), Env: newEnv(), Workers: 2, Progress: func(p explore.Progress) {
			if p.Doing == "perturbations" {
				if told++; told == 3 {
					cancel()
				}
			}
		}})
		Expect(err).NotTo(HaveOccurred())
		Expect(len(r.Cells)).To(And(BeNumerically(">=", 3), BeNumerically("<", 66)))
		Expect(r.Stopped).To(Equal(result.UserInterrupt))
		Expect(len(r.Cells) + r.NotRun).To(BeNumerically(">=", 66))
		for _, c := range r.Cells {
			if c.Outcome == result.Failed {
				Expect(c.Command).NotTo(BeEmpty(), "what failed can be repeated all the same")
			}
		}
		r, err = explore.Run(ctx, sc, explore.Options{Language: kinds.Language(), Env: newEnv()})
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Stopped).To(Equal(result.UserInterrupt))
		Expect(r.Cells).To(BeEmpty())
	})

	It("tells its progress in the order of the plan", func() {
		var doing []string
		var cells []*result.Cell
		r := run(write(twoCalls+"invariants: ['run.perturbed == 0']\n"), explore.Options{Language: kinds.Language(), Workers: 2, Families: []result.Family{result.Texts}, Progress: func(p explore.Progress) {
			doing = append(doing, fmt.Sprintf("%s %d/%d", p.Doing, p.Done, p.Planned))
			if p.Cell != nil {
				cells = append(cells, p.Cell)
			}
		}})
		Expect(doing[:3]).To(Equal([]string{"golden path 0/1", "perturbations 1/8", "perturbations 2/8"}))
		Expect(doing[len(doing)-1]).To(Equal("shrinking 8/8"))
		Expect(cells).To(HaveLen(8))
		for i := range cells {
			Expect(cells[i].Perturb).To(Equal(r.Cells[i].Perturb))
		}
	})

	It("says what cannot be made here, and goes on", func() {
		sc := write(twoCalls)
		r := run(sc, only(result.Users, result.Crashes))
		Expect(r.Cells).To(BeEmpty())
		Expect(r.Left).To(HaveLen(2))
	})
})

var _ = Describe("An outcome", func() {
	unfired := gate.Finding{Severity: gate.Broken, Rule: "unfired-fault"}
	harnessed := gate.Finding{Severity: gate.Broken, Rule: "harness"}
	failing := gate.Finding{Severity: gate.Failing, Rule: gate.InvariantRule}
	ends := func(status string, code, calls, failed int) measure.Facts {
		return measure.Facts{
			Run:   measure.RunFacts{Status: status, ExitCode: code},
			Calls: measure.CallFacts{Total: calls, Failed: failed},
		}
	}
	well := ends("finished", 0, 3, 0)
	DescribeTable("is what findings and ending say",
		func(want result.Outcome, ended measure.Facts, found ...gate.Finding) {
			Expect(explore.OutcomeOf(found, ended, well)).To(Equal(want))
		},
		Entry("all as on the golden path", result.Survived, well),
		Entry("with a note", result.Survived, well, gate.Finding{Severity: gate.Info}),
		Entry("another status", result.Degraded, ends("left", 0, 3, 0)),
		Entry("another exit code", result.Degraded, ends("finished", 1, 3, 0)),
		Entry("a call that was made again", result.Survived, ends("finished", 0, 4, 1)),
		Entry("fewer calls that were answered", result.Degraded, ends("finished", 0, 3, 1)),
		Entry("a broken invariant", result.Failed, well, failing),
		Entry("a harness that could not tell", result.Errored, well, failing, harnessed),
		Entry("a run that was skipped", result.Errored, well, gate.Finding{Severity: gate.Skipped}),
		Entry("nothing happened, whatever else is found", result.Unfired, well, failing, harnessed, unfired),
	)

	It("counts what happened apart from the faults of the script itself", func() {
		own := strings.Replace(twoCalls, "latency: 1s}", "latency: 1s, fault: {kind: status, status: 503}}", 1)
		r := run(write(strings.Replace(own, "calls: 2", "calls: 3", 1)), only(result.Texts))
		Expect(r.Golden.Calls.Failed).To(Equal(1))
		Expect(cell(r, "call=2:text-reformat").Fired).To(Equal(1))
	})
})

var _ = Describe("A failure", func() {
	It("is shrunk to the fault of a pair that breaks the invariant", func() {
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

	It("that takes both faults keeps both", func() {
		r := run(write(twoCalls+"invariants: ['run.perturbed < 2']\n"), only(result.Pairs))
		i := slices.IndexFunc(r.Cells, func(c result.Cell) bool { return c.Outcome == result.Failed })
		Expect(i).NotTo(Equal(-1))
		c := r.Cells[i]
		Expect(c.Perturb).To(HaveLen(2))
		Expect(c.Shrunk).To(Equal(c.Perturb))
		Expect(strings.Count(c.Command, " --perturb ")).To(Equal(2))
	})

	It("is not shrunk to what breaks something else", func() {
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

	It("is shrunk to as few strikes as break it", func() {
		r := run(write(twoCalls+"invariants: ['calls.failed < 2']\n"), only(result.Faults, result.Outages))
		Expect(cell(r, "call=1:timeout,times=2").Shrunk).To(Equal([]string{"call=1:timeout,times=2"}))
	})

	It("is shrunk to a latency that people say", func() {
		r := run(write(twoCalls+"invariants: [latency.max < 5.0]\n"), only(result.Latency))
		Expect(cell(r, "call=1:latency,first=59.999999999s").Shrunk).To(Equal([]string{"call=1:latency,first=10s"}))
	})

	It("of a group of crashes is shrunk to the write that breaks it", func() {
		sc := load("persist/ten-hours")[0]
		sc.Drive.Options.(*supervise.Options).Copies = 300
		sc.Expect.That, sc.Expect.Calls = nil, nil
		sc.Invariants = []string{
			"// unharmed: nothing happens at the 153rd write\n!events.exists(e, e.name == 'perturbation' && e.n == 153)",
		}
		groups := only(result.Crashes)
		groups.MaxRuns = 51 // the first 17 of each kind
		r := run(sc, groups)
		Expect(cell(r, "write=1:crash-before,every=34").Outcome).To(Equal(result.Survived))
		struck := cell(r, "write=17:crash-before,every=34")
		Expect(struck.Outcome).To(Equal(result.Failed))
		Expect(struck.Fired).To(BeNumerically(">", 2))
		Expect(struck.Shrunk).To(Equal([]string{"write=153:crash-before"}))
	})

	It("keeps breaking what it broke", func() {
		r := run(write(twoCalls+"invariants: ['run.perturbed < 2 || calls.failed == 0', 'calls.failed < 2']\n"), only(result.Outages, result.Faults))
		c := cell(r, "call=1:timeout,times=2")
		Expect(c.Findings).To(HaveLen(2))
		Expect(c.Shrunk).To(Equal(c.Perturb), "a single timeout breaks neither")
	})

	It("is recorded, and the golden run before it", func() {
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

	It("of the sink ends the exploration", func() {
		_, err := explore.Run(context.Background(), write(twoCalls), explore.Options{Language: kinds.Language(), Env: newEnv(), Sink: full{}})
		Expect(err).To(MatchError(ContainSubstring("no space left")))
	})
})

// full is a sink on a full disk.
type full struct{}

func (full) Scenario(record.Scenario) error { return nil }
func (full) Trial(harness.Judged) error     { return errors.New("no space left on device") }
