package cli

import (
	"context"
	"fmt"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/tty"
)

// reportGuard shows what became of the stops that the hooks judged.
func (a *app) reportGuard(ctx context.Context, flags guardFlags) error {
	tallies, err := hook.Tallies(ctx, flags.hook.State)
	if err != nil {
		return usage(err)
	}
	if flags.asJSON {
		if tallies == nil {
			tallies = []hook.Tally{}
		}
		err = a.printJSON(tallies)
	} else {
		err = a.showTallies(tallies)
	}
	if err != nil {
		return usage(fmt.Errorf("print the counts: %w", err))
	}
	return nil
}

func (a *app) showTallies(tallies []hook.Tally) error {
	if len(tallies) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no stop was judged yet")
		return err
	}
	t := tty.Table(2, 2, 3, 4, 5, 6, 7, 8)
	t.AppendHeader(table.Row{"host", "sessions", "allowed", "blocked", "would", "capped", "repeated", "other"})
	for _, c := range tallies {
		t.AppendRow(table.Row{
			c.Host, c.Sessions, c.Allowed, c.Blocked, c.WouldBlock, c.Capped, c.Repeated,
			c.Orphaned + c.Skipped + c.Unjudged,
		})
	}
	_, err := fmt.Fprintln(a.stdout, t.Render()+`

would     refused but for --shadow
capped    let through after the most refusals in a row
repeated  let through, since it was sent back for the same message before
other     not judged: aborted, planning, in the background, a subagent, no message`)
	return err
}
