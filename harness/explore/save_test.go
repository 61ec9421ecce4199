package explore_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// saveOptions are the options for reading scenarios.
var saveOptions = scenarios.Options{Kinds: kinds.All().Formats(), CheckExpr: kinds.Language().Check, CheckInvariant: kinds.Language().CheckInvariant}

// fragile gives up at the first failed call, which violates its invariant.
const fragile = `# yaml-language-server: $schema=../schema.json
# Why this path matters.
name: spec/fragile
about: A loop over answers from files.
proves: [L-01]
trials: 2
drive:
  loop: {prompt: Fix it and say DONE., error_limit: 1}
backend:
  model: gpt-4.1-mini
  retry: 0 # mend here
  replies:
    - file: answers/first.txt # from a file
      latency: 1s
    - {file: answers/second.txt}
expect: {status: done, calls: 2}
invariants:
  - |
    // ends-well: it ends well whatever happens
    run.status == "done"
`

// folder returns a folder with the scenario and its answers.
func folder() string {
	GinkgoHelper()
	dir := GinkgoT().TempDir()
	Expect(os.Mkdir(filepath.Join(dir, "answers"), 0o700)).To(Succeed())
	for name, text := range map[string]string{
		"fragile.yaml": fragile, "answers/first.txt": "I look.\n\nIt's \"odd\": {a: 1}\n", "answers/second.txt": "Fixed.\nDONE",
	} {
		Expect(os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600)).To(Succeed())
	}
	return dir
}

// judge runs and judges a scenario file.
func judge(file string) harness.Judged {
	GinkgoHelper()
	sink := &memory{}
	_, err := harness.Run(context.Background(), load(file), harness.Options{Language: kinds.Language(), Env: newEnv(), Sink: sink})
	Expect(err).NotTo(HaveOccurred())
	Expect(sink.trials).To(HaveLen(1))
	return sink.trials[0]
}

// classes returns the classes of findings.
func classes(found []gate.Finding) (all []string) {
	for _, f := range found {
		all = append(all, result.FindingClass(f))
	}
	return all
}

var _ = Describe("Save", func() {
	It("writes a scenario that fails like the cell, and passes after a fix", func() {
		sc := load(filepath.Join(folder(), "fragile.yaml"))[0]
		r := run(sc, only(result.Faults))
		failed := cell(r, "call=2:status,status=503")
		Expect(failed.Outcome).To(Equal(result.Failed))
		saved, err := explore.Save(sc, &failed, GinkgoT().TempDir(), saveOptions)
		Expect(err).NotTo(HaveOccurred())
		Expect(saved.Name).To(Equal("spec/fragile/call-2-status-status-503"))
		Expect(saved.FileName).To(Equal("spec-fragile-call-2-status-status-503.yaml"))
		Expect(string(saved.Text)).To(Equal(`# Why this path matters.
name: spec/fragile/call-2-status-status-503
about: 'spec/fragile with a perturbation that violates: ends-well: it ends well whatever happens'
drive:
  loop: {prompt: Fix it and say DONE., error_limit: 1}
backend:
  model: gpt-4.1-mini
  retry: 0 # mend here
  replies:
    - text: | # from a file
        I look.

        It's "odd": {a: 1}
      latency: 1s
    - {text: "Fixed.\nDONE"}
perturb:
  - call=2:status,status=503
invariants:
  - |
    // ends-well: it ends well whatever happens
    run.status == "done"
`))

		file := filepath.Join(GinkgoT().TempDir(), saved.FileName) // a folder without the answers
		Expect(os.WriteFile(file, saved.Text, 0o600)).To(Succeed())
		again := judge(file)
		Expect(again.Verdict).To(Equal(gate.Fail))
		Expect(classes(again.Findings)).To(Equal(classes(failed.Findings)))

		fixed := strings.Replace(string(saved.Text), "retry: 0", "retry: 1", 1)
		Expect(os.WriteFile(file, []byte(fixed), 0o600)).To(Succeed())
		Expect(judge(file).Verdict).To(Equal(gate.Pass))
	})

	It("saves shrunk pairs, and failures of shipped scenarios", func() {
		sc := load("loop/golden-marker")[0]
		saved, err := explore.Save(sc, &result.Cell{
			Perturb: []string{"call=1:timeout", "call=2:reset-mid-stream,after=3"}, Shrunk: []string{"call=2:reset-mid-stream,after=3"},
		}, ".", saveOptions)
		Expect(err).NotTo(HaveOccurred())
		Expect(saved.Name).To(Equal("loop/golden-marker/call-2-reset-mid-stream-after-3"))
		got, found := scenarios.Parse("saved.yaml", saved.Text, nil, scenarios.Options{Kinds: kinds.All().Formats()})
		Expect(found).To(BeEmpty())
		Expect(got.Perturb).To(HaveLen(1))
		Expect(got.Backend.Replies).To(Equal(sc.Backend.Replies))
		Expect(got.Drive).To(Equal(sc.Drive))
	})

	It("reports a missing file, and one that cannot be derived", func() {
		dir := folder()
		sc := load(filepath.Join(dir, "fragile.yaml"))[0]
		Expect(os.Remove(filepath.Join(dir, "fragile.yaml"))).To(Succeed())
		_, err := explore.Save(sc, &result.Cell{Perturb: []string{"call=1:timeout"}}, ".", saveOptions)
		Expect(err).To(MatchError(ContainSubstring("read the file of scenario spec/fragile again")))
		_, err = explore.Save(load("loop/golden-marker")[0], &result.Cell{Perturb: []string{"call=1:nonsense"}}, ".", saveOptions)
		Expect(err).To(MatchError(ContainSubstring("cannot derive it from shipped:loop/golden-marker.yaml")))
	})

	DescribeTable("quotes the command that repeats a run for a shell",
		func(file, name, want string) {
			sc := scenarios.Scenario{File: file, Name: name}
			Expect(explore.Command(&sc, []string{"call=1:status,status=503"})).To(Equal(want))
		},
		Entry("a shipped one", "shipped:loop/golden.yaml", "loop/golden", "rehearse run loop/golden --perturb 'call=1:status,status=503'"),
		Entry("a file", "my file's.yaml", "x", `rehearse run 'my file'\''s.yaml' --perturb 'call=1:status,status=503'`),
		Entry("a file that looks like a flag", "-x.yaml", "x", "rehearse run ./-x.yaml --perturb 'call=1:status,status=503'"),
		Entry("no file", "", "x", "rehearse run x --perturb 'call=1:status,status=503'"),
	)
})
