package action_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/action"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// gated opens the actions of a workspace with an approval, and a person who answers; the requests are recorded.
func gated(folder string, a agentfile.Approval, person func(action.Request) bool) (action.Set, *[]action.Request) {
	GinkgoHelper()
	var requests []action.Request
	gate := action.Gate{Approval: a}
	if person != nil {
		gate.Ask = func(_ context.Context, r action.Request) bool {
			requests = append(requests, r)
			return person(r)
		}
	}
	set, err := action.New(&agentfile.Agent{ID: "x"}, action.Options{Workspace: folder, Gate: gate})
	Expect(err).NotTo(HaveOccurred())
	return set, &requests
}

func always(action.Request) bool { return true }

var auto = agentfile.Approval{Mode: agentfile.ApproveAuto}

var _ = Describe("The actions shell and edit", Label("R-05"), func() {
	It("are unknown unless an approval offers them", func() {
		set := open(workspace("a.txt", "a\n"))
		Expect(set.Describe()).NotTo(ContainSubstring("shell"))
		Expect(do(set, "shell", "command: ls").Rule).To(Equal(action.RuleUnknownAction))
		set, _ = gated(workspace(), agentfile.Approval{Deny: []string{"shell"}}, nil)
		Expect(do(set, "edit", "{path: a, old: b, new: c}").Rule).To(Equal(action.RuleUnknownAction))
		set, _ = gated(workspace(), auto, nil)
		Expect(set.Describe()).To(ContainSubstring("- shell {command, timeout}"))
	})

	DescribeTable("are done as the approval decides",
		func(a agentfile.Approval, answer, offered bool, command, rule string, questions int) {
			var person func(action.Request) bool
			if offered {
				person = func(action.Request) bool { return answer }
			}
			set, requests := gated(workspace("a.txt", "a\n"), a, person)
			r := do(set, "shell", "command: '"+command+"'")
			Expect(r.Rule).To(Equal(rule), r.Observation)
			Expect(*requests).To(HaveLen(questions))
		},
		Entry("auto", auto, false, false, "true", "", 0),
		Entry("ask, and yes", agentfile.Approval{Mode: "ask"}, true, true, "true", "", 1),
		Entry("ask, and no", agentfile.Approval{Mode: "ask"}, false, true, "true", "not-approved", 1),
		Entry("ask, and nobody there", agentfile.Approval{Mode: "ask"}, false, false, "true", "not-approved", 0),
		Entry("allowed", agentfile.Approval{Allow: []string{"shell:ec*"}}, false, false, "echo a", "", 0),
		Entry("not allowed", agentfile.Approval{Allow: []string{"shell:ec*"}}, true, true, "true", "not-approved", 0),
		Entry("allowed, but two commands", agentfile.Approval{Allow: []string{"shell:echo *"}}, true, true, "echo a; true", "not-approved", 0),
		Entry("allowed, but a substitution", agentfile.Approval{Mode: "ask", Allow: []string{"shell:echo *"}}, false, true, "echo $(true)", "not-approved", 1),
		Entry("two commands, allowed word for word", agentfile.Approval{Allow: []string{"shell:echo a; true"}}, false, false, "echo a; true", "", 0),
		Entry("denied", agentfile.Approval{Mode: "auto", Deny: []string{"shell:git push*"}}, true, true, "git push origin", "not-approved", 0),
		Entry("denied as a part", agentfile.Approval{Mode: "auto", Allow: []string{"shell"}, Deny: []string{"shell:git push*"}}, true, true, "true && git push", "not-approved", 0),
		Entry("another action", agentfile.Approval{Allow: []string{"edit"}}, true, true, "true", "not-approved", 0),
		Entry("any action", agentfile.Approval{Allow: []string{"*"}}, true, true, "true", "", 0),
	)

	It("refuse invalid patterns and modes", func() {
		for _, a := range []agentfile.Approval{{Mode: "yes"}, {Allow: []string{"[:x"}}, {Deny: []string{" :x"}}} {
			_, err := action.New(&agentfile.Agent{ID: "x", Approval: a}, action.Options{Workspace: workspace()})
			Expect(err).To(HaveOccurred())
		}
	})

	It("give way to an agent's own action of the name", func() {
		set, err := action.New(&agentfile.Agent{ID: "x", Approval: auto, Actions: []agentfile.Action{{ID: "shell", Command: []string{"true"}, Timeout: 1e9, Description: "mine"}}},
			action.Options{Workspace: workspace()})
		Expect(err).NotTo(HaveOccurred())
		Expect(strings.Count(set.Describe(), "- shell ")).To(Equal(1))
		Expect(set.Describe()).To(ContainSubstring("- shell {}: mine"))
	})
})

var _ = Describe("shell", Label("R-05"), func() {
	BeforeEach(func() {
		if runtime.GOOS == "windows" {
			Skip("there is no sh")
		}
	})

	It("runs a command line in the workspace, without the secrets of the environment, and lists what changed", func() {
		GinkgoT().Setenv("DEMO_API_KEY", "hunter2")
		folder := workspace("a.txt", "a\n", "b.txt", "b\n")
		set, _ := gated(folder, auto, nil)
		r := do(set, "shell", "command: 'echo new > c.txt; rm b.txt; env; pwd; exit 3'")
		Expect(r.Failed).To(BeFalse(), r.Observation)
		Expect(r.Observation).To(HavePrefix("exit status 3\n"))
		Expect(r.Observation).NotTo(ContainSubstring("hunter2"))
		Expect(r.Observation).To(ContainSubstring(filepath.Base(folder)))
		Expect(r.Observation).To(HaveSuffix("\nchanged 2 files: b.txt, c.txt"))
		Expect(r.Written).To(Equal([]string{"b.txt", "c.txt"}))
	})

	It("has limits of time and output", func() {
		set, _ := gated(workspace(), auto, nil)
		r := do(set, "shell", "{command: sleep 60, timeout: 50ms}")
		Expect(r.Rule).To(Equal("timeout"), r.Observation)
		Expect(do(set, "shell", "command: yes").Rule).To(Equal("output-flood"))
		Expect(do(set, "shell", "{command: ls, timeout: 11m}").Rule).To(Equal("bad-input"))
		Expect(do(set, "shell", "command: ' '").Rule).To(Equal("bad-input"))
		Expect(do(set, "shell", "command: "+strings.Repeat("a", 9000)).Rule).To(Equal("bad-input"))
	})
})

var _ = Describe("edit", Label("R-05"), func() {
	It("replaces the one occurrence, and asks with the change", func() {
		folder := workspace("src/a.go", "one\ntwo\nthree\n")
		Expect(os.Chmod(filepath.Join(folder, "src", "a.go"), 0o755)).To(Succeed())
		set, requests := gated(folder, agentfile.Approval{Mode: "ask"}, always)
		r := do(set, "edit", "{path: ./src/a.go, old: \"two\\n\", new: \"2\\nzwei\\n\"}")
		Expect(r.Failed).To(BeFalse(), r.Observation)
		Expect(r.Observation).To(HavePrefix("replaced 1 occurrence at line 2; wrote src/a.go: "))
		Expect(*requests).To(Equal([]action.Request{{Action: "edit", Subject: "src/a.go", Detail: "line 2:\n- two\n+ 2\n+ zwei"}}))
		data, err := os.ReadFile(filepath.Join(folder, "src", "a.go"))
		Expect(err).NotTo(HaveOccurred())
		Expect(string(data)).To(Equal("one\n2\nzwei\nthree\n"))
		info, err := os.Stat(filepath.Join(folder, "src", "a.go"))
		Expect(err).NotTo(HaveOccurred())
		Expect(info.Mode().Perm()).To(Equal(os.FileMode(0o755)))
	})

	It("keeps the line ends of a file", func() {
		folder := workspace("a.txt", "one\r\ntwo\r\n")
		set, _ := gated(folder, auto, nil)
		Expect(do(set, "edit", "{path: a.txt, old: \"one\\ntwo\", new: \"1\\n2\"}").Failed).To(BeFalse())
		data, _ := os.ReadFile(filepath.Join(folder, "a.txt"))
		Expect(string(data)).To(Equal("1\r\n2\r\n"))
	})

	DescribeTable("refuses, without a question,",
		func(input, rule, message string) {
			folder := workspace("a.txt", "one\ntwo\none\n", ".github/ci.yml", "on: push\n", "x.agent.md", "---\nid: x\n")
			set, requests := gated(folder, agentfile.Approval{Mode: "ask"}, always)
			r := do(set, "edit", input)
			Expect(r.Rule).To(Equal(rule))
			Expect(r.Observation).To(ContainSubstring(message))
			Expect(*requests).To(BeEmpty())
			data, _ := os.ReadFile(filepath.Join(folder, "a.txt"))
			Expect(string(data)).To(Equal("one\ntwo\none\n"))
		},
		Entry("a text that occurs twice", "{path: a.txt, old: one, new: 1}", "no-match", "old occurs 2 times, at the lines 1, 3"),
		Entry("a text that does not occur", "{path: a.txt, old: three, new: 3}", "no-match", "old does not occur"),
		Entry("no text", "{path: a.txt, old: '', new: 3}", "no-match", "old is empty"),
		Entry("the same text", "{path: a.txt, old: two, new: two}", "no-match", "are the same"),
		Entry("a file that other programs run", "{path: .github/ci.yml, old: push, new: pull}", "protected", "may be read and not written"),
		Entry("an agent file", "{path: x.agent.md, old: x, new: y}", "protected", "may be read and not written"),
		Entry("a file outside", "{path: ../a.txt, old: x, new: y}", "outside-workspace", "outside the workspace"),
		Entry("a file that is missing", "{path: b.txt, old: x, new: y}", "no-such-file", "there is no b.txt"),
	)

	It("may be limited to paths", func() {
		set, _ := gated(workspace("docs/a.md", "a\n", "src/a.go", "a\n"), agentfile.Approval{Allow: []string{"edit:docs/**"}}, nil)
		Expect(do(set, "edit", "{path: docs/a.md, old: a, new: b}").Failed).To(BeFalse())
		Expect(do(set, "edit", "{path: src/a.go, old: a, new: b}").Rule).To(Equal("not-approved"))
	})
})
