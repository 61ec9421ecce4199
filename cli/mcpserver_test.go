package cli

import (
	"context"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP is the program mcpserver of the scripts: an MCP server with a tool that counts letters.
func serveMCP() {
	s := sdk.NewServer(&sdk.Implementation{Name: "counter", Version: "1"}, nil)
	type input struct {
		Text string `json:"text"`
	}
	type output struct {
		Letters int `json:"letters"`
	}
	sdk.AddTool(s, &sdk.Tool{Name: "count", Description: "counts letters"},
		func(_ context.Context, _ *sdk.CallToolRequest, in input) (*sdk.CallToolResult, output, error) {
			return nil, output{len(in.Text)}, nil
		})
	if s.Run(context.Background(), &sdk.StdioTransport{}) != nil {
		os.Exit(1)
	}
}
