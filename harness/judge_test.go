package harness_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("The verdict of a trial", Label("H-02", "H-04"), func() {
	DescribeTable("follows from the exchanges of agent and script",
		func(script string, verdict gate.Verdict, rule string) {
			text := "drive: {loop: {prompt: Go on., max_iterations: 2}}\nbackend: {model: " + script
			judged := one(text)
			Expect(judged.Verdict).To(Equal(verdict))
			if rule == "" {
				Expect(judged.Findings).To(BeEmpty())
			} else {
				Expect(judged.Findings).To(ContainElement(HaveField("Rule", rule)))
			}
		},
		Entry("as expected", "gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: done}", gate.Pass, ""),
		Entry("another status", "gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: blocked}", gate.Fail, "status"),
		Entry("an unused line", "gpt-4.1-mini, replies: [{text: DONE}, {text: DONE}]}\nexpect: {status: done}", gate.Fail, "unused-line"),
		Entry("an unused line that is allowed", "gpt-4.1-mini, replies: [{text: DONE}, {text: DONE}]}\nexpect: {allow: [unused-line]}", gate.Pass, "unused-line"),
		Entry("an unexpected call", "gpt-4.1-mini, replies: [{text: Working.}]}\nexpect: {status: error}", gate.Fail, "unexpected-call"),
		Entry("an unexpected call that is allowed", "gpt-4.1-mini, replies: [{text: Working.}]}\nexpect: {status: error, allow: [unexpected-call]}", gate.Pass, "unexpected-call"),
		Entry("a fault that never fires", "gpt-4.1-mini, replies: [{text: DONE}, {text: DONE, fault: timeout}]}\nexpect: {allow: [unused-line]}", gate.Error, "unfired-fault"),
		Entry("a fault that cannot show", "gpt-4.1-mini, replies: [{text: DONE, fault: missing-done}]}\nexpect: {status: done}", gate.Error, "unfired-fault"),
		Entry("an unknown cost without a limit", "in-house-7b, unpriced: true, replies: [{text: DONE}]}\nexpect: {status: done}", gate.Pass, ""),
		Entry("an unknown cost under a limit", "in-house-7b, unpriced: true, replies: [{text: DONE}]}\nexpect: {cost: {at_most: 1 EUR}}", gate.Fail, "cost"),
		Entry("an unknown cost in an expression", "in-house-7b, unpriced: true, replies: [{text: DONE}]}\nexpect: {that: [cost.eur < 1.0]}", gate.Fail, "that"),
	)

	It("fails on a request that a provider would refuse, unless that is allowed", func() {
		refused := func(allow ...string) harness.Judged {
			sink := &memory{}
			driver := stub{name: "a", trials: 1, expect: expect.Expect{Allow: allow}, trial: func(context.Context, int) record.Trial {
				return record.Trial{Script: record.Script{Invalid: []string{"messages[1].role"}}}
			}}
			_, err := harness.RunAll(context.Background(), []drive.Driver{driver}, harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: sink})
			Expect(err).NotTo(HaveOccurred())
			return sink.trials[0]
		}
		Expect(refused().Verdict).To(Equal(gate.Fail))
		Expect(refused().Findings).To(HaveExactElements(HaveField("Rule", "invalid-request")))
		Expect(refused("invalid-request").Verdict).To(Equal(gate.Pass))
	})

	It("is error if the harness could not run the trial, whatever the expectations", func() {
		env := newEnv()
		env.Executable = "/nonexistent/agent"
		sink := &memory{}
		sc := parse("drive: {loop: {prompt: Go.}}\nbackend: {as: exec, model: gpt-4.1-mini, replies: [{text: DONE}]}\nexpect: {status: error, exit_code: 1}")
		_, err := harness.Run(context.Background(), []scenarios.Scenario{sc}, harness.Options{Language: kinds.Language(), Env: env, Sink: sink})
		Expect(err).NotTo(HaveOccurred())
		Expect(sink.trials[0].Verdict).To(Equal(gate.Error))
		Expect(sink.trials[0].Findings).To(HaveExactElements(HaveField("Rule", "harness")))
	})
})

var _ = Describe("The header of a recording", Label("H-05"), func() {
	set := func() []scenarios.Scenario {
		return []scenarios.Scenario{{Name: "a", Digest: "sha256:1", Trials: 3}, {Name: "b", Digest: "sha256:2"}}
	}
	dated := func(date string) *price.Table { return &price.Table{Date: date} }
	header := func(change func(set []scenarios.Scenario)) record.Run {
		s := set()
		if change != nil {
			change(s)
		}
		return harness.Header(s, "rehearse 1", dated("2026-01-01"), map[string]string{"branch": "main", "os": "linux"})
	}

	It("describes the plan", func() {
		Expect(header(nil)).To(And(
			HaveField("Schema", record.Schema), HaveField("Tool", "rehearse 1"), HaveField("Prices", "2026-01-01"),
			HaveField("Scenarios", 2), HaveField("Trials", 4), HaveField("Labels", HaveKeyWithValue("os", "linux")),
			HaveField("ID", MatchRegexp("^[0-9a-f]{16}$")),
		))
	})

	It("has the same id for the same run", func() { Expect(header(nil)).To(Equal(header(nil))) })

	DescribeTable("has a different id with a different", func(other func() record.Run) { Expect(other().ID).NotTo(Equal(header(nil).ID)) },
		Entry("tool", func() record.Run {
			return harness.Header(set(), "rehearse 2", dated("2026-01-01"), map[string]string{"branch": "main", "os": "linux"})
		}),
		Entry("price table", func() record.Run {
			return harness.Header(set(), "rehearse 1", dated("2026-01-02"), map[string]string{"branch": "main", "os": "linux"})
		}),
		Entry("label", func() record.Run {
			return harness.Header(set(), "rehearse 1", dated("2026-01-01"), map[string]string{"branch": "dev", "os": "linux"})
		}),
		Entry("name of a label", func() record.Run {
			return harness.Header(set(), "rehearse 1", dated("2026-01-01"), map[string]string{"bronch": "main", "os": "linux"})
		}),
		Entry("price, in a table of the same date", func() record.Run {
			shipped, err := price.Default()
			Expect(err).NotTo(HaveOccurred())
			own, err := price.Load("own.yaml", []byte(`lists: [{provider: openai, source: us, date: "2026-01-01", models: {gpt-4.1: {input: 77, output: 78}}}]`))
			Expect(err).NotTo(HaveOccurred())
			Expect(own.Date).To(Equal(shipped.Date))
			one := []scenarios.Scenario{{Name: "a", Backend: scenarios.Backend{Script: mocks.Script{Model: "gpt-4.1"}}}}
			Expect(harness.Header(one, "rehearse 1", own, nil).ID).NotTo(Equal(harness.Header(one, "rehearse 1", shipped, nil).ID))
			return harness.Header(one, "rehearse 1", own, nil)
		}),
		Entry("content of a file", func() record.Run { return header(func(s []scenarios.Scenario) { s[0].Digest = "sha256:3" }) }),
		Entry("name", func() record.Run { return header(func(s []scenarios.Scenario) { s[1].Name = "c" }) }),
		Entry("number of trials", func() record.Run { return header(func(s []scenarios.Scenario) { s[0].Trials = 4 }) }),
		Entry("order", func() record.Run { return header(func(s []scenarios.Scenario) { s[0], s[1] = s[1], s[0] }) }),
		Entry("selection", func() record.Run {
			return harness.Header(set()[:1], "rehearse 1", dated("2026-01-01"), map[string]string{"branch": "main", "os": "linux"})
		}),
	)
})
