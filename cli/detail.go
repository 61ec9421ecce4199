package cli

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
)

// detailFlags are the flags that choose how much a terminal shows.
type detailFlags struct{ verbose, quiet bool }

// register adds --verbose and --quiet to a command about a run.
func (d *detailFlags) register(cmd *cobra.Command) {
	d.registerAs(cmd, "list each scenario, also in a large run, and name those that were skipped",
		"print only what did not pass, and the result")
}

// registerAs adds --verbose and --quiet with their meanings.
func (d *detailFlags) registerAs(cmd *cobra.Command, verbose, quiet string) {
	f := cmd.Flags()
	f.BoolVarP(&d.verbose, "verbose", "v", false, verbose)
	f.BoolVarP(&d.quiet, "quiet", "q", false, quiet)
	cmd.MarkFlagsMutuallyExclusive("verbose", "quiet")
}

func (d detailFlags) level() reports.Detail {
	switch {
	case d.verbose:
		return reports.Verbose
	case d.quiet:
		return reports.Quiet
	}
	return reports.Normal
}
