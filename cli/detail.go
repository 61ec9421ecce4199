package cli

import (
	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports"
)

// detailFlags are the flags that choose how much a terminal shows.
type detailFlags struct{ verbose, quiet bool }

// register adds --verbose and --quiet.
func (d *detailFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.BoolVarP(&d.verbose, "verbose", "v", false, "list each scenario, also in a large run, and name those that were skipped")
	f.BoolVarP(&d.quiet, "quiet", "q", false, "print only what did not pass, and the result")
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
