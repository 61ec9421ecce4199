package drive_test

import (
	"context"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	"github.com/rehearse-dev/rehearse/event"
	"github.com/rehearse-dev/rehearse/harness/app"
	"github.com/rehearse-dev/rehearse/harness/record"
)

const tickets = `
mcp:
  - name: tickets
    tools: [{name: lookup, replies: [{text: open, latency: 1h}, {error: gone, fault: hang}, {text: unused}]}]
`

// toolCalls returns the recorded calls of tools.
func toolCalls(t record.Trial) (all []record.ToolCall) {
	for i := range t.Events {
		if c, ok := event.Read[record.ToolCall](&t.Events[i].Event); ok {
			all = append(all, c)
		}
	}
	return all
}

var _ = Describe("Scripted MCP servers", func() {
	It("answer a Go function in virtual time, and their calls and findings are recorded", func() {
		run := func() record.Trial {
			return talk(context.Background(), "name: spec/mcp\ndrive: {function: {name: f, turns: [Go.], timeout: 10h}}\n"+
				"backend: {unpriced: true, replies: [{text: asked}]}\nexpect: {status: done}"+tickets,
				func(site app.Site) func(context.Context, string) (string, error) {
					return func(ctx context.Context, text string) (string, error) { return lookUp(ctx, site, text) }
				})
		}
		t := run()
		Expect(t.End.Status).To(Equal("done"), t.End.Details)
		Expect(t.End.Text).To(Equal("open"))
		Expect(t.End.Duration).To(Equal(time.Hour + time.Minute))
		Expect(toolCalls(t)).To(HaveExactElements(
			record.ToolCall{Server: "tickets", Tool: "lookup", Arguments: "{}", Line: "mcp[0].tools[0].replies[0]", Latency: time.Hour, Calls: 1},
			And(HaveField("Fault", "hang"), HaveField("Calls", 1)),
		))
		Expect(t.Script.Unused).To(HaveExactElements(
			ContainSubstring("mcp[0].tools[0].replies[1]: 1 of 1 left; its fault was injected"), "mcp[0].tools[0].replies[2]: 1 of 1 left"))
		Expect(encoded(run())).To(Equal(encoded(t)))
	})

	It("are in the environment of a command, under names that do not differ from run to run", func() {
		t := done("drive:\n  command:\n    run: [sh, -c, 'echo $REHEARSE_MCP_TICKETS_URL $REHEARSE_MCP_SERVERS']\n    turns: [Go.]\n"+
			"backend:\n  unpriced: true\n  rules: [{text: x, optional: true}]\n"+tickets, 1)
		Expect(t.End.Text).To(Equal(`{backend}/mcp/tickets {"mcpServers":{"tickets":{"type":"http","url":"{backend}/mcp/tickets"}}}`))
	})

	It("are commands that a shell reads back", func() {
		Expect(app.MCPVariables([]app.MCPServer{{Name: "a-b", Command: []string{"/my bin/rehearse", "mcp", "--connect", "http://127.0.0.1:1/x"}}})).
			To(ContainElement("REHEARSE_MCP_A_B_COMMAND='/my bin/rehearse' mcp --connect http://127.0.0.1:1/x"))
	})

	It("refuse arguments that do not match the schema, apart from the requests that the backend refuses", func() {
		t := talk(context.Background(), "name: spec/mcp\ndrive: {function: {name: f, turns: [Go.], timeout: 10h}}\n"+
			"backend: {unpriced: true, replies: [{text: asked}]}\nexpect: {status: done}"+
			strings.Replace(tickets, "name: lookup,", "name: lookup, input: {type: object, required: [id]},", 1),
			func(site app.Site) func(context.Context, string) (string, error) {
				return func(ctx context.Context, text string) (string, error) { return lookUp(ctx, site, text) }
			})
		Expect(t.Script.Invalid).To(HaveEach(ContainSubstring("do not match its schema")))
		Expect(t.Script.InvalidTools).To(And(HaveLen(1), Equal(t.Script.Invalid)))
	})

	It("offer their tools to a ReAct agent", func() {
		text := "drive:\n  react:\n    agent: clerk.agent.md\n    task: {do: Write a note., input: {topic: tea}}" + clerk +
			"    approve: {allow: ['tickets.*']}\n" + "backend:\n  model: gpt-4.1-mini\n  replies:\n" +
			"    - {text: \"thought: I look the ticket up.\\naction: tickets.lookup\\naction_input: {}\\n\"}\n" + concludes +
			strings.Replace(tickets, "1h", "30s", 1) // a call may take a minute
		t, _ := driver(newEnv(), text).Trial(context.Background(), 1)
		Expect(toolCalls(t)).To(HaveExactElements(And(HaveField("Line", "mcp[0].tools[0].replies[0]"), HaveField("Error", ""))))
		Expect(t.End.Duration).To(Equal(30 * time.Second))
	})
})

// lookUp asks the model and calls the tool twice, the second time with a time limit.
func lookUp(ctx context.Context, site app.Site, text string) (string, error) {
	if _, err := chat(ctx, site, text); err != nil {
		return "", err
	}
	client := sdk.NewClient(&sdk.Implementation{Name: "spec", Version: "1"}, nil)
	session, err := client.Connect(ctx, &sdk.StreamableClientTransport{Endpoint: site.MCP[0].URL, HTTPClient: site.Client, MaxRetries: -1}, nil)
	if err != nil {
		return "", err
	}
	defer session.Close()
	result, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "lookup"})
	if err != nil {
		return "", err
	}
	limited, cancel := site.Clock.WithTimeout(ctx, time.Minute)
	defer cancel()
	_, _ = session.CallTool(limited, &sdk.CallToolParams{Name: "lookup"}) // it hangs
	return result.Content[0].(*sdk.TextContent).Text, nil
}
