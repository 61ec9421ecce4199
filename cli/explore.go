package cli

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// exploreFlags are the flags of explore.
type exploreFlags struct {
	chosen            selection
	out, save, prices string
	history, sign     string
	families          []string
	pairs, maxRuns    int
	seed              uint64
	workers           int
	thorough, asJSON  bool
	detail            detailFlags
}

func (a *app) exploreCommand() *cobra.Command {
	var flags exploreFlags
	cmd := &cobra.Command{
		Use:   "explore [SCENARIO]",
		Short: "Drive a scenario on its happy path and under every failure mode",
		Long: `explore drives one passing scenario over and over, each time with one injected failure, and checks
each run against the invariants: those of the kind of agent, and those of the scenario
("invariants:").

SCENARIO is a file, or the name of a scenario in ./scenarios or of a shipped one. Filters such as -k
and --failed may select it, too; exactly one scenario must be left. See rehearse run --help.

Families of failure modes:
` + familyHelp() + `
Each failure is shrunk to the smallest perturbation that breaks the same invariant, and shown with the command
that repeats it. --save also writes it as a scenario file.

The folder of the reports contains explore.json (all runs), explore.md, and the recording and
the reports of the golden path and of the smallest run of each failure; rehearse report FOLDER
shows it again. --sign signs them as for rehearse run.

Exit codes:
  0    no failure mode broke an invariant
  1    one did
  2    usage or configuration: nothing was run
  3    no verdict: the golden path does not pass, a run has no verdict, or no failure mode could be
       applied
  130  interrupted; what was found so far is reported`,
		Example: `  rehearse explore interview/golden-lea
  rehearse explore loop/golden-marker --family fault,latency
  rehearse explore -k 'refund and not slow'
  rehearse explore scenarios/checkout.yaml --pairs 500 --save scenarios/found
  rehearse explore persist/ten-hours --family crash --json | jq '.cells | length'`,
		Args:              arguments(0, 1, "name the scenario to explore"),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("max-runs") && flags.maxRuns < 1 {
				return usage(fmt.Errorf("--max-runs must be at least 1, got %d; leave it out for no limit", flags.maxRuns))
			}
			return a.explore(cmd.Context(), args, flags)
		},
	}
	a.selectionFlags(cmd, &flags.chosen)
	f := cmd.Flags()
	f.StringSliceVar(&flags.families, "family", nil, "only these `families` (default: all)")
	f.IntVar(&flags.pairs, "pairs", explore.DefaultPairs, "maximum number of pairs of faults")
	f.IntVar(&flags.maxRuns, "max-runs", 0, "maximum number of perturbed runs (default: no limit)")
	f.BoolVar(&flags.thorough, "thorough", false, "explore every place of a long path, and start every run at its beginning")
	f.Uint64Var(&flags.seed, "seed", 0, "seed that chooses the pairs (default: the scenario's)")
	workersFlag(f, &flags.workers, "runs to drive")
	outFolderFlag(f, &flags.out)
	f.StringVar(&flags.save, "save", "", "write each failure as a scenario file to this `folder`")
	pricesFlag(f, &flags.prices)
	historyFlag(f, &flags.history)
	signFlag(f, &flags.sign)
	jsonFlag(f, &flags.asJSON, "the result")
	flags.detail.registerAs(cmd, "list each run when it has ended", "print only the failures and the result")
	_ = cmd.RegisterFlagCompletionFunc("family", completeFamilies)
	return cmd
}

// oneScenario returns the only selected scenario.
func (a *app) oneScenario(patterns []string, chosen selection, prices *price.Table) (scenarios.Scenario, error) {
	set, err := a.selectScenarios(patterns, chosen, prices)
	if err == nil {
		err = onlyOne(set, "this command takes one")
	}
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return set[0], nil
}

func (a *app) explore(ctx context.Context, patterns []string, flags exploreFlags) error {
	opts, err := flags.options(a.language)
	if err := errors.Join(checkWorkers(flags.workers), err); err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	sc, err := a.oneScenario(patterns, flags.chosen, prices)
	if err != nil {
		return usage(err)
	}
	past, err := a.beginPast(ctx, flags.history, flags.out, history.Explored, nil)
	if err != nil {
		return err
	}
	if err := a.beginSigning(ctx, flags.sign, &past); err != nil {
		return err
	}
	defer past.key.Close()
	out, err := a.openFolder(flags.out)
	if err != nil {
		return usage(err) // nothing was run
	}
	defer func() { _ = out.Close() }() // the end of the process frees it as well

	a.collectSeldom()
	began := time.Now()
	found, run, err := a.exploreInto(ctx, out, sc, prices, opts, flags.detail, past.origin)
	if err != nil {
		return noVerdict(err)
	}
	a.storePast(ctx, past, rundir.ExplorationEntry(&found), out, rundir.RecordingFile)
	if err := a.signRun(past, out, run); err != nil {
		return err
	}
	a.remember(out, nil, nil)
	took := time.Since(began).Seconds()
	shown := explorationDocument(&found)
	if flags.detail.quiet {
		shown.Body = nil
	}
	if err := a.show(shown, flags.asJSON); err != nil {
		return noVerdict(err)
	}
	if flags.save != "" {
		if err := a.saveFailures(flags.save, sc, &found); err != nil {
			return noVerdict(err)
		}
	}
	rate := format.Plural(int(math.Round(float64(len(found.Cells))/took)), "run")
	fmt.Fprintf(a.stderr, "%s, %s a second; report.html and the other files are in %s\n", format.Seconds(took), rate, out.Path())
	a.viewAgain(out)
	if ctx.Err() != nil {
		return quiet(exitInterrupted)
	}
	return quiet(gate.ExitCode([]gate.Verdict{found.Verdict()}))
}

// exploreInto explores and writes every file.
func (a *app) exploreInto(ctx context.Context, out *atomicdir.Folder, sc scenarios.Scenario, prices *price.Table, opts explore.Options,
	detail detailFlags, origin func() reports.Origin,
) (result.Exploration, reports.Run, error) {
	env := a.env(prices, false)
	defer func() { _ = env.Close() }() // all runs have ended; what is left is a listener
	sink, err := rundir.NewSink(out, harness.Header([]scenarios.Scenario{sc}, opts.Tool, prices, nil), rundir.SinkOptions{
		Extensions: a.language.Extensions(), Stacks: a.stderr, Origin: origin,
	})
	if err != nil {
		return result.Exploration{}, reports.Run{}, err
	}
	defer sink.Close()
	progress := newExploring(newLongWork(a.stderr, a.terminal(), time.Now, detail), opts.Workers)
	opts.Env, opts.Sink, opts.Progress = env, sink, progress.update
	found, err := explore.Run(ctx, sc, opts)
	progress.work.status.Clear()
	if golden, ok := errors.AsType[*explore.GoldenError](err); ok {
		return found, reports.Run{}, fmt.Errorf("%w: %s", golden, explore.Command(&sc, nil))
	}
	if err != nil {
		return found, reports.Run{}, atomicdir.Explain(err)
	}
	report, err := sink.FinishExploration(&found, ctx.Err() != nil)
	return found, report.Run, err
}

// explorationDocument returns an exploration as a document.
func explorationDocument(r *result.Exploration) document {
	return document{reports.ExplorationDocument(r, nil), r, r.Tool}
}

// saveFailures writes a scenario file for each distinct failure.
func (a *app) saveFailures(dir string, sc scenarios.Scenario, r *result.Exploration) error {
	written, existing, err := explore.SaveFailures(sc, r, dir, a.scenarioOptions(nil))
	for _, file := range existing {
		fmt.Fprintf(a.stderr, "%s exists and is not overwritten\n", file)
	}
	for _, file := range written {
		fmt.Fprintf(a.stderr, "saved %s; repeat it: %s\n", file, format.ShellLine("rehearse", "run", file))
	}
	return err
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
