package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/scenarios"
)

func (a *app) checkCommand() *cobra.Command {
	var tags []string
	var prices string
	cmd := &cobra.Command{
		Use:   "check [PATTERN...]",
		Short: "Check scenarios, plans, experiments and agent files without running them",
		Long: `check reads scenario files as run does, plans as supervise does, experiments with all that they
name as experiment and tune do, and agent files (*.agent.md) and their tasks as react does. It says
everything that is wrong with them, with file, line and column, what was expected and the nearest
valid word. A folder is one of scenarios, or of the others. It runs nothing.

Exit codes: 0 all is well, 2 something is wrong or nothing was selected.`,
		Example:           "  rehearse check scenarios\n  rehearse check 'order-*'\n  rehearse check 'loop/*' plan.yaml mirror.yaml agents/*.agent.md",
		ValidArgsFunction: completeScenarios,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.check(args, tags, prices)
		},
	}
	tagFlag(cmd, &tags)
	cmd.Flags().StringVar(&prices, "prices", "", "a price file whose entries override the shipped table")
	return cmd
}

// check checks all files before it says what is wrong.
func (a *app) check(args, tags []string, prices string) error {
	table, err := priceTable(prices)
	if err != nil {
		return usage(err)
	}
	named := sortNamed(args)
	var found scenarios.Diagnostics
	for _, k := range fileKinds() {
		for _, file := range named.of[k] {
			found = append(found, file.parse(k, table)...)
		}
	}
	var well []string
	if len(named.rest) > 0 || len(args) == 0 {
		set, err := selectScenarios(named.rest, tags, table)
		if found, err = withDiagnostics(found, err); err != nil {
			return usage(err)
		}
		well = append(well, format.Plural(len(set), "scenario"))
	}
	if len(found) > 0 {
		return usage(found)
	}
	for _, k := range fileKinds() {
		if n := len(named.of[k]); n > 0 {
			well = append(well, format.Plural(n, string(k)))
		}
	}
	_, err = fmt.Fprintf(a.stdout, "%s: all is well\n", strings.Join(well, ", "))
	return err
}
