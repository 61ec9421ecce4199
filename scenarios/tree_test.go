package scenarios_test

import (
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/kinds"
	"github.com/rehearse-dev/rehearse/scenarios"
)

var _ = DescribeTable("Files and links of a workspace",
	func(stage string, want ...string) {
		text := "name: spec/one\ndrive:\n  react:\n    agent: a.agent.md\n    task: {do: Go.}\n" + stage +
			"backend:\n  model: gpt-4.1-mini\n  replies: [{text: '## Final Answer'}]\nexpect: {status: done}\n"
		_, found := scenarios.Parse("spec.yaml", []byte(text), nil, scenarios.Options{Kinds: kinds.All().Formats()})
		var messages []string
		for _, d := range found {
			if d.Path != "drive.react.agent" {
				messages = append(messages, d.Path+": "+d.Message)
			}
		}
		Expect(messages).To(ConsistOf(want))
	},
	Entry("have places of their own", "    files: {a/b: x, a/c: x, b: x}\n    links: {a/d: /etc/passwd, l: a}\n"),
	Entry("are not below a link", "    links: {a: victim, a/b/c/d: /etc/passwd}\n    files: {a/pwn: x}\n",
		`drive.react.links.a/b/c/d: "a/b/c/d" is below "a", which is a link and not a folder; choose another path`,
		`drive.react.files.a/pwn: "a/pwn" is below "a", which is a link and not a folder; choose another path`),
	Entry("are not below a link, however that is written", "    links: {./a/: victim}\n    files: {a//b/./c: x}\n",
		`drive.react.files["a//b/./c"]: "a//b/./c" is below "./a/", which is a link and not a folder; choose another path`),
	Entry("are not below a file", "    files: {a: x, a/b: x}\n",
		`drive.react.files.a/b: "a/b" is below "a", which is a file and not a folder; choose another path`),
	Entry("are there once", "    files: {a: x, ./a: x}\n    links: {b/../a: y}\n",
		`drive.react.files["./a"]: "./a" is the same path as "b/../a" of links; write it once`,
		`drive.react.files.a: "a" is the same path as "b/../a" of links; write it once`),
	Entry("stay in the workspace", "    files: {../a: x, .: x}\n    links: {/b: y}\n",
		`drive.react.files["../a"]: "../a" leaves the workspace; write a relative path inside it`,
		`drive.react.files["."]: "." leaves the workspace; write a relative path inside it`,
		`drive.react.links./b: "/b" leaves the workspace; write a relative path inside it`),
)
