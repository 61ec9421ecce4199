package harness_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// demoScenarios are those of the demo agent, which is this test binary.
const demoScenarios = "../test/demo/scenarios"

// shipped returns the shipped scenarios, and those of the demo agent.
var shipped = sync.OnceValues(func() ([]scenarios.Scenario, scenarios.Diagnostics) {
	return scenarios.Load(append(shippedNames(), demoScenarios), scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check})
})

// shippedNames lists the shipped scenarios; with -short only the golden paths.
func shippedNames() []string {
	names := scenarios.Names()
	if testing.Short() {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !isGolden(name) })
	}
	return names
}

// delivered has the results of one scenario that the sink received.
type delivered struct {
	head   record.Scenario
	trials []harness.Judged
}

// lines returns the recording of the scenario, without hashes.
func (t delivered) lines() []byte {
	var all []byte
	for _, j := range t.trials {
		all = append(all, j.Lines...)
	}
	return all
}

func (t delivered) findings() [][]gate.Finding {
	var all [][]gate.Finding
	for _, j := range t.trials {
		all = append(all, j.Findings)
	}
	return all
}

// driven is a run of all shipped scenarios with eight workers. It takes long, and every entry of a table needs it.
var driven = sync.OnceValue(func() map[string]delivered {
	set, found := shipped()
	Expect(found).To(BeEmpty())
	return driveAll(set, 8)
})

// drivenAlone is a run of the golden paths with one worker. CI compares two runs of all scenarios (.ci/run, demo).
var drivenAlone = sync.OnceValue(func() map[string]delivered {
	set, _ := shipped()
	return driveAll(slices.DeleteFunc(slices.Clone(set), func(sc scenarios.Scenario) bool { return !isGolden(sc.Name) }), 1)
})

func driveAll(set []scenarios.Scenario, workers int) map[string]delivered {
	sink, outcome := run(set, workers)
	Expect(outcome.NotRun).To(BeEmpty())
	byName := map[string]delivered{}
	for _, j := range sink.trials {
		t := byName[j.Scenario.Name]
		t.head, t.trials = *j.Scenario, append(t.trials, j)
		byName[j.Scenario.Name] = t
	}
	return byName
}

func isGolden(name string) bool { return strings.Contains(name, "golden") }

// allNames lists the shipped scenarios and those of the demo agent, goldenNames their golden paths.
func allNames() []string {
	return append(slices.Clone(shippedNames()), scenarios.NamesIn(demoScenarios)...)
}

func goldenNames() []string {
	return slices.DeleteFunc(allNames(), func(name string) bool { return !isGolden(name) })
}

func entriesOf(names []string) []TableEntry {
	var entries []TableEntry
	for _, name := range names {
		entries = append(entries, Entry(name, name))
	}
	return entries
}

var _ = Describe("A shipped scenario", Label("H-02", "H-04"), func() {
	DescribeTable("passes",
		func(name string) {
			trials := driven()[name].trials
			Expect(trials).NotTo(BeEmpty())
			if j := trials[0]; j.Verdict == gate.Skip {
				Skip(j.Trial.End.Skipped)
			}
			for _, j := range trials {
				Expect(j.Verdict).To(Equal(gate.Pass), "%+v", j.Findings)
			}
		},
		entriesOf(allNames()),
	)

	DescribeTable("has the same recording with one worker and with eight",
		func(name string) {
			first, other := driven()[name], drivenAlone()[name]
			Expect(other.trials).NotTo(BeEmpty())
			Expect(string(other.lines())).To(Equal(string(first.lines())))
			Expect(other.findings()).To(Equal(first.findings()))
			Expect(other.head).To(Equal(first.head))
		},
		entriesOf(goldenNames()),
	)

	DescribeTable("is judged the same from its recording", Label("H-05"),
		func(name string) {
			live := driven()[name]
			set, _ := shipped()
			header := harness.Header(set, "spec", &price.Table{Date: "2026-01-01"}, nil)
			header.Scenarios, header.Trials = 1, len(live.trials)
			var recording, timings bytes.Buffer
			writer, err := record.NewWriter(&recording, header)
			Expect(err).NotTo(HaveOccurred())
			Expect(writer.Scenario(live.head)).To(Succeed())
			builder := reports.Builder{Extensions: kinds.Language().Extensions(), Run: header}
			for _, j := range live.trials {
				Expect(writer.Trial(j.Lines)).To(Succeed())
				Expect(record.WriteTimings(&timings, j.Timings)).To(Succeed())
				builder.Add(live.head, j.Facts, j.Findings)
			}
			Expect(writer.Close(record.Close{Trials: len(live.trials)})).To(Succeed())

			times, err := record.ReadTimings(&timings)
			Expect(err).NotTo(HaveOccurred())
			rejudge := reports.Rejudge(kinds.Language(), times)
			var findings [][]gate.Finding
			old, err := reports.FromRecording(&recording, kinds.Language().Extensions(), func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
				facts, found, err := rejudge(s, t)
				findings = append(findings, found)
				return facts, found, err
			})
			Expect(err).NotTo(HaveOccurred())
			Expect(findings).To(Equal(live.findings()))
			Expect(asJSON(old.Close())).To(Equal(asJSON(builder.Close())))
		},
		entriesOf(allNames()),
	)

	DescribeTable("has wall-clock times beside its recording, not in it",
		func(name string) {
			live := driven()[name]
			for _, j := range live.trials {
				if !live.head.RealTime {
					Expect(j.Timings).To(BeEmpty())
					continue
				}
				Expect(string(j.Lines)).NotTo(Or(ContainSubstring(`"at_ns"`), ContainSubstring(`"latency_ns"`), ContainSubstring(`"duration_ns"`)))
				Expect(j.Timings).To(HaveLen(len(j.Trial.Calls) + 1))
				Expect(j.Facts.Run.DurationKnown).To(BeTrue())
				Expect(j.Facts.Latency.N).To(Equal(len(j.Trial.Calls)))
			}
		},
		entriesOf(allNames()),
	)

	It("leaves no goroutine if all trials are abandoned at once", stalled, func(SpecContext) {
		set, found := shipped()
		Expect(found).To(BeEmpty())
		// Each real coding agent takes seconds before it can be interrupted.
		set = slices.DeleteFunc(set, func(sc scenarios.Scenario) bool { return sc.Drive.Kind == "coding" })
		ctx, cancel := context.WithCancel(context.Background())
		sink := &memory{onTrial: func(place int) error {
			if place == len(set)/20 {
				cancel()
			}
			return nil
		}}
		outcome, err := harness.Run(ctx, set, harness.Options{Language: kinds.Language(), Workers: 4, Env: newEnv(), Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(outcome.Interrupted).To(BeTrue())
		Expect(outcome.NotRun).NotTo(BeEmpty())
	})
})

func asJSON(r reports.Report) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(reports.JSON(&b, r)).To(Succeed())
	return b.String()
}
