package scenarios

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

// checkServers checks the scripts of the MCP servers, and that the agent can reach them.
func (c *Checker) checkServers(sc *Scenario) {
	if len(sc.MCP) == 0 {
		return
	}
	for _, p := range mcp.Validate(sc.MCP) {
		c.Add("mcp"+p.Path, p.Nearest, "%s", p.Message)
	}
	k := c.kind()
	switch {
	case k.Name == "": // reported
		return
	case len(k.MCP) == 0:
		c.Add("mcp", "", "%s has no use for MCP servers; they are for drive: command, http, container, function, coding or react", k.Title)
		return
	}
	for i := range sc.MCP {
		if transport := cmp.Or(sc.MCP[i].Transport, mcp.HTTP); !slices.Contains(k.MCP, transport) {
			c.Add(fmt.Sprintf("mcp[%d].transport", i), "", "%s cannot start a server with transport: %s; "+
				"write transport: %s, which takes the same tools, results and faults",
				k.Title, transport, strings.Join(k.MCP, " or "))
		}
	}
}
