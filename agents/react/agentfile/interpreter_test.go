package agentfile_test

import (
	"encoding/json"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
)

// An input whose value an interpreter runs as code would let the model run any command.
var _ = DescribeTable("An input of an action in a command", func(refused bool, command ...string) {
	argv, err := json.Marshal(command) // which YAML reads, too
	Expect(err).NotTo(HaveOccurred())
	_, err = agentfile.Load("a.agent.md", fmt.Appendf(nil,
		"---\nid: x\ncontract: {constraints: [Be brief.]}\nactions:\n  a: {command: %s, inputs: [{name: in}]}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", argv))
	if refused {
		Expect(err).To(MatchError(ContainSubstring("its value could become a command")))
	} else {
		Expect(err).NotTo(HaveOccurred())
	}
},
	Entry("the code of a shell", true, "sh", "-c", "wc -l {in}"),
	Entry("all of it", true, "sh", "-c", "{in}"),
	Entry("a shell by its path", true, "/usr/bin/bash", "-lc", "cat {in}"),
	Entry("a shell behind another program", true, "env", "X=1", "timeout", "5", "bash", "-ec", "cat {in}"),
	Entry("a shell with an option that takes a value", true, "bash", "-o", "pipefail", "-c", "cat {in}"),
	Entry("a shell on Windows", true, `C:\\Windows\\cmd.exe`, "/C", "type {in}"),
	Entry("PowerShell", true, "pwsh", "-NoProfile", "-Command", "Get-Content {in}"),
	Entry("Python", true, "python3.11", "-c", "print('{in}')"),
	Entry("Python, in one argument", true, "python3", "-cprint('{in}')"),
	Entry("Node", true, "node", "--eval", "console.log('{in}')"),
	Entry("Node, in one argument", true, "node", "--eval=console.log('{in}')"),
	Entry("Perl", true, "perl", "-ne", "print if /{in}/", "x"),
	Entry("Ruby", true, "ruby", "-e", "puts '{in}'"),
	Entry("awk", true, "awk", "-F,", "{in}", "orders.csv"),
	Entry("sed, which can run commands", true, "sed", "-n", "{in}p", "orders.csv"),

	Entry("an argument of a shell's code", false, "sh", "-c", `wc -l "$0"`, "{in}"),
	Entry("an argument of Python's code", false, "python3", "-c", "import sys; print(sys.argv[1])", "{in}"),
	Entry("an argument of a script", false, "sh", "count.sh", "{in}"),
	Entry("an option of a script", false, "node", "count.js", "-p", "{in}"),
	Entry("a file for awk", false, "awk", "{print $1}", "{in}"),
	Entry("a file for sed", false, "sed", "-n", "1p", "{in}"),
	Entry("an expression for grep", false, "grep", "-c", "-e", "{in}", "orders.csv"),
	Entry("a program with a like name", false, "shasum", "-c", "{in}"),
)
