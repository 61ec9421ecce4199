package harness_test

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("A sink that takes snapshots", Label("H-02"), func() {
	var into memory
	var sink *harness.SnapshotSink
	BeforeEach(func() {
		into = memory{}
		sink = &harness.SnapshotSink{Sink: &into, Language: kinds.Language(), Missing: true}
	})

	// trials sends a scenario with these stored snapshots and final texts to the sink.
	trials := func(name, file string, stored map[string]string, texts ...string) {
		GinkgoHelper()
		head := record.Scenario{Name: name, File: file, Trials: len(texts), Expect: expect.Expect{
			Status: "done", Snapshot: &expect.Snapshot{Text: "snapshots/" + name + ".snap", Stored: stored},
		}}
		judge, err := gate.ForScenario(kinds.Language(), &head)
		Expect(err).NotTo(HaveOccurred())
		Expect(sink.Scenario(head)).To(Succeed())
		for i, text := range texts {
			facts := measure.Facts{Run: measure.RunFacts{Status: "done"}, Snapshots: map[string]string{"text": text}}
			if text == "" {
				facts.Run.Status = "failed"
			}
			found := judge.Judge(facts)
			Expect(sink.Trial(harness.Judged{
				Scenario: &head, Trial: record.Trial{Head: record.TrialHead{N: i + 1}}, Facts: facts, Findings: found,
				Verdict: gate.VerdictOf(found),
			})).To(Succeed())
		}
	}
	verdicts := func() (all []gate.Verdict) {
		for _, j := range into.trials {
			all = append(all, j.Verdict)
		}
		return all
	}
	taken := func(name, text string, changed bool) harness.TakenSnapshot {
		return harness.TakenSnapshot{Folder: "scenarios", File: "snapshots/" + name + ".snap", Text: text, Changed: changed}
	}

	It("takes those that do not exist from the first trial, and compares the others with it", func() {
		trials("a", "scenarios/a.yaml", nil, "one", "one", "two")
		trials("b", "scenarios/b.yaml", nil, "three")
		Expect(verdicts()).To(Equal([]gate.Verdict{gate.Pass, gate.Pass, gate.Fail, gate.Pass}))
		Expect(into.trials[2].Findings[0].Trial).To(Equal(3))
		Expect(sink.Taken()).To(Equal([]harness.TakenSnapshot{taken("a", "one", false), taken("b", "three", false)}))
		Expect(into.heads[0].Expect.Snapshot.Stored).To(Equal(map[string]string{"text": "one"}), "recorded, so that report judges the same")
		Expect(into.trials[3].Scenario.Name).To(Equal("b"))
		Expect(into.trials[0].Scenario.Name).To(Equal("a"), "each trial refers to its own scenario")
	})

	It("leaves those that exist, unless they are to be updated", func() {
		trials("a", "scenarios/a.yaml", map[string]string{"text": "one"}, "two")
		Expect(verdicts()).To(Equal([]gate.Verdict{gate.Fail}))
		Expect(sink.Taken()).To(BeEmpty())
		sink.Update = true
		trials("a", "scenarios/a.yaml", map[string]string{"text": "one"}, "two")
		trials("b", "scenarios/b.yaml", map[string]string{"text": "same"}, "same")
		Expect(verdicts()[1:]).To(Equal([]gate.Verdict{gate.Pass, gate.Pass}))
		Expect(sink.Taken()).To(Equal([]harness.TakenSnapshot{taken("a", "two", true)}))
	})

	It("takes nothing in CI, from a trial that fails, and for a shipped scenario", func() {
		sink.Missing = false
		trials("a", "scenarios/a.yaml", nil, "one")
		sink.Missing = true
		trials("b", "scenarios/b.yaml", nil, "", "two")
		trials("c", "shipped:c", nil, "three")
		Expect(verdicts()).To(HaveEach(gate.Fail))
		Expect(sink.Taken()).To(BeEmpty())
		Expect(sink.Failed()).To(Equal([]string{"b"}))
	})

	It("writes them beside their scenarios, and nowhere else", func() {
		dir := GinkgoT().TempDir()
		Expect(harness.WriteSnapshots([]harness.TakenSnapshot{{Folder: dir, File: "deep/er/a.snap", Text: "one\n"}})).To(Succeed())
		Expect(os.ReadFile(filepath.Join(dir, "deep", "er", "a.snap"))).To(BeEquivalentTo("one\n"))
		Expect(filepath.Glob(filepath.Join(dir, "deep", "er", "*"))).To(HaveLen(1))
		Expect(os.Symlink(GinkgoT().TempDir(), filepath.Join(dir, "out"))).To(Succeed())
		for _, file := range []string{"../a.snap", "out/a.snap"} {
			Expect(harness.WriteSnapshots([]harness.TakenSnapshot{{Folder: dir, File: file, Text: "one\n"}})).To(MatchError(ContainSubstring("a.snap")))
		}
	})

	It("is that of go test -update", func() {
		GinkgoT().Chdir(GinkgoT().TempDir())
		text := strings.Replace(clerk, "calls: 2}", "calls: 2, snapshot: clerk.snap}", 1)
		rehearse := func() gate.Verdict {
			GinkgoHelper()
			res, err := harness.Rehearse(context.Background(), harness.Rehearsal{Text: text, Functions: clerks, Trials: 2})
			Expect(err).NotTo(HaveOccurred())
			return res.Verdict
		}
		Expect(rehearse()).To(Equal(gate.Fail))
		before := flag.Lookup("update").Value.String()
		DeferCleanup(flag.Set, "update", before)
		Expect(flag.Set("update", "true")).To(Succeed())
		Expect(rehearse()).To(Equal(gate.Pass))
		Expect(flag.Set("update", "false")).To(Succeed())
		Expect(rehearse()).To(Equal(gate.Pass))
		Expect(os.ReadFile("clerk.snap")).To(ContainSubstring("[agent]\nAt nine."))
	})

	It("has the size limit of the files that it reads", func() {
		head := record.Scenario{Name: "a", File: "a.yaml", Expect: expect.Expect{Snapshot: &expect.Snapshot{Text: "a.snap"}}}
		Expect(sink.Scenario(head)).To(Succeed())
		large := string(make([]byte, scenarios.MaxSnapshot+1))
		Expect(sink.Trial(harness.Judged{Facts: measure.Facts{Snapshots: map[string]string{"text": large}}})).
			To(MatchError(ContainSubstring("it would have 1048577 bytes; at most 1048576 are allowed")))
	})
})
