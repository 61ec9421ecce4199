package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
)

// exploreFlags are the flags of explore.
type exploreFlags struct {
	out, save, prices string
	families          []string
	pairs, maxRuns    int
	seed              uint64
	workers           int
	thorough, asJSON  bool
}

// familyHelp has a line for each family.
func familyHelp() string {
	var b strings.Builder
	for _, f := range result.Families() {
		fmt.Fprintf(&b, "  %-8s %s\n", f, f.Description())
	}
	return b.String()
}

// completeFamilies completes the last of several families.
func completeFamilies(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	before := start[:strings.LastIndexByte(start, ',')+1]
	var choices []string
	for _, name := range namesOf(result.Families()) {
		if strings.HasPrefix(before+name, start) && !slices.Contains(strings.Split(before, ","), name) {
			choices = append(choices, before+name)
		}
	}
	return choices, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// options returns the options of the flags.
func (flags exploreFlags) options(language *gate.Language) (explore.Options, error) {
	opts := explore.Options{
		Workers: flags.workers, MaxRuns: flags.maxRuns, Seed: flags.seed, Tool: tool(),
		Pairs: flags.pairs, Thorough: flags.thorough, Language: language,
	}
	switch {
	case flags.workers < 1:
		return opts, fmt.Errorf("--workers must be at least 1, got %d", flags.workers)
	case flags.pairs < 0:
		return opts, fmt.Errorf("--pairs must be at least 0, got %d", flags.pairs)
	case flags.pairs == 0:
		opts.Pairs = -1 // none; 0 is the default there
	}
	for _, name := range flags.families {
		if !slices.Contains(namesOf(result.Families()), name) {
			return opts, notAmong("family", name, namesOf(result.Families()))
		}
		opts.Families = append(opts.Families, result.Family(name))
	}
	return opts, nil
}
