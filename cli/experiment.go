package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// journalFile is the journal of an experiment, which resumes it.
const journalFile = "journal.jsonl"

// experimentFlags are the flags of experiment and tune.
type experimentFlags struct {
	out     string
	workers int
	prices  string
	history string
	live    bool
	asJSON  bool
	plan    bool
	require string
	save    string
	limits  runLimits
	detail  detailFlags
}

func (f *experimentFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	f.detail.registerAs(cmd, "list each trial when it has ended", "print only the result")
	flags.StringVarP(&f.out, "out", "o", "", "folder for journal and reports (default: a new one in "+runsFolder+"); an experiment "+
		"whose journal is there is resumed")
	workersFlag(flags, &f.workers, "trials to run")
	pricesFlag(flags, &f.prices)
	historyFlag(flags, &f.history)
	flags.Var(&f.limits.cost, "max-cost", "maximum cost in place of the file's, checked before each call, such as `0.50EUR`")
	flags.IntVar(&f.limits.calls, "max-calls", 0, "maximum number of calls in place of the file's, checked before each call")
	liveFlag(flags, &f.live)
	flags.BoolVar(&f.plan, "plan", false, "show the plan, and run nothing")
	jsonFlag(flags, &f.asJSON, "the result")
}

// experimentFolder explains the folder of an experiment, whose journals have these names.
func experimentFolder(journals string) string {
	return `The folder contains experiment.json (the whole result), experiment.md, experiment.html and
` + journals + ` with the outcome of each trial. The same command with --out
resumes an interrupted or killed experiment and gives the same result.

Real models are called only with --live, and never where REHEARSE_OFFLINE is set.

`
}

// tuneJournals are the journals of a search: one for each round, and one of the end.
const tuneJournals = "journal-*.jsonl"

func (a *app) experimentCommand() *cobra.Command {
	var flags experimentFlags
	cmd := &cobra.Command{
		Use:   "experiment FILE",
		Short: "Compare variants of an agent by quality and cost",
		Long: `experiment drives variants of an agent (prompts, models, options, commands) in the same scenarios,
interleaved and paired. For each pair it reports effect size, confidence interval and cost, and
whether one variant is better, worse or equivalent; if the data does not decide, it reports how many
trials would.

` + experimentFolder(journalFile) + `Exit codes:
  0    the experiment is complete, and --require is met
  1    a variant is worse than the one of "against:" in the file, or --require is not met
  2    usage or configuration: nothing was run
  3    no verdict: a cap stopped it, nothing could be driven, the harness failed, or the trials are
       too few to decide --require not-worse
  130  interrupted; the results so far are reported, and the same command with --out resumes it`,
		Example: `  rehearse experiment mirror.yaml --plan
  rehearse experiment mirror.yaml --out /tmp/mirror
  rehearse experiment mirror.yaml --live --max-cost 2EUR --require better`,
		Args: arguments(1, 1, "name the file of the experiment"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.experiment(cmd, args[0], flags) },
	}
	f := cmd.Flags()
	flags.register(cmd)
	f.StringVar(&flags.require, "require", "", "required result: better (every variant is better), not-worse (no variant is worse by "+
		"smallest_effect or more), decided (no comparison is undecided)")
	complete(cmd, "require", result.Requirements()...)
	cmd.ValidArgsFunction = completeYAML
	return cmd
}

func (a *app) experiment(cmd *cobra.Command, path string, flags experimentFlags) error {
	if flags.require != "" && !slices.Contains(result.Requirements(), flags.require) {
		return notAmong("requirement", flags.require, result.Requirements())
	}
	e, prices, err := a.loadExperiment(cmd.Flags(), path, flags)
	if err != nil {
		return err
	}
	plan := e.Plan()
	switch {
	case len(plan.Variants) < 2:
		return usage(fmt.Errorf("%s: there is one variant, so nothing is compared; rehearse tune searches for another", path))
	case flags.require == result.RequireNotWorse && plan.Design.Primary.Smallest == 0:
		return usage(fmt.Errorf("%s: --require not-worse needs to know how much worse is too much; write a smallest_effect under primary", path))
	case flags.plan:
		return a.showPlan(plan, flags)
	}
	found, err := a.carryOut(cmd, path, e, prices, flags, journalFile, e.Run)
	if err != nil {
		return err
	}
	verdict, unmet := found.Judge(flags.require)
	for _, text := range unmet {
		fmt.Fprintf(a.stderr, "--require %s: %s\n", flags.require, text)
	}
	return quiet(experimentExit(found, verdict))
}

// experimentExit returns the exit code of an experiment.
func experimentExit(r *result.Experiment, v gate.Verdict) int {
	if r.Stopped.As == result.Interrupted {
		return exitInterrupted
	}
	return gate.ExitCode([]gate.Verdict{v})
}

// loadExperiment checks the flags and loads the experiment.
func (a *app) loadExperiment(given *pflag.FlagSet, path string, flags experimentFlags) (*experiment.Experiment, *price.Table, error) {
	if err := errors.Join(flags.limits.check(given), a.checkLive(flags.live), checkWorkers(flags.workers)); err != nil {
		return nil, nil, usage(err)
	}
	if err := refuseScenario(path); err != nil {
		return nil, nil, usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return nil, nil, usage(err)
	}
	opts, err := a.checkedOptions(prices)
	if err != nil {
		return nil, nil, usage(err)
	}
	e, diagnostics := experiment.Load(path, a.language, opts)
	if len(diagnostics) > 0 {
		return nil, nil, usage(diagnostics.Err())
	}
	return e, prices, nil
}

// showPlan prints what an experiment would do.
func (a *app) showPlan(p experiment.Plan, flags experimentFlags) error {
	if flags.limits.calls > 0 {
		p.Design.MaxCalls = flags.limits.calls
	}
	if !flags.limits.cost.IsZero() {
		p.Design.MaxCost = flags.limits.cost.Money.String()
	}
	var err error
	if flags.asJSON {
		err = format.JSON(a.stdout, p)
	} else {
		_, err = io.WriteString(a.stdout, p.Text(console.TerminalOf(a.stdout, a.getenv).Columns()))
	}
	if err != nil {
		return noVerdict(fmt.Errorf("write the plan: %w", err))
	}
	return nil
}

// carryOut runs an experiment or its search, and writes and shows the result. journals is
// the pattern of the journals' names.
func (a *app) carryOut(cmd *cobra.Command, path string, e *experiment.Experiment, prices *price.Table, flags experimentFlags,
	journals string,
	run func(context.Context, experiment.Options) (result.Experiment, error),
) (*result.Experiment, error) {
	if e.Live() && !flags.live {
		return nil, usage(errors.New("the experiment calls real models, which cost money; allow it with --live, " +
			"and see first with --plan what it may take"))
	}
	past, err := a.beginPast(cmd.Context(), flags.history, flags.out, history.Kind(cmd.Name()), nil)
	if err != nil {
		return nil, err
	}
	out, err := a.openFolder(flags.out)
	if err != nil {
		return nil, usage(err) // nothing was run
	}
	defer func() { _ = out.Close() }() // the end of the process frees it as well

	a.collectSeldom()
	began := time.Now()
	env := a.env(prices, flags.live)
	defer func() { _ = env.Close() }() // all trials have ended; what is left is a listener
	pattern := filepath.Join(out.Path(), journals)
	if found, err := filepath.Glob(pattern); err == nil && len(found) > 0 {
		fmt.Fprintf(a.stderr, "resuming %s\n", pattern)
	}
	progress := newExperimenting(newLongWork(a.stderr, a.terminal(), time.Now, flags.detail), e.Plan(), cmd.Name() == tuneName)
	found, err := run(cmd.Context(), experiment.Options{
		Env: env, Workers: flags.workers, Caps: experiment.Caps{Calls: flags.limits.calls, Cost: flags.limits.cost.Money},
		Journal: filepath.Join(out.Path(), journalFile), Tool: tool(), Progress: progress.update,
	})
	progress.work.status.Clear()
	if _, foreign := errors.AsType[*experiment.JournalError](err); foreign {
		return nil, usage(err)
	}
	if err == nil {
		err = a.writeExperiment(out, &found, flags, past.origin())
	}
	if err != nil {
		return nil, noVerdict(atomicdir.Explain(err))
	}
	fmt.Fprintf(a.stderr, "%s; experiment.json, experiment.md, experiment.html and %s are in %s\n",
		format.Seconds(time.Since(began).Seconds()), journals, out.Path())
	a.storePast(cmd.Context(), past, rundir.ExperimentEntry(&found, flags.require), out, rundir.ExperimentFile)
	a.remember(out, nil, nil)
	a.viewAgain(out)
	if found.Stopped.As == result.Interrupted {
		fmt.Fprintf(a.stderr, "resume with: %s\n", format.ShellLine("rehearse", cmd.Name(), path, "--out", out.Path()))
	}
	return &found, nil
}

// experimentDocument returns the result of an experiment as a document.
func experimentDocument(r *result.Experiment) document {
	return document{reports.ExperimentDocument(r), r, r.Tool}
}

// writeExperiment writes the files of an experiment and prints the result.
func (a *app) writeExperiment(out *atomicdir.Folder, r *result.Experiment, flags experimentFlags, from reports.Origin) error {
	if err := rundir.WriteExperiment(out, r, from); err != nil {
		return err
	}
	shown := experimentDocument(r)
	if flags.detail.quiet {
		shown.Lead, shown.Body, shown.Terminal = nil, nil, nil
	}
	return a.show(shown, flags.asJSON)
}
