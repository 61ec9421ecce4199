package drive_test

import (
	"context"
	"os"
	"path/filepath"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// runIn drives a scenario of a file in the folder "scenarios" of a new project that has
// the given files, and from which the specs run.
func runIn(files map[string]string, run string) record.Trial {
	GinkgoHelper()
	GinkgoT().Chdir(GinkgoT().TempDir())
	for name, text := range files {
		Expect(os.MkdirAll(filepath.Dir(name), 0o755)).To(Succeed())
		Expect(os.WriteFile(name, []byte(text), 0o755)).To(Succeed())
	}
	Expect(os.MkdirAll("scenarios", 0o755)).To(Succeed())
	sc, found := scenarios.Parse("scenarios/spec.yaml", []byte("name: spec/one\ndrive: {command: {run: "+run+", turns: [Hello.]}}\n"+
		"backend: {unpriced: true, rules: [{text: x, optional: true}]}\nexpect: {status: done}\n"), nil, scenarios.Options{Kinds: kinds.All().Formats()})
	Expect(found).To(BeEmpty())
	d, err := drive.New(sc, newEnv())
	Expect(err).NotTo(HaveOccurred())
	t, _ := d.Trial(context.Background(), 1)
	return t
}

var _ = Describe("A program that does not find its file", func() {
	DescribeTable("gets a hint on how to write the path",
		func(file, run, hint string) {
			t := runIn(map[string]string{file: "#!/bin/sh\necho here\n"}, run)
			Expect(t.End).To(And(HaveField("Status", "error"), HaveField("AgentError", true)))
			Expect(t.End.HarnessError).To(HaveSuffix("\ndid you mean " + hint + "? programs are started in the workspace; {here} is the folder of the scenario file"))
		},
		Entry("beside the scenario", "scenarios/agent.sh", "[sh, agent.sh]", `"{here}/agent.sh"`),
		Entry("in a folder beside it", "scenarios/bin/agent.sh", "[sh, bin/agent.sh]", `"{here}/bin/agent.sh"`),
		Entry("where rehearse runs", "agent.sh", "[sh, agent.sh]", `"{here}/../agent.sh"`),
		Entry("as the path from where rehearse runs", "scenarios/agent.sh", "[sh, scenarios/agent.sh]", `"{here}/agent.sh"`),
		Entry("with an option before it", "scenarios/agent.sh", "[sh, -e, agent.sh]", `"{here}/agent.sh"`),
		Entry("as the program itself", "scenarios/agent.sh", "[agent.sh]", `"{here}/agent.sh"`),
	)

	It("gets no hint if it names the file from {here}", func() {
		t := runIn(map[string]string{"agent.sh": "echo no such module >&2; exit 1\n"}, `[sh, "{here}/../agent.sh"]`)
		Expect(t.End.AgentError).To(BeTrue())
		Expect(t.End.HarnessError).To(HaveSuffix("no such module"))
	})

	It("gets no hint if no such file exists", func() {
		t := runIn(nil, "[sh, agent.sh]")
		Expect(t.End.AgentError).To(BeTrue())
		Expect(t.End.HarnessError).NotTo(ContainSubstring("did you mean"))
	})

	It("has its standard error quoted with line breaks, to the end", func() {
		t := runIn(map[string]string{"scenarios/a.sh": "i=0; while [ $i -lt 900 ]; do echo line $i; i=$((i+1)); done >&2; exit 3\n"}, `[sh, "{here}/a.sh"]`)
		Expect(t.End.HarnessError).To(And(
			ContainSubstring("ended with exit status 3; the end of its standard error:\nline "),
			HaveSuffix("\nline 898\nline 899"),
		))
	})
})
