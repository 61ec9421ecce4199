package cli

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// selectScenarios loads the scenarios of the patterns that have one of the tags. Selecting
// nothing is an error: a run of nothing must not pass.
func (a *app) selectScenarios(patterns, tags []string, prices *price.Table) ([]scenarios.Scenario, error) {
	if len(patterns) == 0 {
		if _, err := os.Stat(scenarios.OwnFolder); err != nil {
			return nil, errors.New("no scenario is selected: there is no folder ./" + scenarios.OwnFolder +
				"; name a file, a folder or a pattern such as 'loop/*', or write a first scenario with: rehearse init")
		}
		patterns = []string{"./" + scenarios.OwnFolder}
	}
	options := a.scenarioOptions(prices)
	options.Tags = tags
	set, diagnostics := scenarios.Load(patterns, options)
	return set, diagnostics.Err()
}

// scenarioOptions returns how scenarios are found, read and checked.
func (a *app) scenarioOptions(prices *price.Table) scenarios.Options {
	return scenarios.Options{
		Kinds: a.kinds.Formats(), CheckExpr: a.language.Check, CheckInvariant: a.language.CheckInvariant, Prices: prices,
		Folders: []string{scenarios.OwnFolder},
	}
}

// completeScenarios completes the names of the user's own and of shipped scenarios, besides
// files.
func completeScenarios(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	names := slices.Concat(scenarios.NamesIn(scenarios.OwnFolder), scenarios.Names())
	slices.Sort(names)
	names = slices.DeleteFunc(slices.Compact(names), func(name string) bool { return !strings.HasPrefix(name, start) })
	return names, cobra.ShellCompDirectiveDefault
}

// tagFlag adds --tag, which selects scenarios.
func (a *app) tagFlag(cmd *cobra.Command, tags *[]string) {
	cmd.Flags().StringSliceVar(tags, "tag", nil, "only scenarios with one of these `tags`")
	_ = cmd.RegisterFlagCompletionFunc("tag", a.completeTags)
}

// completeTags completes the tags of the user's own scenarios and of shipped ones.
func (a *app) completeTags(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	patterns := []string{"shipped:*/*"}
	if _, err := os.Stat(scenarios.OwnFolder); err == nil {
		patterns = append(patterns, "./"+scenarios.OwnFolder)
	}
	set, _ := scenarios.Load(patterns, scenarios.Options{Kinds: a.kinds.Formats()}) // a file with a mistake may still have tags
	var tags []string
	for _, sc := range set {
		tags = append(tags, sc.Tags...)
	}
	slices.Sort(tags)
	tags = slices.DeleteFunc(slices.Compact(tags), func(tag string) bool { return !strings.HasPrefix(tag, start) })
	return tags, cobra.ShellCompDirectiveNoFileComp
}
