package scenarios_test

import (
	"testing/fstest"

	"github.com/google/go-cmp/cmp/cmpopts"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/kind/function"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/mocks"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/expect"
)

var _ = Describe("A scenario that is a Go value", Label("H-02"), func() {
	opts := scenarios.Options{Kinds: kinds.All().Formats()}

	It("is that of the file with the same values", func() {
		all, found := scenarios.Load(scenarios.Names(), opts)
		Expect(found).To(BeEmpty())
		for _, sc := range all {
			if sc.Drive.Kind == "interview" || sc.Backend.ScriptFile != "" || sc.Backend.Lenient {
				continue // parsing has added lines to the script
			}
			again, found := scenarios.ParseValue(sc.Name, sc, fstest.MapFS{}, opts)
			Expect(found).To(BeEmpty(), sc.Name)
			again.File, again.Where, again.Digest, again.Files = sc.File, sc.Where, sc.Digest, sc.Files
			Expect(again).To(BeComparableTo(sc, cmpopts.EquateEmpty()), sc.Name)
		}
	})

	valid := func() scenarios.Scenario {
		return scenarios.Scenario{
			Name: "spec/value",
			Drive: scenarios.Drive{Kind: "function", Options: &function.Options{
				Name: "f", Talk: scenarios.Talk{Turns: []string{"What is it?"}},
			}},
			Backend: scenarios.Backend{Script: mocks.Script{Model: "gpt-4.1-mini", Replies: []mocks.Line{mocks.Say("It is this.")}}},
			Expect:  expect.Expect{Status: "done"},
		}
	}

	DescribeTable("is rejected with the field", func(path string, change func(*scenarios.Scenario)) {
		sc := valid()
		change(&sc)
		_, found := scenarios.ParseValue("Scenarios[0]", sc, fstest.MapFS{}, opts)
		Expect(found).To(HaveLen(1))
		Expect(found.Err()).To(MatchError(HavePrefix("Scenarios[0]: " + path + ": ")))
	},
		Entry("without a name", "name", func(sc *scenarios.Scenario) { sc.Name = "" }),
		Entry("with a name that is not one", "name", func(sc *scenarios.Scenario) { sc.Name = "A B" }),
		Entry("with text that is not UTF-8", "about", func(sc *scenarios.Scenario) { sc.About = "a\xff" }),
		Entry("with a turn that is not UTF-8", "drive.function.turns[0]", func(sc *scenarios.Scenario) {
			sc.Drive.Options.(*function.Options).Turns[0] = "a\xff"
		}),
		Entry("with a tag that is not one", "tags[0]", func(sc *scenarios.Scenario) { sc.Tags = []string{"A"} }),
		Entry("without an agent", "drive", func(sc *scenarios.Scenario) { sc.Drive = scenarios.Drive{} }),
		Entry("without turns", "drive.function", func(sc *scenarios.Scenario) { sc.Drive.Options.(*function.Options).Turns = nil }),
		Entry("with an unknown model", "backend.model", func(sc *scenarios.Scenario) { sc.Backend.Model = "nothing" }),
		Entry("with an unknown backend", "backend.as", func(sc *scenarios.Scenario) { sc.Backend.As = "sockets" }),
		Entry("with too many retries", "backend.retry", func(sc *scenarios.Scenario) { sc.Backend.Retry = 11 }),
		Entry("with a fault that its backend cannot show", "backend.replies[0].fault", func(sc *scenarios.Scenario) {
			sc.Backend.Replies[0].Fault = &mocks.Fault{Kind: mocks.ProcessFaults()[0]}
		}),
		Entry("without expectations", "expect", func(sc *scenarios.Scenario) { sc.Expect = expect.Expect{} }),
		Entry("with an unknown status", "expect.status", func(sc *scenarios.Scenario) { sc.Expect.Status = "fine" }),
		Entry("with a negative number of trials", "trials", func(sc *scenarios.Scenario) { sc.Trials = -1 }),
	)
})
