package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/cli/config"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// selection has the flags that select among the scenarios of the patterns. All commands that take
// patterns share them.
type selection struct {
	filter scenarios.Filter
	failed bool
	// keywordGiven reports whether -k was given, with any value.
	keywordGiven func() bool
}

// selectionHelp explains patterns and the flags of a selection.
const selectionHelp = `A pattern is a file or folder of your own, or the name of scenarios, with * as a wildcard
('order-*', 'loop/*'): of those in ./scenarios and of the shipped ones. If both have a scenario
of that name, write the file's path for your own and shipped:NAME for the other. Without a pattern
the folder ./scenarios is taken.

-k, --tag, --file, --exclude and --failed narrow the selection; each of them must hold. -k takes
parts of names and tags, joined by and, or, not and parentheses: -k 'refund and not (slow or live)'.`

// selectionFlags adds the flags of a selection.
func (a *app) selectionFlags(cmd *cobra.Command, s *selection) {
	f := cmd.Flags()
	f.StringVarP(&s.filter.Keyword, "keyword", "k", "",
		"only scenarios whose name and tags match this `expression`, such as 'refund and not slow'")
	s.keywordGiven = func() bool { return f.Changed("keyword") }
	f.StringSliceVar(&s.filter.Tags, "tag", nil, "only scenarios with one of these `tags`")
	f.StringSliceVar(&s.filter.Files, "file", nil, "only scenarios in these `files` or folders; * is a wildcard")
	f.StringSliceVar(&s.filter.Exclude, "exclude", nil, "leave out scenarios with these `names` or files; * is a wildcard")
	f.BoolVar(&s.failed, "failed", false,
		"only scenarios that failed or had an error in their last run, which "+runsFolder+" remembers, were not run there, or are new")
	_ = cmd.RegisterFlagCompletionFunc("tag", a.completeTags)
	_ = cmd.RegisterFlagCompletionFunc("exclude", completeScenarios)
}

// selectScenarios loads the scenarios of the patterns that the flags keep, and prints which files of
// their folders are for other commands. Selecting nothing is an error: a run of nothing must not
// pass.
func (a *app) selectScenarios(patterns []string, s selection, prices *price.Table) ([]scenarios.Scenario, error) {
	set, others, err := a.selectAmong(patterns, s, prices)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		fmt.Fprintf(a.stderr, "left out: %v\n", other.refusal())
	}
	return set, nil
}

// errOnlyOthers reports that a folder has files for other commands and no scenario.
var errOnlyOthers = errors.New("no scenario is selected")

// selectAmong returns the selected scenarios, and the files of their folders that other commands take.
func (a *app) selectAmong(patterns []string, s selection, prices *price.Table) ([]scenarios.Scenario, []otherFile, error) {
	if s.keywordGiven != nil && s.keywordGiven() && strings.TrimSpace(s.filter.Keyword) == "" {
		return nil, nil, errors.New("-k needs an expression, such as 'refund and not slow'; leave it out to select all scenarios")
	}
	if len(patterns) == 0 && len(s.filter.Files) > 0 {
		patterns = asPaths(s.filter.Files)
	}
	if len(patterns) == 0 {
		if _, err := os.Stat(scenarios.OwnFolder); err != nil {
			return nil, nil, errors.New("no scenario is selected: there is no folder ./" + scenarios.OwnFolder +
				"; name a file, a folder or a pattern such as 'loop/*', or write a first scenario with: rehearse init")
		}
		patterns = []string{"./" + scenarios.OwnFolder}
	}
	if err := refuseOtherKinds(patterns); err != nil {
		return nil, nil, err
	}
	var others []otherFile
	opts, err := a.checkedOptions(prices)
	if err != nil {
		return nil, nil, err
	}
	opts.Other = func(file string, data []byte, has func(key string) bool) bool {
		kind := kindOfKeys(has)
		if commandsOf[kind] == "" {
			return false
		}
		others = append(others, otherFile{inputFile{file, data}, kind})
		return true
	}
	all, diagnostics := scenarios.Load(patterns, opts)
	if err := diagnostics.Err(); err != nil {
		return nil, others, err
	}
	if len(all) == 0 && len(others) > 0 {
		return nil, others, fmt.Errorf("%w: %w", errOnlyOthers, others[0].refusal())
	}
	set, diagnostics := scenarios.Select(all, s.filter)
	if err := diagnostics.Err(); err != nil {
		return nil, others, err
	}
	if len(set) == 0 {
		return nil, others, fmt.Errorf("no scenario is selected: the filters leave none of %s; list them with: rehearse list",
			format.Plural(len(all), "scenario"))
	}
	if s.failed {
		set, err := onlyFailed(set)
		return set, others, err
	}
	return set, others, nil
}

// asPaths marks files as paths; otherwise they would be names of scenarios.
func asPaths(files []string) []string {
	paths := make([]string, len(files))
	for i, file := range files {
		if paths[i] = file; filepath.IsLocal(file) && !strings.HasPrefix(file, "shipped:") {
			paths[i] = "./" + file
		}
	}
	return paths
}

// onlyFailed returns the scenarios that failed in their last run, were not run there, or are new.
func onlyFailed(set []scenarios.Scenario) ([]scenarios.Scenario, error) {
	last, err := rundir.ReadLast(runsFolder)
	switch {
	case errors.Is(err, rundir.ErrNoLast):
		return nil, errors.New("--failed: " + runsFolder + " remembers no run; run the scenarios without --failed first")
	case err != nil:
		return nil, fmt.Errorf("--failed: %w", err)
	}
	known := slices.ContainsFunc(set, func(sc scenarios.Scenario) bool { _, run := last.Verdicts[sc.Name]; return run })
	failed := slices.DeleteFunc(slices.Clone(set), func(sc scenarios.Scenario) bool { return !last.Due(sc.Name) })
	switch {
	case !known:
		return nil, fmt.Errorf("--failed: %s remembers no run of %s; run the scenarios without --failed first", runsFolder, someOf(set))
	case len(failed) == 0:
		return nil, fmt.Errorf("--failed: none of %s failed in its last run, so there is nothing to run again",
			format.Plural(len(set), "selected scenario"))
	}
	return failed, nil
}

// ordering has the flags that order the selected scenarios, and take a part of them.
type ordering struct {
	failedFirst bool
	shard       shardFlag
}

// register adds the flags.
func (o *ordering) register(f *pflag.FlagSet) {
	f.Var(&o.shard, "shard", "take one of n equal parts of the scenarios, such as 2/5, or job/5 in an Indexed Job")
	f.BoolVar(&o.failedFirst, "failed-first", false, "begin with the scenarios that failed or had an error in their last run")
}

// sort returns the scenarios in the order of the flags. Without a last run it keeps their order.
func (o ordering) sort(set []scenarios.Scenario) ([]scenarios.Scenario, error) {
	if !o.failedFirst {
		return set, nil
	}
	last, err := rundir.ReadLast(runsFolder)
	if err != nil && !errors.Is(err, rundir.ErrNoLast) {
		return nil, fmt.Errorf("--failed-first: %w", err)
	}
	var failed, others []scenarios.Scenario
	for _, sc := range set {
		if last.Failed(sc.Name) {
			failed = append(failed, sc)
		} else {
			others = append(others, sc)
		}
	}
	return append(failed, others...), nil
}

// onlyOne returns an error unless a set is one scenario.
func onlyOne(set []scenarios.Scenario, why string) error {
	if len(set) == 1 {
		return nil
	}
	return fmt.Errorf("%d scenarios are selected, but %s: %s", len(set), why, someOf(set))
}

// someOf returns the first names of a set.
func someOf(set []scenarios.Scenario) string {
	const most = 5
	var names []string
	for _, sc := range set[:min(len(set), most)] {
		names = append(names, sc.Name)
	}
	if len(set) > most {
		names = append(names, "...")
	}
	return strings.Join(names, ", ")
}

// scenarioOptions returns how scenarios are found, read and checked.
func (a *app) scenarioOptions(prices *price.Table) scenarios.Options {
	opts := scenarios.Options{
		Kinds: a.kinds.Formats(), CheckExpr: a.language.Check, CheckInvariant: a.language.CheckInvariant, Prices: prices,
		Folders: []string{scenarios.OwnFolder},
	}
	if project, err := os.OpenRoot("."); err == nil { // closed with the process
		opts.Project = project.FS()
	}
	return opts
}

// checkedOptions returns scenarioOptions for files that are checked, also against the user's requirements.
func (a *app) checkedOptions(prices *price.Table) (scenarios.Options, error) {
	opts := a.scenarioOptions(prices)
	rule, err := config.Requirements()
	if err == nil {
		opts.CheckRequirement = rule.Check
	}
	return opts, err
}

// completeScenarios completes the names of the user's own and of shipped scenarios, besides
// files.
func completeScenarios(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
	names := slices.Concat(scenarios.NamesIn(scenarios.OwnFolder), scenarios.Names())
	slices.Sort(names)
	return startingWith(slices.Compact(names), start), cobra.ShellCompDirectiveDefault
}

// startingWith returns the words that begin with a text.
func startingWith(words []string, start string) []string {
	return slices.DeleteFunc(words, func(word string) bool { return !strings.HasPrefix(word, start) })
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
	return startingWith(slices.Compact(tags), start), cobra.ShellCompDirectiveNoFileComp
}
