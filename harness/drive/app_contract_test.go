package drive_test

import (
	"context"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/app/apptest"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// carryOut runs a trial of a scenario.
func carryOut(ctx context.Context, text string) record.Trial {
	GinkgoHelper()
	sc, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, newEnv())
	Expect(err).NotTo(HaveOccurred())
	t, _ := d.Trial(ctx, 1)
	return t
}

// demoCommand is the drive section of the demo agent, which is this test binary.
func demoCommand(args, keys string) func(do string) string {
	return func(do string) string {
		return "  command:\n    run: [\"{rehearse}\", -do, \"" + do + "\"" + args + "]\n    env: {REHEARSE_DEMO: command}\n" + keys
	}
}

var _ = DescribeTable("an agent that bypasses the proxy cannot reach another machine, and the error names the host that it looked up:",
	func(ctx SpecContext, drives func(do string) string) {
		if err := drive.TryOwnNetwork(); err != nil {
			Skip(err.Error())
		}
		t := carryOut(ctx, "name: spec/direct\ndrive:\n"+drives("direct")+"    turns: [Hello.]\nbackend:\n  unpriced: true\n  replies: [{text: Hello!}]\nexpect: {status: done}\n")
		Expect(t.End.HarnessError).To(ContainSubstring("called api.openai.com, which was refused"))
	},
	Entry("a command", demoCommand("", "")),
	Entry("an HTTP application", demoHTTP),
)

func init() {
	apptest.Contract(apptest.Subject{Name: "a command", Drive: demoCommand("", ""), Run: carryOut})
	apptest.Contract(apptest.Subject{
		Name: "a command that lives for a session", Run: carryOut,
		Drive: demoCommand(", -session, -output, jsonl", "    lives: session\n    output: jsonl\n    answer: $.result\n"),
	})
}
