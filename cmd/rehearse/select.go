package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// ownFolder is where scenarios are sought if the user names none.
const ownFolder = "scenarios"

// selectScenarios loads what the patterns name and keeps those with one of the
// tags. Selecting nothing is an error: a run of nothing must not pass.
func selectScenarios(patterns, tags []string, prices *price.Table) ([]scenarios.Scenario, error) {
	if len(patterns) == 0 {
		if _, err := os.Stat(ownFolder); err != nil {
			return nil, errors.New("no scenario is selected: there is no folder ./" + ownFolder +
				"; name a file, a folder or a pattern such as 'loop/*', or write a first scenario with: rehearse init")
		}
		patterns = []string{"./" + ownFolder}
	}
	options := scenarioOptions(prices)
	options.Tags = tags
	set, diagnostics := scenarios.Load(patterns, options)
	return set, diagnostics.Err()
}

// scenarioOptions are how scenarios are read and checked.
func scenarioOptions(prices *price.Table) scenarios.Options {
	return scenarios.Options{CheckExpr: gate.Check, CheckInvariant: gate.CheckInvariant, Prices: prices}
}

// completeScenarios completes the names of shipped scenarios, beside files.
func completeScenarios(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	names := slices.DeleteFunc(scenarios.Names(), func(name string) bool { return !strings.HasPrefix(name, start) })
	return names, cobra.ShellCompDirectiveDefault
}
