package agentfile_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

const whole = `---
id: code-audit
description: Looks for flaws.
model: small
max_iterations: 8
contract:
  inputs:
    - {name: target, required: true, description: What is looked at.}
    - {name: depth}
  input_schema:
    type: object
    properties: {target: {type: string}}
  output:
    type: object
    required: [issues]
    properties:
      issues: {type: array, maxItems: 2, items: {$ref: "#/$defs/issue"}}
    $defs: {issue: {type: string}}
  constraints:
    - At most two issues.
actions:
  count: {command: [wc, -l, "{file}"], inputs: [{name: file, required: true}], timeout: 10s}
  show: {command: [cat, "-n", "{a}", "{b}"], inputs: [{name: a}, {name: b}], description: Shows two files.}
delegates: [writer]
---
# Auditor

You look for flaws.

` + "```" + `
## REACT_CYCLE is not begun in code
` + "```" + `

## REACT_CYCLE

<!-- what follows is read by the program -->

### Typical thoughts
- What is reachable
  from outside?
* Who calls it?

### Specific actions
- ` + "`show`" + `
- ` + "`count`" + `: how many lines

### Done criteria
1. Every file was looked at.

### Escalation triggers
- A key that seems to be in use.

## Style

Be brief.
`

func load(text string) (*agentfile.Agent, error) {
	return agentfile.Load("a.agent.md", []byte(text))
}

var _ = Describe("Load", func() {
	It("reads every part of a file", Label("R-06"), func() {
		a, err := load(whole)
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Contract.InputSchema).To(MatchJSON(`{"type":"object","properties":{"target":{"type":"string"}}}`))
		Expect(a.Contract.Output).To(ContainSubstring(`"$ref":"#/$defs/issue"`))
		a.Contract.InputSchema, a.Contract.Output = nil, nil
		Expect(*a).To(Equal(agentfile.Agent{
			ID: "code-audit", Description: "Looks for flaws.", Model: "small", MaxIterations: 8,
			Body: "# Auditor\n\nYou look for flaws.\n\n```\n## REACT_CYCLE is not begun in code\n```\n\n## Style\n\nBe brief.",
			Contract: agentfile.Contract{
				Inputs:      []agentfile.Input{{Name: "target", Required: true, Description: "What is looked at."}, {Name: "depth"}},
				Constraints: []string{"At most two issues."},
			},
			Thoughts: []string{"What is reachable from outside?", "Who calls it?"},
			Done:     []string{"Every file was looked at."},
			Triggers: []string{"A key that seems to be in use."},
			Actions: []agentfile.Action{
				{ID: "show", Description: "Shows two files.", Command: []string{"cat", "-n", "{a}", "{b}"}, Inputs: []agentfile.Input{{Name: "a"}, {Name: "b"}}, Timeout: quantity.Duration(time.Minute)},
				{ID: "count", Description: "how many lines", Command: []string{"wc", "-l", "{file}"}, Inputs: []agentfile.Input{{Name: "file", Required: true}}, Timeout: quantity.Duration(10 * time.Second)},
			},
			Delegates: []string{"writer"},
			File:      "a.agent.md",
		}))
	})

	It("reads the headings of document 003 in French", Label("R-06"), func() {
		a, err := load("---\nid: x\ncontract: {constraints: [Court.]}\nactions: {voir: {command: [cat]}}\n---\nTu lis.\n" +
			"## REACT_CYCLE\n### Thoughts typiques\n- a\n### Actions spécifiques\n- `voir`: b\n### Critères de done\n- c\n### Triggers d’escalation :\n- d\n")
		Expect(err).NotTo(HaveOccurred())
		Expect([]string{a.Thoughts[0], a.Actions[0].Description, a.Done[0], a.Triggers[0]}).To(Equal([]string{"a", "b", "c", "d"}))
		Expect(a.MaxIterations).To(Equal(5))
	})

	It("needs no REACT_CYCLE, and takes CR LF and a byte order mark", func() {
		a, err := load("\ufeff---\r\nid: x\r\ncontract: {inputs: [{name: y}]}\r\n---\r\nYou read.\r\n")
		Expect(err).NotTo(HaveOccurred())
		Expect(a.Body).To(Equal("You read."))
	})

	const head = "---\nid: x\ncontract: {inputs: [{name: y}]}\n"
	DescribeTable("reports the place of an error",
		func(text, want string) {
			a, err := load(text)
			Expect(err).To(MatchError(want))
			Expect(a).To(BeNil())
		},
		Entry("no front matter", "# x\n", `a.agent.md:1:1: the file does not begin with front matter; expected a line "---", then the agent's id and contract`),
		Entry("nothing at all", "", `a.agent.md:1:1: the file does not begin with front matter; expected a line "---", then the agent's id and contract`),
		Entry("front matter without end", "---\nid: x\n", `a.agent.md:1:1: the front matter that begins here has no end; expected a line "---" after it`),
		Entry("empty front matter", "---\n---\n", `a.agent.md:1:1: the front matter is empty; expected the agent's id and contract`),
		Entry("no contract", "---\nid: x\n---\n", `a.agent.md:2:1: the agent has no contract; say under "contract" what goes in (inputs) and what comes out (output)`),
		Entry("a contract without a value", "---\nid: x\ncontract:\n---\n", `a.agent.md:3:10: the value is missing; expected a mapping`),
		Entry("an empty contract", "---\nid: x\ncontract: {}\n---\n", `a.agent.md:3:1: the contract is empty; give inputs, input_schema, output or constraints`),
		Entry("no id", "---\ncontract: {inputs: [{name: y}]}\n---\n", `a.agent.md:2:1: the key "id" is missing`),
		Entry("an id that is a path", "---\nid: ../x\ncontract: {inputs: [{name: y}]}\n---\n", `a.agent.md:2:5: "../x" cannot name an agent; use a small letter, then at most 63 small letters, digits, "-" or "_"`),
		Entry("an unknown key", head+"modle: y\n---\n", `a.agent.md:4:1: unknown key "modle" (did you mean "model"?)`),
		Entry("a syntax error only once", "---\nid: [x\n---\n## REACT_CYCLE\n### Specific actions\n- `a`: b\n", `a.agent.md:3:1: not valid YAML: while parsing a flow sequence: did not find expected ',' or ']'`),
		Entry("iterations out of range", head+"max_iterations: 0\n---\n", `a.agent.md:4:17: found the number 0; expected at least 1`),
		Entry("an input twice", "---\nid: x\ncontract: {inputs: [{name: y}, {name: y}]}\n---\n", `a.agent.md:3:39: the input "y" is named twice`),
		Entry("an input with a strange name", "---\nid: x\ncontract: {inputs: [{name: \"{y}\"}]}\n---\n", `a.agent.md:3:28: "{y}" cannot name an input; use a small letter, then at most 63 small letters, digits, "-" or "_"`),
		Entry("a delegate twice", head+"delegates: [b, b]\n---\n", `a.agent.md:4:16: the agent "b" is named twice`),
		Entry("a delegate that is a path", head+"delegates: [../b]\n---\n", `a.agent.md:4:13: "../b" cannot name an agent; use a small letter, then at most 63 small letters, digits, "-" or "_"`),
		Entry("a delegate that is itself", head+"delegates: [x]\n---\n", `a.agent.md:4:13: an agent cannot delegate to itself`),
		Entry("an unknown type in a schema", "---\nid: x\ncontract:\n  output:\n    properties:\n      a: {type: strng}\n---\n", `a.agent.md:6:17: not a JSON Schema: value must be one of 'array', 'boolean', 'integer', 'null', 'number', 'object', 'string'`),
		Entry("a schema that reads a file", "---\nid: x\ncontract:\n  output:\n    $ref: file:///etc/passwd\n---\n", `a.agent.md:5:11: the schema refers to "file:///etc/passwd", and nothing outside it is read; refer to a place in it, such as #/$defs/name`),
		Entry("a schema that lacks what it refers to", "---\nid: x\ncontract:\n  output:\n    items: {$ref: \"#/$defs/y\"}\n---\n", `a.agent.md:5:19: the schema has no "#/$defs/y"`),
		Entry("a schema of an unknown draft", "---\nid: x\ncontract:\n  output:\n    $schema: http://localhost/x\n---\n", `a.agent.md:5:14: the schema names the draft "http://localhost/x", which is not known; leave $schema out, or use https://json-schema.org/draft/2020-12/schema`),
		Entry("a pattern that is none", "---\nid: x\ncontract:\n  output:\n    pattern: \"(\"\n---\n", "a.agent.md:5:14: not a JSON Schema: '(' is not valid regex: error parsing regexp: missing closing ): `(`"),
		Entry("an action that is not listed", head+"actions:\n  count: {command: [wc]}\n---\n", "a.agent.md:5:3: the action \"count\" is not listed under \"Specific actions\" in REACT_CYCLE; add a line \"- `count`: what it is for\""),
		Entry("an action without a command", head+"---\n## REACT_CYCLE\n### Specific actions\n- `count`: x\n", `a.agent.md:7:1: the action "count" has no command under actions in the front matter (a.agent.md:2:1)`),
		Entry("an empty command", head+"actions:\n  count: {command: []}\n---\n## REACT_CYCLE\n### Specific actions\n- `count`: x\n", `a.agent.md:5:11: the command is empty; name a program and its arguments`),
		Entry("an action with the name of a standard one", head+"actions:\n  search: {command: [grep]}\n---\n", `a.agent.md:5:3: the action "search" would hide the standard one; give it another name`),
		Entry("a standard action listed", head+"---\n## REACT_CYCLE\n### Specific actions\n- `escalate`: x\n", `a.agent.md:7:1: "escalate" is a standard action; every agent has it`),
		Entry("an item that names no action", head+"---\n## REACT_CYCLE\n### Specific actions\n- count lines\n", "a.agent.md:7:1: the item names no action; write \"- `name`: what it is for\""),
		Entry("a placeholder without an input", head+"actions:\n  a: {command: [cat, \"{fiel}\", \"{file}\"], inputs: [{name: file}]}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", `a.agent.md:5:22: {fiel} is not an input of the action (did you mean "file"?)`),
		Entry("a program that is an input", head+"actions:\n  a: {command: [\"{file}\"], inputs: [{name: file}]}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", `a.agent.md:5:17: the program must not depend on an input; {file} may only be an argument`),
		Entry("an input in code", head+"actions:\n  a: {command: [sh, -c, \"wc -l {file}\"], inputs: [{name: file}]}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", `a.agent.md:5:25: {file} is part of code that sh runs, so that its value could become a command; pass it as a later argument of its own, and read that in the code: "$0" or "$1" in a shell, sys.argv in Python`),
		Entry("an input that is not used", head+"actions:\n  a: {command: [cat], inputs: [{name: file}]}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", `a.agent.md:5:32: the command does not use the input "file"; write {file} where it belongs`),
		Entry("no time", head+"actions:\n  a: {command: [cat], timeout: 0s}\n---\n## REACT_CYCLE\n### Specific actions\n- `a`\n", `a.agent.md:5:32: the timeout 0s is out of range; use more than 0s and at most 1h`),
		Entry("an unknown section", head+"---\n## REACT_CYCLE\n### Typical thougths\n- x\n", `a.agent.md:6:1: unknown section "Typical thougths" of REACT_CYCLE (did you mean "Typical thoughts"?)`),
		Entry("a section twice, in two languages", head+"---\n## REACT_CYCLE\n### Done criteria\n- x\n### Critères de done\n- x\n", `a.agent.md:8:1: the section "Critères de done" is there twice; first on line 6`),
		Entry("a cycle that is misspelt", head+"---\n## REACT_CYCEL\n### Done criteria\n- x\n", `a.agent.md:5:1: unknown section "REACT_CYCEL" (did you mean "REACT_CYCLE"?)`),
		Entry("a cycle twice", head+"---\n## REACT_CYCLE\n## REACT_CYCLE\n", `a.agent.md:6:1: REACT_CYCLE is there twice; first on line 5`),
		Entry("prose where a list belongs", head+"---\n## REACT_CYCLE\n### Done criteria\nWhen all is well.\n", `a.agent.md:7:1: "Done criteria" contains text that is not a list; expected a list, one item a line`),
		Entry("a list without a heading", head+"---\n## REACT_CYCLE\n- x\n", `a.agent.md:6:1: the section has no heading; expected a heading such as Typical thoughts`),
		Entry("an empty item", head+"---\n## REACT_CYCLE\n### Done criteria\n- a\n-\n", `a.agent.md:8:1: the item is empty`),
		Entry("a mode of approval that is none", head+"approve: {mode: sometimes}\n---\n", `a.agent.md:4:17: found the text "sometimes"; expected one of never, ask, auto`),
		Entry("a pattern of approval that is none", head+"approve: {allow: [\"[:x\"]}\n---\n", `a.agent.md:4:1: the pattern "[:x" is not valid; write an action and what it is done to, such as "shell:go test *"`),
		Entry("a server without a program", head+"mcp: {files: {command: []}}\n---\n", `a.agent.md:4:7: the command is empty; name a program and its arguments`),
		Entry("a server with two addresses", head+"mcp: {files: {command: [x], url: \"http://x/\"}}\n---\n", `a.agent.md:4:7: a server has either a command, with env, or a url, with headers`),
		Entry("a server at a file", head+"mcp: {files: {url: \"file:///etc\"}}\n---\n", `a.agent.md:4:7: "file:///etc" is not an address such as https://example.com/mcp`),
		Entry("a server with a password in its address", head+"mcp: {files: {url: \"https://a:b@x/\"}}\n---\n", `a.agent.md:4:7: the address must not have a name or a password; use headers`),
		Entry("an invalid header", head+"mcp: {files: {url: \"https://x/\", headers: {\"a b\": c}}}\n---\n", `a.agent.md:4:7: the header "a b" is not valid; its name must be a token and its value one line`),
		Entry("headers for a program", head+"mcp: {files: {command: [x], headers: {a: b}}}\n---\n", `a.agent.md:4:7: headers need a server with a url`),
		Entry("a server of another name", head+"mcp: {Files: {command: [x]}}\n---\n", `a.agent.md:4:7: "Files" cannot name a server; use a small letter, then at most 63 small letters, digits, "-" or "_"`),
		Entry("a server without an end", head+"mcp: {files: {command: [x], timeout: 11m}}\n---\n", `a.agent.md:4:7: the timeout 11m0s is out of range; use at most 10m0s`),
		Entry("a server with a variable that is none", head+"mcp: {files: {command: [x], env: [A=B]}}\n---\n", `a.agent.md:4:7: "A=B" is not the name of an environment variable`),
		Entry("a byte that is not UTF-8", head+"---\né\xff\n", `a.agent.md:5:2: found a byte that is not UTF-8`),
		Entry("a byte that is not UTF-8 in the front matter", "---\nid: \xff\n---\n", `a.agent.md:2:5: found a byte that is not UTF-8`),
	)

	It("shows the line of each error, in the front matter and below it", func() {
		_, err := load("---\r\nid: X\r\ncontract: {constraints: [y]}\r\n---\r\n## REACT_CYCLE\r\n### Critères de doen\r\n\r\n   ### Done criteria\r\nwhen « it » is well\r\n")
		found, ok := errors.AsType[yamlsrc.Diagnostics](err)
		Expect(ok).To(BeTrue())
		Expect(found.Render()).To(Equal(`a.agent.md:2:5: "X" cannot name an agent; use a small letter, then at most 63 small letters, digits, "-" or "_"
  2 | id: X
    |     ^
a.agent.md:6:1: unknown section "Critères de doen" of REACT_CYCLE (did you mean "Critères de done"?)
  6 | ### Critères de doen
    | ^
a.agent.md:9:1: "Done criteria" contains text that is not a list; expected a list, one item a line
  9 | when « it » is well
    | ^
`))
	})

	It("shows the line of an error that ends the reading", func() {
		for text, want := range map[string]string{
			"# Title\n":         "  1 | # Title\n    | ^\n",
			head + "---\né\xff": "  5 | é�\n    |  ^\n",
			head + "---\n" + strings.Repeat(">", 1001): "    | " + strings.Repeat(" ", 100) + "^\n",
		} {
			_, err := load(text)
			found, ok := errors.AsType[yamlsrc.Diagnostics](err)
			Expect(ok).To(BeTrue())
			Expect(found.Render()).To(HaveSuffix(want))
		}
	})

	It("reports all errors at once, in the order of the file", func() {
		_, err := load("---\nid: X\nmodle: y\nactions:\n  a: {command: [cat, \"{b}\"]}\n---\n## REACT_CYCLE\n### Done\n- x\n### Specific actions\n- `aa`: y\n- `a`\n- `a`\n")
		found, ok := errors.AsType[yamlsrc.Diagnostics](err)
		Expect(ok).To(BeTrue())
		var lines []int
		for _, d := range found {
			lines = append(lines, d.Line)
		}
		Expect(lines).To(Equal([]int{2, 2, 3, 5, 8, 11, 13}))
		Expect(err).To(MatchError(ContainSubstring(`a.agent.md:11:1: the action "aa" has no command under actions in the front matter (a.agent.md:4:1) (did you mean "a"?)`)))
	})

	It("reads hostile Markdown fast, and reports at most a hundred errors", func() {
		const begin = "---\nid: x\ncontract: {constraints: [y]}\n---\n## REACT_CYCLE\n### Done criteria\n"
		for _, unit := range []string{">", "> - ", "1. "} {
			_, err := load(begin + strings.Repeat(unit, 60_000))
			Expect(err).To(MatchError("a.agent.md:7:1001: quotations and lists are nested too deeply here"))
		}
		for n, last := range map[int]string{100: "the item is empty", 101: "further errors: 1", 10_000: "further errors: 9900"} {
			_, err := load(begin + strings.Repeat("-\n", n))
			found, ok := errors.AsType[yamlsrc.Diagnostics](err)
			Expect(ok).To(BeTrue())
			Expect(found).To(HaveLen(min(n, 101)))
			Expect(found[len(found)-1].Message).To(Equal(last))
		}
	})

	It("refuses a file that is too large before it reads it", func() {
		_, err := load("---\nid: x\n---\n" + strings.Repeat("x", agentfile.MaxBytes))
		Expect(err).To(MatchError(`a.agent.md: the file has 262158 bytes; at most 262144 are allowed`))
	})
})

var _ = Describe("Contract", func() {
	var c agentfile.Contract
	BeforeEach(func() {
		a, err := load(whole)
		Expect(err).NotTo(HaveOccurred())
		c = a.Contract
	})

	It("reports values that do not match the schemas, and their place", Label("R-06"), func() {
		Expect(c.CheckOutput([]byte(`{"issues": ["a"]}`))).To(Succeed())
		err := c.CheckOutput([]byte(`{"issues": ["a", 1, "c"]}`))
		Expect(err).To(MatchError(agentfile.ErrNoMatch))
		Expect(err).To(MatchError("the value does not match the schema:\n/issues/1: got number, want string\n/issues: maxItems: got 3, want 2"))
		Expect(c.CheckOutput([]byte(`{}`))).To(MatchError("the value does not match the schema:\n/: missing property 'issues'"))
		Expect(c.CheckOutput([]byte(`no JSON`))).To(MatchError(agentfile.ErrNoMatch))
		Expect(c.CheckInput(map[string]any{"target": "x", "depth": 1})).To(Succeed())
		Expect(c.CheckInput(map[string]any{"target": 1})).To(MatchError(agentfile.ErrNoMatch))
	})

	It("gives up on a schema that would take for ever, and on a value that is too large", func() {
		defs := map[string]any{"a30": map[string]any{"type": "object"}}
		for i := range 30 {
			next := map[string]any{"$ref": fmt.Sprintf("#/$defs/a%d", i+1)}
			defs[fmt.Sprintf("a%d", i)] = map[string]any{"allOf": []any{next, next}}
		}
		schema, err := json.Marshal(map[string]any{"$ref": "#/$defs/a0", "$defs": defs})
		Expect(err).NotTo(HaveOccurred())
		bomb := agentfile.Contract{Output: schema}
		Expect(bomb.CheckOutput([]byte("{}"))).To(MatchError(ContainSubstring("takes more than 100000 steps")))
		Expect(c.CheckOutput([]byte(`{"issues": ["` + strings.Repeat("x", 1<<20) + `"]}`))).To(MatchError(agentfile.ErrNoMatch))
	})

	It("matches everything without a schema, and survives a schema that never ends", func() {
		Expect(agentfile.Contract{}.CheckOutput([]byte("text"))).To(Succeed())
		Expect(agentfile.Contract{}.CheckInput(nil)).To(Succeed())
		Expect(agentfile.Contract{Output: json.RawMessage(`{"$ref":"#"}`)}.CheckOutput([]byte("1"))).NotTo(Succeed())
		Expect(agentfile.Contract{Output: json.RawMessage(`{"type":1}`)}.CheckOutput([]byte("1"))).To(MatchError(ContainSubstring("compile")))
	})
})

var _ = Describe("A server in a flag", Label("R-06"), func() {
	DescribeTable("has a name and a command",
		func(text, name string, command ...string) {
			got, server, err := agentfile.ParseServer(text)
			Expect(err).NotTo(HaveOccurred())
			Expect(got).To(Equal(name))
			Expect(server.Command).To(Equal(command))
		},
		Entry("with a name", "files=npx -y x=y .", "files", "npx", "-y", "x=y", "."),
		Entry("without one", "./bin/MCP-Server.exe a=b", "mcp-server-exe", "./bin/MCP-Server.exe", "a=b"),
	)

	It("is refused without a program or a possible name", func() {
		for _, text := range []string{"", " ", "files=", "123"} {
			_, _, err := agentfile.ParseServer(text)
			Expect(err).To(HaveOccurred(), "%q", text)
		}
	})
})
