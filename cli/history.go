package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/suggest"
	"github.com/rehearse-dev/rehearse/reports"
)

// pastFlags are the flags of the history commands.
type pastFlags struct {
	address string
	branch  string
	variant string
	last    int
	asJSON  bool
}

// register adds the flags of a command that reads the last runs.
func (p *pastFlags) register(cmd *cobra.Command, last int) {
	f := cmd.Flags()
	historyFlag(f, &p.address)
	f.StringVar(&p.branch, "branch", "", "only runs of this branch")
	f.IntVarP(&p.last, "last", "n", last, "number of runs to read, the newest; 0 means all")
	jsonFlag(f, &p.asJSON, "")
}

func (p *pastFlags) filter() (history.Filter, error) {
	if p.last < 0 {
		return history.Filter{}, usage(fmt.Errorf("--last must be at least 0, got %d", p.last))
	}
	return history.Filter{Branch: p.branch, Limit: p.last}, nil
}

const historyCodes = `Exit codes:
  0    done
  1    history import: a recording was altered, and is not stored
  2    usage; or there is no history, or no such run or scenario
  3    the history, or a recording, could not be read or written`

func (a *app) historyCommand() *cobra.Command {
	var flags pastFlags
	cmd := &cobra.Command{
		Use:   "history",
		Short: "List earlier runs, and show trends and flaky scenarios",
		Long: `history lists the runs that were stored, the newest first. rehearse run stores each run in
` + historyFile + `, or where --history or $` + historyVariable + ` says: a file of your own, or a PostgreSQL
database for a team. The history is an index of recordings; history import restores it from them.

A run is named by its id or the start of it, a commit, latest, latest~1 (the one before the latest),
or branch:NAME; compare accepts these names as well.

` + historyCodes,
		Example: `  rehearse history
  rehearse history show latest
  rehearse history trend order-status
  rehearse compare latest~1 latest`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.listRuns(cmd.Context(), &flags) },
	}
	flags.register(cmd, 20)
	cmd.AddCommand(a.historyShowCommand(), a.historyTrendCommand(), a.historyFlakyCommand(), a.historyImportCommand(), a.historyPruneCommand())
	return cmd
}

func (a *app) listRuns(ctx context.Context, flags *pastFlags) error {
	f, err := flags.filter()
	if err != nil {
		return err
	}
	st, err := a.openHistory(ctx, flags.address)
	if err != nil {
		return err
	}
	defer closeHistory(st)
	all, err := st.Runs(ctx, history.Filter{Branch: f.Branch, All: true})
	if err != nil {
		return noVerdict(err)
	}
	runs := all
	if f.Limit > 0 {
		runs = all[:min(len(all), f.Limit)]
	}
	for i := range runs {
		if runs[i].At.After(time.Now().Add(store.Skew)) {
			fmt.Fprintf(a.stderr, "warning: run %s began in the future, because a clock was wrong; it is not counted as the latest run. "+
				"Remove it with: %s\n", runs[i].ID, format.ShellLine("rehearse", "history", "prune", runs[i].ID))
		}
	}
	if len(all) == 0 && f.Branch != "" {
		return noRunsOf(ctx, st, f.Branch)
	}
	list := history.RunList{Schema: history.RunsSchema, Total: len(all), Runs: append([]history.Run{}, runs...)}
	return a.showPast(document{reports.RunsDocument(runs, len(all)), list, ""}, flags.asJSON)
}

// noRunsOf returns the error for a branch without runs, with the branches that have runs.
func noRunsOf(ctx context.Context, st *store.Store, branch string) error {
	runs, err := st.Runs(ctx, history.Filter{All: true})
	if err != nil {
		return noVerdict(err)
	}
	var branches []string
	for i := range runs {
		if b := runs[i].Branch; b != "" {
			branches = append(branches, b)
		}
	}
	slices.Sort(branches)
	branches = slices.Compact(branches)
	if len(branches) == 0 {
		return usage(fmt.Errorf("the branch %.100q has no runs; no run in the history has a branch", branch))
	}
	const most = 10
	hint, known := suggest.Hint(branch, branches), branches[:min(most, len(branches))]
	for i, b := range known {
		known[i] = fmt.Sprintf("%.100q", b)
	}
	if more := len(branches) - len(known); more > 0 {
		known = append(known, fmt.Sprintf("%d more", more))
	}
	return usage(fmt.Errorf("the branch %.100q has no runs%s; there are runs of %s", branch, hint, joined(known)))
}

// showPast prints a document.
func (a *app) showPast(d document, asJSON bool) error {
	if err := a.show(d, asJSON); err != nil {
		return noVerdict(err)
	}
	return nil
}

func (a *app) historyShowCommand() *cobra.Command {
	var flags pastFlags
	cmd := &cobra.Command{
		Use:   "show RUN",
		Short: "Show the results of a run of the history",
		Long: `show prints the results of a run: latest, latest~1, branch:NAME, the id of a run or a commit.
The report with transcripts is that of its folder: rehearse report FOLDER.

` + historyCodes,
		Example: "  rehearse history show latest\n  rehearse history show branch:main --json",
		Args:    arguments(1, 1, "name one run, such as latest"),
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := a.pastEntry(cmd.Context(), flags.address, args[0])
			if err != nil {
				return err
			}
			return a.showPast(document{reports.EntryDocument(&e), e.View(), ""}, flags.asJSON)
		},
	}
	historyFlag(cmd.Flags(), &flags.address)
	jsonFlag(cmd.Flags(), &flags.asJSON, "")
	return cmd
}

// trendFlags are the flags of history trend.
type trendFlags struct {
	pastFlags
	measures []string
	from     string
	all      bool
}

func (a *app) historyTrendCommand() *cobra.Command {
	var flags trendFlags
	cmd := &cobra.Command{
		Use:   "trend SCENARIO",
		Short: "Show how a scenario developed, and the runs with which it changed",
		Long: `trend draws the measures of a scenario over the runs of the history, and lists the runs with which
its verdict, its content or a measure changed.

A changed content of the scenario is a break (┊): values before and after it are never compared or
averaged. Values that repeat from run to run are compared exactly. Others are tested: in a stretch
of runs without a change, a measure has a false alarm with a probability of at most 1 %. Such a test
finds large changes from about five runs on each side.

` + historyCodes,
		Example: `  rehearse history trend order-status
  rehearse history trend order-status --branch main --measure cost_eur,tokens
  rehearse history trend order-state --from order-status   after a rename`,
		Args:              arguments(1, 1, "name one scenario"),
		ValidArgsFunction: completeScenarios,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.trend(cmd.Context(), args[0], &flags) },
	}
	flags.register(cmd, 100)
	f := cmd.Flags()
	f.StringVar(&flags.variant, "variant", "", "runs with this label variant=`VALUE`, instead of those without it")
	f.StringSliceVar(&flags.measures, "measure", nil, "the `measures` to show, such as cost_eur,latency_p95")
	f.StringVar(&flags.from, "from", "", "an earlier `name` of the scenario, whose runs come before")
	f.BoolVar(&flags.all, "all", false, "list all runs too")
	return cmd
}

func (a *app) trend(ctx context.Context, scenario string, flags *trendFlags) error {
	f, err := flags.filter()
	if err != nil {
		return err
	}
	st, err := a.openHistory(ctx, flags.address)
	if err != nil {
		return err
	}
	defer closeHistory(st)
	of := history.Identity{Scenario: scenario, Variant: flags.variant}
	measures := flags.measures
	if len(measures) == 0 {
		measures = history.DefaultMeasures()
	}
	points, err := st.Trend(ctx, of, f, measures...)
	if err == nil && len(points) == 0 {
		return unknownPast(ctx, st, of, flags.branch)
	}
	if err == nil && flags.from != "" {
		points, err = earlier(ctx, st, history.Identity{Scenario: flags.from, Variant: flags.variant}, f, measures, points)
	}
	if err != nil {
		return noVerdict(err)
	}
	if err := checkMeasures(ctx, st, flags.measures, points); err != nil {
		return usage(err)
	}
	t := history.NewTrend(of, points, flags.measures)
	if flags.from == "" {
		if t.Renamed, err = st.Renamed(ctx, of); err != nil {
			return noVerdict(err)
		}
	}
	return a.showPast(document{reports.TrendDocument(&t, flags.all, nil), t, ""}, flags.asJSON)
}

// earlier puts the runs of an earlier name before the runs of a scenario.
func earlier(ctx context.Context, st *store.Store, of history.Identity, f history.Filter, measures []string,
	points []history.Point,
) ([]history.Point, error) {
	f.Before = points[0].At
	before, err := st.Trend(ctx, of, f, measures...)
	if err != nil {
		return nil, err
	}
	if len(before) == 0 {
		return nil, usage(fmt.Errorf("--from %s: it has no runs before the first run of %s", of, points[0].Identity))
	}
	points = slices.Concat(before, points)
	if f.Limit > 0 {
		points = points[max(0, len(points)-f.Limit):]
	}
	return points, nil
}

func unknownPast(ctx context.Context, st *store.Store, of history.Identity, branch string) error {
	all, err := st.Scenarios(ctx)
	if err != nil {
		return noVerdict(err)
	}
	var names, variants []string
	for _, i := range all {
		names = append(names, i.Scenario)
		if i.Scenario == of.Scenario {
			variants = append(variants, strconv.Quote(i.Variant))
		}
	}
	if len(variants) == 0 {
		return usage(fmt.Errorf("scenario %.100q is not in the history%s", of.Scenario, suggest.Hint(of.Scenario, names)))
	}
	if branch != "" {
		return usage(fmt.Errorf("%s has no runs on the branch %.100q", of, branch))
	}
	return usage(fmt.Errorf("%s has no runs of the variant %q; it has %s (--variant)", of.Scenario, of.Variant, strings.Join(variants, ", ")))
}

// checkMeasures returns an error for a measure that is not in any of the runs.
func checkMeasures(ctx context.Context, st *store.Store, names []string, points []history.Point) error {
	known := measuresOf(points)
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		newest, err := st.Trend(ctx, points[len(points)-1].Identity, history.Filter{Limit: 1})
		if err != nil {
			return err
		}
		return suggest.NotAmong("measure", name, measuresOf(newest))
	}
	return nil
}

func measuresOf(points []history.Point) []string {
	known := []string{history.PassRate}
	for i := range points {
		for _, m := range points[i].Measures {
			if !slices.Contains(known, m.Name) {
				known = append(known, m.Name)
			}
		}
	}
	return known
}

func (a *app) historyFlakyCommand() *cobra.Command {
	var flags pastFlags
	var flips int
	cmd := &cobra.Command{
		Use:   "flaky",
		Short: "List scenarios that pass and fail without a change of their content",
		Long: `flaky lists scenarios that passed and failed with the same content: trials of one run disagree, or
runs of one commit, or the verdict changed from run to run at least --min times. A failure that
appears once and stays, or is fixed once, is not flaky. The share of failed trials has its 95 %
confidence interval.

Scenarios in virtual time repeat exactly unless the agent is random by itself: those are listed as
NOT REPEATABLE.

` + historyCodes,
		Example: "  rehearse history flaky\n  rehearse history flaky --branch main -n 50 --json",
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			f, err := flags.filter()
			if err != nil {
				return err
			}
			if flips < 1 {
				return usage(fmt.Errorf("--min must be at least 1, got %d", flips))
			}
			st, err := a.openHistory(cmd.Context(), flags.address)
			if err != nil {
				return err
			}
			defer closeHistory(st)
			points, err := st.Points(cmd.Context(), f)
			if err != nil {
				return noVerdict(err)
			}
			found := history.NewFlakiness(points, flips)
			return a.showPast(document{reports.FlakyDocument(&found), found, ""}, flags.asJSON)
		},
	}
	flags.register(cmd, 100)
	cmd.Flags().IntVar(&flips, "min", 2, "number of changes of the verdict from run to run that count as flaky")
	return cmd
}

// age parses a duration in days or hours, such as 90d.
func age(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		if n, err := strconv.Atoi(days); err == nil && n >= 0 && n < 100_000 {
			return time.Duration(n) * 24 * time.Hour, nil
		}
	} else if d, err := time.ParseDuration(text); err == nil && d >= 0 {
		return d, nil
	}
	return 0, fmt.Errorf("%.50q is not an age; write days or hours, such as 90d or 12h", text)
}

var errNothingToPrune = errors.New("no runs are selected; name runs, or write --keep with an age such as 90d")
