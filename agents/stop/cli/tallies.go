package cli

import (
	"fmt"
	"io"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// PrintTallies prints the outcomes of the stops that the hooks judged.
func PrintTallies(out io.Writer, tallies []hook.Tally) error {
	if len(tallies) == 0 {
		_, err := fmt.Fprintln(out, "no stop was judged yet")
		return err
	}
	t := console.Table(2, 2, 3, 4, 5, 6, 7, 8)
	t.AppendHeader(table.Row{"host", "sessions", "allowed", "blocked", "would", "capped", "repeated", "other"})
	for _, c := range tallies {
		t.AppendRow(table.Row{
			c.Host, c.Sessions, c.Allowed, c.Blocked, c.WouldBlock, c.Capped, c.Repeated,
			c.Orphaned + c.Skipped + c.Unjudged,
		})
	}
	_, err := fmt.Fprintln(out, t.Render()+`

would     refused but for --shadow
capped    let through after the most refusals in a row
repeated  let through, since it was sent back for the same message before
other     not judged: aborted, planning, in the background, a subagent, no message`)
	return err
}
