package explore_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
)

var _ = Describe("Run", func() {
	It("reports the outcome of each perturbation, and that it fired", func() {
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
		Expect(r.Left).To(Equal([]string{"crash: the agent stores nothing on disk", "user: the agent has no turns"}))

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
		Expect(just.Calls).To(Equal(2), "answered one tick before the limit")
		Expect(late.Calls).To(Equal(3), "cut off one tick after it, and repeated")
		Expect(just.Outcome).To(Equal(result.Survived))

		Expect(cell(r, "call=2:text-truncated").Outcome).To(Equal(result.Degraded), "DONE was cut off")
		Expect(r.Covered).To(MatchRegexp(`^\d+ pairs cover \d+ of \d+ pairs of faults and 1 of 1 pairs of calls$`))
		for _, c := range r.Cells {
			Expect(c.Outcome == result.Unfired || c.Fired > 0).To(BeTrue(), "%v", c)
			Expect(c.Command).To(BeEmpty())
		}
	})

	It("judges runs that do not reach a fault of the script itself, and counts only the perturbations", func() {
		sc := strings.Replace(twoCalls, `DONE", latency: 1s}`, `DONE", latency: 1s, fault: {kind: status, status: 429}}`, 1)
		sc = strings.Replace(sc, "calls: 2", "calls: 3", 1)
		r := run(write(sc), only(result.Faults, result.Outages))
		for _, c := range r.Cells {
			if c.Fired == 0 {
				Expect(c.Outcome).To(Equal(result.Unfired), "%v", c)
			} else {
				Expect(c.Outcome).NotTo(Equal(result.Unfired), "%v", c)
			}
		}
		Expect(cell(r, "call=1:missing-done").Outcome).To(Equal(result.Unfired))
		ended := cell(r, "call=1:status,status=503,times=2")
		Expect(ended).To(And(HaveField("Outcome", result.Degraded), HaveField("Fired", 2), HaveField("Findings", BeEmpty())))
		once := cell(r, "call=1:status,status=503")
		Expect(once).To(And(HaveField("Outcome", result.Survived), HaveField("Fired", 1)))

		broken := run(write(sc+"invariants: ['run.status == \"done\"']\n"), only(result.Outages))
		Expect(cell(broken, "call=1:status,status=503,times=2").Outcome).To(Equal(result.Failed))
	})

	It("makes faults last until the agent gives up, even if single faults are not explored", func() {
		r := run(write(twoCalls), only(result.Outages))
		both := run(write(twoCalls), only(result.Faults, result.Outages))
		var lasting []string
		for _, c := range both.Cells {
			if c.Family == result.Outages {
				lasting = append(lasting, c.Perturb...)
			}
		}
		Expect(lasting).To(ContainElements("call=1:timeout,times=2", "call=2:status,status=503,times=2"))
		Expect(lasting).NotTo(ContainElement(ContainSubstring("slow-drip")), "it delivers the answer")
		for _, c := range r.Cells {
			Expect(c.Outcome).To(Equal(result.Degraded), "%v", c)
			Expect(lasting).To(ContainElements(c.Perturb))
		}
		Expect(r.Cells).To(HaveLen(len(lasting)))
		once := run(write(strings.Replace(twoCalls, "error_limit: 2", "error_limit: 1", 1)), only(result.Outages))
		Expect(once.Cells).NotTo(BeEmpty())
		for _, c := range once.Cells {
			Expect(c.Fired).To(BeNumerically(">", 1), "a fault that fires once is not an outage: %v", c.Perturb)
		}
	})

	It("hits two attempts at the only call of an agent that repeats it", func() {
		one := strings.Replace(twoCalls, "    - {text: \"I look at it first.\", latency: 1s}\n", "", 1)
		r := run(write(strings.Replace(one, "calls: 2", "calls: 1", 1)), only(result.Faults, result.Pairs))
		var pairs []result.Cell
		for _, c := range r.Cells {
			if c.Family == result.Pairs {
				pairs = append(pairs, c)
				Expect(c.Perturb).To(HaveExactElements(HavePrefix("call=1:"), HavePrefix("call=1:")))
			}
		}
		Expect(len(pairs)).To(BeNumerically(">", 10))
		Expect(pairs).To(ContainElement(HaveField("Fired", 2)))
		Expect(r.Covered).To(HaveSuffix("1 of 1 pairs of calls"))
		Expect(r.Left).To(BeEmpty())
	})

	It("explores a program of the user in the families that apply, and gives the reasons for the others", func() {
		sc := write(ownAgent(", -session", ", lives: session, timeout: 2s"))
		r := run(sc, explore.Options{Language: kinds.Language(), Workers: 4, Families: []result.Family{
			result.Latency, result.Crashes, result.Users, result.Pairs,
		}, Pairs: 3})
		Expect(r.Golden.Duration).To(BeZero(), "real time differs from run to run")
		Expect(cell(r, "call=1:latency,first=1s").Outcome).To(Equal(result.Survived))
		late := cell(r, "call=2:latency,first=3s")
		Expect(late.Outcome).To(Equal(result.Degraded))
		Expect(late.Status).To(Equal("timeout"))
		forgetful := cell(r, "turn=2:restart")
		Expect(forgetful.Outcome).To(Equal(result.Failed))
		Expect(forgetful.Findings).To(ConsistOf(HaveField("Message", HavePrefix("restart-remembered: "))))
		Expect(r.Covered).To(ContainSubstring("pairs cover"))
		Expect(r.Left).To(ContainElement("crash: the harness does not see the writes of another program"))

		r = run(write(ownAgent("", "")), only(result.Users))
		Expect(r.Left).To(Equal([]string{
			"user: no process of the agent outlives a turn, or the harness did not start it: there is nothing to restart",
		}))
	})

	It("explores a whole interview", func() {
		r := run(load("interview/golden-lea")[0], explore.Options{Language: kinds.Language(), Workers: 2, MaxRuns: 24, Families: []result.Family{result.Texts}})
		Expect(r.Calls).To(HaveLen(24))
		Expect(r.Calls[0].Purpose).To(Equal("preamble"))
		Expect(r.Calls[1].Label).NotTo(BeEmpty())
		Expect(r.NotRun).To(Equal(24*4 - 24))
		Expect(r.Count()).To(Equal(map[result.Outcome]int{result.Survived: 24}))
	})

	It("returns the same result for any number of workers", func() {
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

	It("rejects a golden path that does not pass", func() {
		_, err := explore.Run(context.Background(), write(strings.Replace(twoCalls, "calls: 2", "calls: 3", 1)), explore.Options{Language: kinds.Language(), Env: newEnv()})
		var golden *explore.GoldenError
		Expect(errors.As(err, &golden)).To(BeTrue())
		Expect(golden.Verdict).To(Equal(gate.Fail))
		Expect(err).To(MatchError("the golden path spec/two-calls does not pass (fail): expected exactly 3 calls, saw 2; run it alone and fix it first"))
	})

	It("rejects a scenario with a live model, that of a simulated user included", func() {
		sc := write("name: spec/live\nexpect: {status: done}\nbackend: {unpriced: true, rules: [{text: x}]}\ndrive:\n  command:\n    run: [agent]\n" +
			"    user: {opening: Hi., goals: [{id: a, done: {reply: x}}], backend: {as: live, url: 'http://127.0.0.1:1/v1', model: gpt-4.1-mini}}\n")
		_, err := explore.Run(context.Background(), sc, explore.Options{Language: kinds.Language(), Env: newEnv()})
		Expect(err).To(MatchError("explore scenario spec/live: one of its backends is live; only runs with scripted backends can be repeated"))
	})

	It("rejects a golden path that violates an invariant without perturbations", func() {
		sc := write(twoCalls + "invariants: [\"// few: one call will do\\ncalls.total <= 1\"]\n")
		reports := 0
		_, err := explore.Run(context.Background(), sc, explore.Options{Language: kinds.Language(), Env: newEnv(), Progress: func(explore.Progress) { reports++ }})
		Expect(err).To(MatchError("the golden path spec/two-calls violates this invariant without perturbations: few: one call will do; fix the agent or the invariant first"))
		Expect(err).To(BeAssignableToTypeOf(&explore.GoldenError{}))
		Expect(reports).To(Equal(1), "only the golden path was driven")
	})

	It("forecasts at least the runs that follow", func() {
		var f explore.Forecast
		last := 0
		r := run(write(twoCalls), explore.Options{Language: kinds.Language(), Progress: func(p explore.Progress) {
			if p.Doing == "plan" {
				f = p.Forecast
			} else if p.Doing != "shrinking" {
				last = max(last, p.Done)
			}
		}})
		Expect(f.Runs).To(Equal(2 * (26 + 4 + 4)))
		Expect(last).To(And(BeNumerically(">", f.Runs), BeNumerically("<=", f.Runs+f.Later)))
		Expect(len(r.Cells)).To(BeNumerically("<=", last), "a run that repeats another one has no cell")
		Expect(f.Wait).To(BeZero())
	})

	DescribeTable("forecasts the waits of an agent in real time", func(wait time.Duration, texts ...string) {
		Expect(explore.WaitOf(golden(), texts...)).To(Equal(wait))
	},
		Entry("none for what answers at once", time.Duration(0), "call=1:empty-text"),
		Entry("a latency", 5*time.Second, "call=1:latency,first=5s"),
		Entry("a latency up to the limit", time.Minute, "call=1:latency,first=2m"),
		Entry("a hanging call up to the limit", time.Minute, "call=1:timeout"),
		Entry("a pause that the backend demands", 2*time.Second, "call=1:status,status=429,retry_after=2s"),
		Entry("two of them", 7*time.Second, "call=1:status,status=429,retry_after=2s", "call=2:latency,first=5s"),
	)

	It("checks the golden path against the built-in invariants", func() {
		golden := harness.Judged{Scenario: &record.Scenario{Name: "spec", Agent: "loop"}, Verdict: gate.Pass}
		golden.Facts.Run = measure.RunFacts{Status: "error", ExitCode: 1, Details: "virtual clock stalled"}
		Expect(explore.Sound(golden)).To(MatchError(ContainSubstring("spec violates this invariant without perturbations: never-hangs: ")))
		golden.Facts.Run.Details = "no answer within 1m (timeout)"
		Expect(explore.Sound(golden)).To(Succeed())
	})

	It("ignores the scenario's own perturbations and trials", func() {
		sc := write(strings.Replace(twoCalls, "expect: {status: done, calls: 2}", "perturb: ['call=1:timeout']\ntrials: 3", 1))
		r := run(sc, only(result.Texts))
		Expect(r.Golden.Calls.Total).To(Equal(2))
		Expect(r.Cells).To(HaveLen(8))
	})

	It("stops at MaxRuns and reports the runs that are missing", func() {
		r := run(write(twoCalls), explore.Options{Language: kinds.Language(), MaxRuns: 10, Families: []result.Family{result.Texts, result.Latency, result.Pairs}, Pairs: 5})
		Expect(r.Cells).To(HaveLen(10))
		Expect(r.NotRun).To(Equal(4*2 + 8 - 10 + 5))
		Expect(r.Stopped).To(Equal("the limit of 10 runs was reached"))
		Expect(r.Covered).To(HavePrefix("0 pairs cover 0 of "), "no pair was driven")
	})

	It("returns the completed cells when the user interrupts", func() {
		ctx, cancel := context.WithCancel(context.Background())
		reports := 0
		sc := write(twoCalls + "invariants: ['run.perturbed == 0']\n")
		r, err := explore.Run(ctx, sc, explore.Options{Language: kinds.Language(), Env: newEnv(), Workers: 2, Progress: func(p explore.Progress) {
			if p.Doing == "perturbations" {
				if reports++; reports == 3 {
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
				Expect(c.Command).NotTo(BeEmpty(), "a failed run has a command even so")
			}
		}
		r, err = explore.Run(ctx, sc, explore.Options{Language: kinds.Language(), Env: newEnv()})
		Expect(err).NotTo(HaveOccurred())
		Expect(r.Stopped).To(Equal(result.UserInterrupt))
		Expect(r.Cells).To(BeEmpty())
	})

	It("reports progress in plan order", func() {
		var doing []string
		var cells []*result.Cell
		r := run(write(twoCalls+"invariants: ['run.perturbed == 0']\n"), explore.Options{Language: kinds.Language(), Workers: 2, Families: []result.Family{result.Texts}, Progress: func(p explore.Progress) {
			doing = append(doing, fmt.Sprintf("%s %d/%d", p.Doing, p.Done, p.Planned))
			if p.Doing == "plan" {
				Expect(p.Forecast).To(Equal(explore.Forecast{Runs: 8}))
			}
			if p.Cell != nil {
				cells = append(cells, p.Cell)
			}
		}})
		Expect(doing[:3]).To(Equal([]string{"golden path 0/1", "plan 0/0", "perturbations 1/8"}))
		Expect(doing[len(doing)-1]).To(Equal("shrinking 8/8"))
		Expect(cells).To(HaveLen(8))
		for i := range cells {
			Expect(cells[i].Perturb).To(Equal(r.Cells[i].Perturb))
		}
	})

	It("lists the families that do not apply", func() {
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
	DescribeTable("follows from the findings and the end of the run",
		func(want result.Outcome, ended measure.Facts, found ...gate.Finding) {
			Expect(explore.OutcomeOf(found, ended, well)).To(Equal(want))
		},
		Entry("the same end as the golden path", result.Survived, well),
		Entry("with a note", result.Survived, well, gate.Finding{Severity: gate.Info}),
		Entry("another status", result.Degraded, ends("left", 0, 3, 0)),
		Entry("another exit code", result.Degraded, ends("finished", 1, 3, 0)),
		Entry("a repeated call", result.Survived, ends("finished", 0, 4, 1)),
		Entry("fewer answered calls", result.Degraded, ends("finished", 0, 3, 1)),
		Entry("a violated invariant", result.Failed, well, failing),
		Entry("an error of the harness", result.Errored, well, failing, harnessed),
		Entry("a skipped run", result.Errored, well, gate.Finding{Severity: gate.Skipped}),
		Entry("an unfired perturbation, whatever else was found", result.Unfired, well, failing, harnessed, unfired),
	)

	It("does not count the faults of the script itself", func() {
		faulty := strings.Replace(twoCalls, "latency: 1s}", "latency: 1s, fault: {kind: status, status: 503}}", 1)
		r := run(write(strings.Replace(faulty, "calls: 2", "calls: 3", 1)), only(result.Texts))
		Expect(r.Golden.Calls.Failed).To(Equal(1))
		Expect(cell(r, "call=2:text-reformat").Fired).To(Equal(1))
	})
})
