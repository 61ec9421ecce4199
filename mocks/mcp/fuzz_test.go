package mcp_test

import (
	"context"
	"net/http"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"go.yaml.in/yaml/v4"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// FuzzScript takes any bytes for a script. What is valid must compile, list its tools and answer a call of each.
func FuzzScript(f *testing.F) {
	for _, seed := range []string{
		"[{name: a, tools: [{name: t, replies: [{text: x, fault: malformed}, {json: [1], latency: 1s}]}]}]",
		"[{name: a, tools: [{name: t, input: {type: object, properties: {x: {pattern: 'a+'}}}, rules: [{when: {arguments: {x: {matches: b}}}, error: e}]}]}]",
		"[{name: a, transport: http, tools: [{name: t, rules: [{fault: exit}]}, {name: u, later: true, rules: [{text: '', fault: list_changed}]}]}]",
		"[{name: a, resources: [{uri: 'x://y', text: z}], prompts: [{name: p, text: q}]}]",
		"[{name: a, tools: [{name: t, input: {type: object, $ref: 'file:///etc/passwd'}}]}]",
		"[{name: a, tools: [{name: t, input: {type: object, properties: {x: {x-mcp-header: 1}}}}]}]", "&a [*a]", "[{}]",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var servers []mcp.Server
		if yaml.Load(data, &servers, yaml.WithKnownFields()) != nil || len(mcp.Validate(servers)) > 0 || len(servers) == 0 {
			return
		}
		program, err := mcp.Compile(servers)
		if err != nil {
			t.Fatal(err)
		}
		e := mcp.NewEngine(program, mcp.Options{Clock: clock.NewVirtual()})
		defer e.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		client := sdk.NewClient(&sdk.Implementation{Name: "fuzz", Version: "1"}, nil)
		session, err := client.Connect(ctx, &sdk.StreamableClientTransport{
			Endpoint: "http://127.0.0.1/" + servers[0].Name, HTTPClient: &http.Client{Transport: mcp.NewTransport(e)}, MaxRetries: -1,
		}, nil)
		if err != nil {
			if servers[0].Transport == mcp.Stdio {
				return
			}
			t.Fatal(err)
		}
		defer session.Close()
		for _, tool := range servers[0].Tools {
			_, _ = session.CallTool(ctx, &sdk.CallToolParams{Name: tool.Name, Arguments: map[string]any{"x": "aab"}})
		}
		if e.Report(); ctx.Err() != nil {
			t.Fatal("a call did not end")
		}
	})
}
