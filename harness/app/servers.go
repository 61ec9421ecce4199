package app

import (
	"encoding/json"
	"strings"

	"github.com/rehearse-dev/rehearse/internal/format"
)

// MCPServer is a scripted MCP server of a trial. A server with a command is started by the agent and speaks over
// its standard input and output; every other is reached by its URL, with streamable HTTP.
type MCPServer struct {
	Name    string
	URL     string
	Command []string
}

// MCPVariables returns the variables by which an agent finds its MCP servers, as NAME=value: for each server
// REHEARSE_MCP_NAME_URL, or for one that the agent starts REHEARSE_MCP_NAME_COMMAND, a command line of a POSIX
// shell, and for all REHEARSE_MCP_SERVERS with the JSON that MCPConfig returns.
func MCPVariables(servers []MCPServer) []string {
	if len(servers) == 0 {
		return nil
	}
	all := []string{"REHEARSE_MCP_SERVERS=" + MCPConfig(servers)}
	for _, s := range servers {
		prefix := "REHEARSE_MCP_" + strings.ToUpper(strings.ReplaceAll(s.Name, "-", "_"))
		if len(s.Command) > 0 {
			all = append(all, prefix+"_COMMAND="+format.ShellLine(s.Command...))
		} else {
			all = append(all, prefix+"_URL="+s.URL)
		}
	}
	return all
}

// MCPConfig returns the servers as the JSON that most MCP clients take: a mapping under mcpServers.
func MCPConfig(servers []MCPServer) string {
	type entry struct {
		Type    string   `json:"type"`
		URL     string   `json:"url,omitempty"`
		Command string   `json:"command,omitempty"`
		Args    []string `json:"args,omitempty"`
	}
	all := map[string]entry{}
	for _, s := range servers {
		if len(s.Command) > 0 {
			all[s.Name] = entry{Type: "stdio", Command: s.Command[0], Args: s.Command[1:]}
		} else {
			all[s.Name] = entry{Type: "http", URL: s.URL}
		}
	}
	data, err := json.Marshal(map[string]any{"mcpServers": all})
	if err != nil { // strings only
		panic(err)
	}
	return string(data)
}
