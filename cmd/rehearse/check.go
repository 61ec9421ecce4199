package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func (a *app) checkCommand() *cobra.Command {
	var tags []string
	var prices string
	cmd := &cobra.Command{
		Use:   "check [PATTERN...]",
		Short: "Check scenario files without running them",
		Long: `check reads scenario files as run does and says everything that is wrong with them, with
file, line and column, what was expected and the nearest valid word. It runs nothing.

Exit codes: 0 all is well, 2 something is wrong or no scenario was selected.`,
		Example:           "  rehearse check scenarios\n  rehearse check 'loop/*'",
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			table, err := priceTable(prices)
			if err != nil {
				return usage(err)
			}
			set, err := selectScenarios(args, tags, table)
			if err != nil {
				return usage(err)
			}
			_, err = fmt.Fprintf(a.stdout, "%s: all is well\n", plural(len(set), "scenario"))
			return err
		},
	}
	cmd.Flags().StringSliceVar(&tags, "tag", nil, "only scenarios with one of these `tags`")
	cmd.Flags().StringVar(&prices, "prices", "", "a price file whose entries override the shipped table")
	return cmd
}
