package cli

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// serveMCP is the program mcpserver of the scripts: an MCP server with a tool that counts letters, and one that
// ends it. With arguments it serves HTTP for requests with the header "Authorization: Bearer ARG2", and writes
// its address to the file ARG1.
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
	sdk.AddTool(s, &sdk.Tool{Name: "die", Description: "ends the server"},
		func(context.Context, *sdk.CallToolRequest, struct{}) (*sdk.CallToolResult, any, error) {
			fmt.Fprintln(os.Stderr, "out of memory")
			os.Exit(3)
			return nil, nil, nil
		})
	var err error
	if len(os.Args) == 3 {
		err = serveMCPOver(s, os.Args[1], "Bearer "+os.Args[2])
	} else {
		err = s.Run(context.Background(), &sdk.StdioTransport{})
	}
	if err != nil {
		os.Exit(1)
	}
}

// serveMCPOver serves HTTP on a free port of this machine.
func serveMCPOver(s *sdk.Server, file, token string) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, []byte("http://"+listener.Addr().String()+"/mcp"), 0o600); err != nil {
		return err
	}
	handler := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return s }, nil)
	return http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:gosec // for a test
		if r.Header.Get("Authorization") != token {
			http.Error(w, "no", http.StatusUnauthorized)
			return
		}
		handler.ServeHTTP(w, r)
	}))
}
