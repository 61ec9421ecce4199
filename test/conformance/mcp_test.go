package conformance_test

import (
	"cmp"
	"fmt"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// The lines of a tool that need not be called, and of one whose server ends at the first call.
const (
	ticketIdle  = "rules: [{text: open, optional: true}]"
	ticketExits = "rules: [{fault: exit, times: 1}, {text: open, optional: true}]"
)

// ticketServer returns a script of an MCP server whose tool has these lines.
func ticketServer(transport, lines string) (servers []mcp.Server) {
	GinkgoHelper()
	Expect(yaml.Load(fmt.Appendf(nil, `
- name: tickets
  transport: %s
  tools:
    - name: lookup
      description: Looks a ticket up.
      input: {type: object, properties: {id: {type: string}}, required: [id]}
      %s
  resources: [{uri: "ticket://1", text: A ticket.}]
  prompts: [{name: triage, text: Sort them.}]
`, transport, lines), &servers, yaml.WithKnownFields())).To(Succeed())
	return servers
}

// ticketAgent returns a script of a model that calls the tool and answers when it has a result that matches.
func ticketAgent(tool, result string) string {
	return fmt.Sprintf(`model: %s
replies:
  - {tool_calls: [{name: %s, arguments: {id: "1"}}], when: {turn: 0, tool_offered: %[2]s}}
  - {text: done, when: {turn: 1, tool_result: {matches: '%[3]s'}}}`, model, tool, result)
}

// stoppedAgent returns a script of a model whose agent may stop after the call of the tool, or call it again by itself.
func stoppedAgent(tool string) string {
	return fmt.Sprintf(`model: %s
rules:
  - {tool_calls: [{name: %s, arguments: {id: "1"}}], when: {turn: 0, tool_offered: %[2]s}}
  - {text: again, when: {turn: 1, tool_result: open}, optional: true}
  - {text: done, when: {turn: 1}, optional: true}`, model, tool)
}

// mcpClient is a client of MCP servers in the table. Agents have a model as well.
type mcpClient struct {
	name     string
	packages []string
	program  string
	agent    bool
	tool     string // name of the tool for the model; default: the server's
}

var mcpClients = []mcpClient{
	{name: "MCP Go SDK", packages: []string{"github.com/modelcontextprotocol/go-sdk"}, program: "go/mcp"},
	{name: "MCP TypeScript SDK", packages: []string{"@modelcontextprotocol/client"}, program: "mcp/client"},
	{name: "MCP TypeScript SDK, version 1", packages: []string{"@modelcontextprotocol/sdk"}, program: "mcp/sdk"},
	{name: "Vercel AI", packages: []string{"ai", "@ai-sdk/mcp"}, program: "mcp/vercel", agent: true},
	{name: "LangGraph", packages: []string{"@langchain/langgraph", "@langchain/mcp-adapters"}, program: "mcp/langgraph", agent: true},
	{name: "OpenAI Agents", packages: []string{"@openai/agents-core"}, program: "mcp/agents", agent: true},
	{name: "Mastra", packages: []string{"@mastra/core", "@mastra/mcp"}, program: "mcp/mastra", agent: true, tool: "tickets_lookup"},
	{name: "LlamaIndex", packages: []string{"@llamaindex/workflow", "@llamaindex/tools"}, program: "mcp/llamaindex", agent: true},
}

var _ = Describe("A client of MCP servers", Label("H-02"), Ordered, ContinueOnFailure, func() {
	transports := []string{mcp.HTTP, mcp.Stdio}
	results := table{
		name:   "MCP clients",
		header: []string{"client", "packages", "transport", "tools, resources, prompts", "text", "JSON", "error result", "`protocol_error`", "`malformed`", "`exit`"},
		lines:  make([]string, len(mcpClients)*len(transports)),
	}
	for i, client := range mcpClients {
		for k, transport := range transports {
			It(fmt.Sprintf("hands on what the script has: %s %v over %s", client.name, client.packages, transport), func() {
				results.lines[i*len(transports)+k] = client.run(transport)
			})
		}
	}

	It("is in the table of the documentation, as this run saw it", func() { results.expectPublished() })
})

// run lets the client call tools, with and without faults, and returns its line of the table.
func (m *mcpClient) run(transport string) string {
	GinkgoHelper()
	tool := cmp.Or(m.tool, "lookup")
	cases := []*nodeCase{
		{Name: "text", script: ticketAgent(tool, "open"), servers: ticketServer(transport, "replies: [{text: open, when: {arguments: {id: '1'}}}]")},
		{Name: "JSON", script: ticketAgent(tool, "state.*open"), servers: ticketServer(transport, "replies: [{json: {state: open}}]")},
		{Name: "error result", script: ticketAgent(tool, "no such ticket"), servers: ticketServer(transport, "replies: [{error: no such ticket}]")},
		{Name: "protocol_error", script: stoppedAgent(tool), servers: ticketServer(transport, "replies: [{fault: protocol_error}]")},
		{Name: "malformed", script: stoppedAgent(tool), servers: ticketServer(transport, "replies: [{fault: malformed}]")},
		{Name: "exit", script: stoppedAgent(tool), servers: ticketServer(transport, ticketExits)},
	}
	if !m.agent {
		for _, c := range cases {
			c.script = nodeIdle
		}
		cases = append(cases, &nodeCase{Name: "offers", Feature: "offers", script: nodeIdle, servers: ticketServer(transport, ticketIdle)})
	}
	seen := asks(m.program, cases)
	for _, c := range cases {
		expectClean(c.Name, c.engine.Report())
		Expect(c.engine.Report().Unused).To(BeEmpty(), c.Name)
		Expect(c.tools.Close()).To(Succeed())
		Expect(c.tools.Report()).To(Equal(mcp.Report{}), c.Name)
	}
	return row(
		m.name, versions(m.packages...), transport, m.offers(seen["offers"]),
		m.result(seen["text"], HaveField("Text", "open")),
		m.result(seen["JSON"], HaveField("Text", MatchJSON(`{"state": "open"}`))),
		m.result(seen["error result"], And(HaveField("Text", "no such ticket"), HaveField("Finish", "error"))),
		m.failure(seen["protocol_error"]), m.failure(seen["malformed"]), m.failure(seen["exit"]),
	)
}

// offers returns the cell of what a client lists and reads. A model gets the tools alone.
func (m *mcpClient) offers(got nodeSeen) string {
	GinkgoHelper()
	if m.agent {
		return "tools"
	}
	Expect(got).To(HaveField("Text", "lookup|A ticket.|Sort them."))
	return "yes"
}

// result returns the cell of a call: the client's result, or the answer of the model that got it.
func (m *mcpClient) result(got nodeSeen, right OmegaMatcher) string {
	GinkgoHelper()
	if m.agent {
		right = HaveField("Text", "done")
	}
	Expect(got.Error).To(BeEmpty(), got.Message)
	Expect(got).To(right)
	return "yes"
}

// failure returns the cell of a fault: the client reports an error, or an agent tells its model or calls the tool again.
func (m *mcpClient) failure(got nodeSeen) string {
	GinkgoHelper()
	if got.Error != "" {
		return "error"
	}
	Expect(m.agent).To(BeTrue(), "a result: %q", got.Text)
	if got.Text == "again" {
		return "calls again"
	}
	Expect(got.Text).To(Equal("done"))
	return "the model is told"
}
