package result_test

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/golden"
)

// sample sets every field somewhere.
func sample() result.Exploration {
	return result.Exploration{
		Schema: result.ExplorationSchema, Tool: "rehearse 1.0", Scenario: "loop/golden", File: "shipped:loop/golden.yaml",
		Digest: "sha256:00", Seed: 7, Agent: "loop",
		Golden: measure.Golden{
			Status: "done", Iterations: 2, Duration: 3.5, Calls: measure.CallFacts{Total: 2, By: map[string]int{"loop": 2}},
			Cost: measure.CostFacts{Known: true, USD: 0.002, EUR: 0.001, Most: 0.001},
		},
		Calls:      []result.Call{{N: 1, Purpose: "loop", Label: "first"}, {N: 2}},
		Invariants: []string{"// bounded: few calls\ncalls.total <= 3"},
		Left:       []string{"crash: the agent stores nothing on disk"},
		Covered:    "1 pairs cover 1 of 4 pairs of faults and 1 of 1 pairs of calls",
		Cells: []result.Cell{
			{Family: result.Faults, Perturb: []string{"call=1:timeout"}, Outcome: result.Survived, Status: "done", Calls: 3, Fired: 1},
			{
				Family: result.Pairs, Perturb: []string{"call=1:timeout", "call=2:status,status=503"}, Outcome: result.Failed,
				Status: "error", Details: "<b>stopped</b>", Calls: 9, Fired: 2,
				Findings: []gate.Finding{{Severity: gate.Failing, Rule: gate.InvariantRule, Message: "bounded: few calls", At: "invariants[0]", Evidence: "calls.total = 9"}},
				Shrunk:   []string{"call=1:timeout"}, Command: "rehearse run loop/golden --perturb 'call=1:timeout'",
			},
			{
				Family: result.Texts, Perturb: []string{"call=2:text-padded"}, Outcome: result.Unfired,
				Findings: []gate.Finding{{Severity: gate.Broken, Rule: "unfired-fault", Message: "a planned fault never fired", Evidence: "call=2:text-padded: no such call was made"}},
			},
		},
		NotRun: 4, Stopped: result.UserInterrupt,
	}
}

func text(r result.Exploration) string {
	GinkgoHelper()
	var b bytes.Buffer
	Expect(result.WriteExploration(&b, &r)).To(Succeed())
	return b.String()
}

var _ = Describe("A result", func() {
	It("is written as in the golden file", func() {
		golden.Expect("sample.json", []byte(text(sample())))
	})

	It("is read as it was written", func() {
		r := sample()
		got, err := result.ReadExploration(strings.NewReader(text(r)))
		Expect(err).NotTo(HaveOccurred())
		Expect(got).To(Equal(r))
		for f, v := range reflect.ValueOf(r).Fields() {
			Expect(v.IsZero()).To(BeFalse(), f.Name)
		}
	})

	DescribeTable("is rejected if no exploration wrote it",
		func(old, changed, message string) {
			all := text(sample())
			Expect(all).To(ContainSubstring(old))
			_, err := result.ReadExploration(strings.NewReader(strings.Replace(all, old, changed, 1)))
			Expect(err).To(MatchError(HavePrefix("read the exploration: " + message)))
			Expect(err).To(MatchError(HaveSuffix("; explore again")))
		},
		Entry("another version", "explore/1", "explore/9", "unsupported schema `rehearse.explore/9`; this program reads rehearse.explore/1"),
		Entry("no version", `"schema"`, `"scheme"`, "not an exploration: schema is missing"),
		Entry("an unknown key", `"tool"`, `"tol"`, "at `/tol`: unknown key"),
		Entry("a repeated key", `"tool": "rehearse 1.0"`, `"tool": "", "tool": ""`, "at byte "),
		Entry("a value of another type", `"seed": 7`, `"seed": "x"`, "at `/seed`: the value has the wrong type"),
		Entry("a torn file", `"not_run": 4,`, ``+"\x00", "at byte "),
		Entry("an unknown family", `"family": "pair"`, `"family": "\u001b[31mx"`, "cell 2: unknown family `"),
		Entry("an unknown outcome", `"outcome": "failed"`, `"outcome": "fine"`, "cell 2: unknown outcome `fine`"),
		Entry("a cell without perturbations", "\"call=1:timeout\"\n      ],\n      \"outcome\"", "],\"outcome\"", "cell 1: it has 0 perturbations"),
		Entry("a negative count", `"calls": 3`, `"calls": -3`, "cell 1: a count is negative"),
		Entry("a negative not_run", `"not_run": 4`, `"not_run": -4`, "not_run is negative"),
	)

	It("is rejected if it is truncated, continued or endless", func() {
		all := text(sample())
		_, err := result.ReadExploration(strings.NewReader(all[:len(all)/2]))
		Expect(err).To(MatchError("read the exploration: the file ends in the middle; explore again"))
		_, err = result.ReadExploration(strings.NewReader(all + "{}"))
		Expect(err).To(MatchError(ContainSubstring("not valid JSON")))
		_, err = result.ReadExploration(strings.NewReader(""))
		Expect(err).To(HaveOccurred())
		_, err = result.ReadExploration(blanks{})
		Expect(err).To(MatchError("read the exploration: the file is larger than 64 MB; explore again"))
	})

	It("counts its cells by outcome", func() {
		r := sample()
		Expect(r.Count()).To(Equal(map[result.Outcome]int{result.Survived: 1, result.Failed: 1, result.Unfired: 1}))
	})
})

// blanks is an endless file.
type blanks struct{}

func (blanks) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

var _ = Describe("FindingClass", func() {
	promise := func(evidence string) gate.Finding {
		return gate.Finding{Severity: gate.Failing, Rule: "promise", Message: "not kept", Evidence: evidence}
	}
	It("is equal for findings that differ only in values", func() {
		a := gate.Finding{Rule: gate.InvariantRule, Message: "bounded: few calls", Evidence: "calls.total = 9", Trial: 1}
		b := a
		b.Evidence, b.Trial = "calls.total = 10", 2
		Expect(result.FindingClass(a)).To(Equal(result.FindingClass(b)))
		Expect(result.FindingClass(promise("answer 3 of 44 is lost"))).To(Equal(result.FindingClass(promise("answer 12 of 44 is lost"))))
	})
	It("distinguishes violations, rules and messages", func() {
		a := gate.Finding{Rule: "status", Message: "one"}
		for _, other := range []gate.Finding{{Rule: "calls", Message: "one"}, {Rule: "status", Message: "two"}, promise("one")} {
			Expect(result.FindingClass(other)).NotTo(Equal(result.FindingClass(a)))
		}
		Expect(result.FindingClass(promise("an answer is lost"))).NotTo(Equal(result.FindingClass(promise("an answer is doubled"))))
	})
})

func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", "{}", `{"schema":"rehearse.explore/1","cells":[{"family":"fault","perturb":["x"],"outcome":"failed"}]}`} {
		f.Add([]byte(seed))
	}
	data, err := os.ReadFile("testdata/sample.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := result.ReadExploration(bytes.NewReader(data))
		if err != nil {
			return
		}
		var out bytes.Buffer
		if err := result.WriteExploration(&out, &r); err != nil {
			t.Fatalf("what was read cannot be written: %v", err)
		}
		again, err := result.ReadExploration(&out)
		if err != nil {
			t.Fatalf("what was written cannot be read: %v", err)
		}
		if err := result.WriteExploration(io.Discard, &again); err != nil {
			t.Fatal(err)
		}
	})
}
