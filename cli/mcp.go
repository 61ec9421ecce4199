package cli

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/mocks/mcp"
)

func (a *app) mcpCommand() *cobra.Command {
	var url string
	cmd := &cobra.Command{
		Use:   "mcp --connect URL",
		Short: "Be the program of a scripted MCP server, for the agent that starts it",
		Long: `mcp connects its standard input and output to a scripted MCP server of a running scenario, until one
of them ends. Agents start it: a server with transport: stdio has this command in the agent's
environment, as REHEARSE_MCP_NAME_COMMAND. It is not meant to be typed.

Exit codes: 0 the agent ended the conversation; 2 wrong usage; 3 the server ended or cannot be reached.`,
		Example: `  eval "$REHEARSE_MCP_TICKETS_COMMAND"   # as agents do: rehearse mcp --connect URL`,
		Args:    arguments(0, 0, "the server is named by --connect"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := mcp.Bridge(cmd.Context(), url, cmd.InOrStdin(), cmd.OutOrStdout()); err != nil {
				return noVerdict(err)
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&url, "connect", "", "URL of the server")
	_ = cmd.MarkFlagRequired("connect")
	return cmd
}
