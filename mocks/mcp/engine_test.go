package mcp_test

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// tickets is a server; TRANSPORT stands for its transport and LINES for the lines of its tool.
const tickets = `
- name: tickets
  transport: TRANSPORT
  tools:
    - name: lookup
      description: Looks a ticket up.
      input: {type: object, properties: {id: {type: string}}, required: [id]}
      LINES
    - {name: close, later: true, rules: [{text: closed, optional: true}]}
    - {name: other, rules: [{text: x, optional: true}, {fault: list_changed, text: y, when: {arguments: {never: x}}, optional: true}]}
  resources: [{uri: "ticket://1", text: A ticket.}]
  prompts: [{name: triage, text: Sort them.}]
`

func server(transport, lines string) string {
	return strings.NewReplacer("TRANSPORT", transport, "LINES", lines).Replace(tickets)
}

// lookup calls the tool.
func lookup(session *sdk.ClientSession, id string) (*sdk.CallToolResult, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return session.CallTool(ctx, &sdk.CallToolParams{Name: "lookup", Arguments: map[string]any{"id": id}})
}

var noChange = func() {}

var _ = It("marks results as complete for clients of version 2026-07-28, which is offered over standard input and output", func() {
	p := start(clock.Real(), server("stdio", `replies: [{text: open}, {error: no such ticket}]`))
	session, err := connect(p.overStdio("tickets")(), noChange)
	Expect(err).NotTo(HaveOccurred())
	defer session.Close()
	for range 2 {
		result, err := lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(json.Marshal(result)).To(ContainSubstring(`"resultType":"complete"`))
	}
})

var _ = DescribeTable("A client gets what the script has",
	func(transport string, via func(p *play) sdk.Transport) {
		p := start(clock.Real(), server(transport,
			`replies: [{when: {arguments: {id: "1"}}, text: open}, {json: {state: closed, n: 2}}, {error: no such ticket}, {fault: protocol_error}]`))
		session, err := connect(via(p), noChange)
		Expect(err).NotTo(HaveOccurred())
		defer session.Close()

		tools, err := session.ListTools(context.Background(), nil)
		Expect(err).NotTo(HaveOccurred())
		Expect(tools.Tools).To(HaveExactElements(HaveField("Name", "lookup"), HaveField("Name", "other")), "and no later tool")
		resource, err := session.ReadResource(context.Background(), &sdk.ReadResourceParams{URI: "ticket://1"})
		Expect(err).NotTo(HaveOccurred())
		Expect(resource.Contents[0].Text).To(Equal("A ticket."))
		prompt, err := session.GetPrompt(context.Background(), &sdk.GetPromptParams{Name: "triage"})
		Expect(err).NotTo(HaveOccurred())
		Expect(prompt.Messages[0].Content.(*sdk.TextContent).Text).To(Equal("Sort them."))

		result, err := lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("open"))
		result, err = lookup(session, "2")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(MatchJSON(`{"state": "closed", "n": 2}`))
		Expect(result.StructuredContent).To(HaveKeyWithValue("state", "closed"))
		result, err = lookup(session, "3")
		Expect(err).NotTo(HaveOccurred())
		Expect(result.IsError).To(BeTrue())
		_, err = lookup(session, "4")
		Expect(err).To(MatchError(ContainSubstring("internal error")))

		calls, report := p.ended()
		Expect(report).To(Equal(mcp.Report{}))
		Expect(calls).To(HaveExactElements(
			mcp.Call{N: 1, Server: "tickets", Tool: "lookup", Arguments: `{"id":"1"}`, Line: "mcp[0].tools[0].replies[0]", Result: "open"},
			And(HaveField("N", 2), HaveField("Result", `{"n":2,"state":"closed"}`)),
			And(HaveField("N", 3), HaveField("Error", "no such ticket"), HaveField("Result", "")),
			And(HaveField("N", 4), HaveField("Fault", "protocol_error"), HaveField("Error", Not(BeEmpty()))),
		))
	},
	Entry("in process", "http", func(p *play) sdk.Transport { return p.inProcess("tickets") }),
	Entry("over HTTP", "http", func(p *play) sdk.Transport { return p.overHTTP("tickets") }),
	Entry("over standard input and output", "stdio", func(p *play) sdk.Transport { return p.overStdio("tickets")() }),
)

var _ = DescribeTable("A call that no line answers is a finding",
	func(lines, tool string, arguments map[string]any, unexpected, invalid string) {
		p := start(clock.NewVirtual(), server("http", lines))
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		_, err = session.CallTool(context.Background(), &sdk.CallToolParams{Name: tool, Arguments: arguments})
		calls, report := p.ended()
		Expect(calls).To(HaveLen(1))
		Expect(calls[0].Line).To(BeEmpty())
		if invalid != "" {
			Expect(err).To(MatchError(ContainSubstring(invalid)))
			Expect(report.Invalid).To(ConsistOf(ContainSubstring(invalid)))
			return
		}
		Expect(err).To(MatchError(ContainSubstring(unexpected)))
		Expect(report.Unexpected).To(ConsistOf("MCP call 1: " + unexpected))
	},
	Entry("an unknown tool", "rules: [{text: x, optional: true}]", "lokup", nil,
		`the MCP server tickets has no tool "lokup"; it has lookup, other (did you mean "lookup"?)`, ""),
	Entry("a tool that has not appeared", "rules: [{text: x, optional: true}]", "close", nil,
		`the MCP server tickets has no tool "close"; it has lookup, other`, ""),
	Entry("another argument", `replies: [{when: {arguments: {id: {equals: "1"}}}, text: x}]`, "lookup", map[string]any{"id": "7"},
		`this call (lookup at the MCP server tickets with {"id":"7"}) is not the one that mcp[0].tools[0].replies[0] expects: `+
			`when.arguments.id.equals: expected "1", got "7"`, ""),
	Entry("the closest rule", `rules: [{when: {arguments: {id: a, x: b}}, text: x}, {when: {arguments: {id: "7", x: b}}, text: x}]`,
		"lookup", map[string]any{"id": "7"},
		`no rule answers this call (lookup at the MCP server tickets with {"id":"7"}); the closest is mcp[0].tools[0].rules[1]: `+
			`when.arguments.x.contains: expected "b", got nothing`, ""),
	Entry("a tool without lines", "rules: []", "lookup", map[string]any{"id": "7"},
		`the script has no line for this call (lookup at the MCP server tickets with {"id":"7"})`, ""),
	Entry("arguments of another type", "rules: [{text: x, optional: true}]", "lookup", map[string]any{"id": 7},
		"", "the arguments of lookup at the MCP server tickets do not match its schema"),
	Entry("a missing argument", "rules: [{text: x, optional: true}]", "lookup", nil, "", "id"),
)

var _ = Describe("An engine", func() {
	It("counts what came before a call when the call arrives, however long it takes", func() {
		v := clock.NewVirtual()
		program, err := mcp.Compile(script(server("http", "replies: [{text: a, latency: 5s}, {text: b}]")))
		Expect(err).NotTo(HaveOccurred())
		p := &play{clock: v}
		var before []int
		p.engine = mcp.NewEngine(program, mcp.Options{
			Clock: v, Before: func() int { return int(v.Elapsed().Seconds()) }, OnCall: func(c mcp.Call) { before = append(before, c.Before) },
		})
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		for range 2 {
			_, err = lookup(session, "1")
			Expect(err).NotTo(HaveOccurred())
		}
		Expect(session.Close()).To(Succeed())
		Expect(p.engine.Close()).To(Succeed())
		Expect(before).To(Equal([]int{0, 5}))
	})

	It("reports what was not used and did not fire", func() {
		p := start(clock.NewVirtual(), server("http", "replies: [{text: a, times: 2}, {text: b, fault: hang}]"))
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		_, err = lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		_, report := p.ended()
		Expect(report.Unused).To(HaveExactElements("mcp[0].tools[0].replies[0]: 1 of 2 left", "mcp[0].tools[0].replies[1]: 1 of 1 left"))
		Expect(report.Unfired).To(HaveExactElements("mcp[0].tools[0].replies[1]: hang (fired 0 of 1)"))
	})

	It("takes virtual time in process, and a call with a time limit ends on time", func() {
		clk := clock.NewVirtual()
		p := start(clk, server("http", "replies: [{text: a, latency: 1h}, {text: b, fault: hang}]"))
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		params := &sdk.CallToolParams{Name: "lookup", Arguments: map[string]any{"id": "1"}}
		_, err = session.CallTool(context.Background(), params)
		Expect(err).NotTo(HaveOccurred())
		Expect(clk.Elapsed()).To(Equal(time.Hour))

		ctx, cancel := clk.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err = session.CallTool(ctx, params)
		Expect(err).To(HaveOccurred())
		Expect(clk.Elapsed()).To(Equal(time.Hour + time.Minute))
		result, err := session.CallTool(context.Background(), params)
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("b"), "the line is left to the next call")
		calls, report := p.ended()
		Expect(report).To(Equal(mcp.Report{}))
		Expect(calls).To(HaveLen(3))
	})

	It("keeps the line of a call whose client left before the result", func() {
		clk := clock.NewVirtual()
		p := start(clk, server("http", "replies: [{text: a, latency: 1h}]"))
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := clk.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "lookup", Arguments: map[string]any{"id": "1"}})
		Expect(err).To(HaveOccurred())
		result, err := lookup(session, "1")
		Expect(err).NotTo(HaveOccurred())
		Expect(text(result)).To(Equal("a"))
		calls, report := p.ended()
		Expect(report).To(Equal(mcp.Report{}))
		Expect(calls[0].Error).To(Equal("the client did not wait for the result"))
	})

	It("tells a line whose client left from one that was never requested", Label("H-04"), func() {
		clk := clock.NewVirtual()
		p := start(clk, server("http", "replies: [{text: a, latency: 1h}, {text: b}]"))
		session, err := connect(p.inProcess("tickets"), noChange)
		Expect(err).NotTo(HaveOccurred())
		ctx, cancel := clk.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		_, err = session.CallTool(ctx, &sdk.CallToolParams{Name: "lookup", Arguments: map[string]any{"id": "1"}})
		Expect(err).To(HaveOccurred())
		_, report := p.ended()
		Expect(report.Unused).To(Equal([]string{
			"mcp[0].tools[0].replies[0]: 1 of 1 left; it was requested, but the client did not wait for the result",
			"mcp[0].tools[0].replies[1]: 1 of 1 left",
		}))
	})
})
