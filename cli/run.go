package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// runsFolder is the default folder of runs.
const runsFolder = "rehearse-runs"

// gcPercent halves the frequency of garbage collection. A run makes much garbage beside a live
// heap of about 10 MB: this saves a tenth of its time and costs about 10 MB.
const gcPercent = 200

// runFlags are the flags of run.
type runFlags struct {
	out      string
	workers  int
	chosen   selection
	order    ordering
	prices   string
	labels   map[string]string
	html     bool
	shown    showing
	watch    bool
	live     bool
	require  bool
	perturb  perturbValue
	fleet    fleetFlags
	baseline string
	update   bool
	history  string
	sign     string
	view     viewMode
	limits   runLimits
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [PATTERN...]",
		Short: "Drive scenarios, judge them and write the reports",
		Long: `run drives scenarios against their scripted backends, judges what happened and writes
report.json, junit.xml, report.md, report.html and the recording to a folder.

` + selectionHelp + `

--baseline compares the run with a file of rehearse bless, and fails on measures that are worse,
missing or new, and on changed expectations. Budgets (--max-cost, --max-calls, --max-time) stop a
run that is not done; everything so far is reported, without a verdict.

--fail-fast stops a run at its first failure or error, in the order of the plan and with any number
of workers; the other scenarios are not run. --repeat-until-fail runs up to 100 trials of each
scenario, each with its own seed, and stops at the first that fails: the way to a flaky scenario.

A snapshot (expect.snapshot) that does not exist is written, except in CI (the variable CI is set).
--update rewrites those that differ, and removes those that no scenario names any more.

--shard i/n runs one of n parts, for machines side by side: each has its share of the trials. It
needs the same patterns, filters and options in all parts; rehearse merge makes one report of them.

--watch runs again what a changed scenario, a file that it names, or a source of its program
affects. On a terminal, keys choose: a all, f failed, p filter, Enter again, q quit.

--queue spreads the trials over the workers of a queue (rehearse worker), with the same recording as
on one machine; --resume goes on with such a run that was interrupted or killed. With --live, --max-cost and
--max-calls are reserved before each live call, over all workers: a run is never charged more. --rate
limits the requests to each provider.

--perturb injects a failure into one scenario, and checks the invariants, as explore does.

--sign writes a statement of the run (when, by whom, which command, commit, program and prices, and the hashes of
all files) and signs it with an SSH key; report --verify --key and ssh-keygen -Y verify check it.

The result is added to the history, which rehearse history and compare read; --history none leaves
it out. A history that cannot be written is a warning and never changes the result.

` + exitCodes,
		Example: `  rehearse run order-status 'refund-*'
  rehearse run -k 'refund and not slow' --exclude refund-live
  rehearse run --failed
  rehearse run --watch
  rehearse run order-status --repeat-until-fail=1000
  rehearse run --shard 2/4 --out shard-2
  rehearse run scenarios --trials 1000 --queue postgres://rehearse@db.example.com/rehearse
  rehearse run refunds --live --max-cost 5USD --rate 10/s --queue postgres://db.example.com/rehearse
  rehearse run scenarios/checkout.yaml --out /tmp/checkout
  rehearse run scenarios --json | jq .verdict
  rehearse run scenarios --reporter dots --reporter tap=out.tap
  rehearse run refund --update
  rehearse run scenarios --out audit-2026 --sign ~/.ssh/id_ed25519
  rehearse run scenarios --baseline --trials 20 --max-cost 0.50EUR`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.limits.check(cmd.Flags()); err != nil {
				return usage(err)
			}
			if err := detachedNumber(cmd.Flags(), args); err != nil {
				return usage(err)
			}
			if err := flags.fleet.check(cmd.Flags(), &flags); err != nil {
				return usage(err)
			}
			return a.runScenarios(cmd.Context(), args, flags)
		},
	}
	a.registerRunFlags(cmd, &flags)
	return cmd
}

func (a *app) registerRunFlags(cmd *cobra.Command, flags *runFlags) {
	f := cmd.Flags()
	outFolderFlag(f, &flags.out)
	workersFlag(f, &flags.workers, "trials to run")
	a.selectionFlags(cmd, &flags.chosen)
	flags.order.register(f)
	pricesFlag(f, &flags.prices)
	f.StringToStringVar(&flags.labels, "label", nil, "labels for the recording, such as `branch=main`")
	f.Lookup("label").DefValue = "" // help would show "[]"
	f.BoolVar(&flags.html, "html", true, "write report.html, the page for a browser")
	flags.shown.register(cmd)
	liveFlag(f, &flags.live)
	f.BoolVar(&flags.require, "require", false,
		"fail a scenario that needs something this machine lacks, such as Docker, instead of skipping it")
	baselineFlag(f, &flags.baseline)
	updateFlag(f, &flags.update)
	historyFlag(f, &flags.history)
	signFlag(f, &flags.sign)
	flags.limits.register(f)
	f.Var(&flags.perturb, "perturb", "inject a failure, such as call=7:reset-mid-stream; may be repeated")
	watchFlag(cmd, &flags.watch)
	viewModeFlag(cmd, &flags.view)
	cmd.MarkFlagsMutuallyExclusive("view", "watch")
	cmd.MarkFlagsMutuallyExclusive("sign", "watch")
	flags.fleet.register(f)
}

func (a *app) runScenarios(ctx context.Context, patterns []string, flags runFlags) error {
	if err := errors.Join(checkWorkers(flags.workers), a.checkLive(flags.live)); err != nil {
		return usage(err)
	}
	against, err := openBaseline(flags.baseline, patterns)
	if err != nil {
		return err
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	if flags.watch {
		return a.watch(ctx, patterns, flags, prices)
	}
	set, header, err := a.plan(patterns, flags, prices)
	if err != nil {
		return usage(err)
	}
	_, err = a.runSet(ctx, set, header, flags, prices, against)
	return err
}

// runSet runs scenarios, writes the files and shows the report. Its error is an exitError.
func (a *app) runSet(ctx context.Context, set []scenarios.Scenario, header record.Run, flags runFlags, prices *price.Table,
	against *rundir.BaselineSource,
) (reports.Report, error) {
	if header.Shard != nil { // the merged run can be imported
		flags.history = historyOff
	}
	past, err := a.beginPast(ctx, flags.history, flags.out, flags.kind(), flags.labels)
	if err != nil {
		return reports.Report{}, err
	}
	if err := a.beginSigning(ctx, flags.sign, &past); err != nil {
		return reports.Report{}, err
	}
	defer past.key.Close()
	spread, err := a.beginFleet(ctx, set, header, &flags, prices)
	if err != nil {
		return reports.Report{}, err
	}
	defer func() { spread.end(ctx, a, flags.fleet.resume == "") }() // nothing was run: a new run need not be resumed
	var pages *viewing
	defer func() { pages.finish(ctx, a) }() // after the folder was closed, so that the pages show a finished run
	out, err := a.openFolder(flags.out)
	if err != nil {
		return reports.Report{}, usage(err) // nothing was run
	}
	defer func() { _ = out.Close() }() // the end of the process frees it as well
	if pages, err = a.beginViewing(ctx, flags.view, flags.history, out.Path()); err != nil {
		return reports.Report{}, err
	}
	if flags.out != "" && !flags.watch {
		a.warnReplaced(out)
	}

	a.collectSeldom()
	began := time.Now()
	report, sink, err := a.execute(ctx, set, header, out, prices, flags, against, spread, past)
	spread.end(ctx, a, err == nil && !report.Interrupted)
	spread = nil
	if err != nil {
		return report, noVerdict(err)
	}
	a.storePast(ctx, past, sink.Side(report).Entry(), out, rundir.RecordingFile)
	if err := a.signRun(past, out, report.Run); err != nil {
		return report, err
	}
	return report, a.finishRun(out, &report, sink.First(), sink.Seconds(), began, flags.shown)
}

// plan returns the scenarios that the flags select, in their order, and the header of their
// recording.
func (a *app) plan(patterns []string, flags runFlags, prices *price.Table) ([]scenarios.Scenario, record.Run, error) {
	set, err := a.selectScenarios(patterns, flags.chosen, prices)
	if err == nil {
		set, err = flags.order.sort(set)
	}
	if err != nil {
		return nil, record.Run{}, err
	}
	flags.limits.repeat(set)
	if err := a.checkPerturb(flags.perturb, set, prices); err != nil {
		return nil, record.Run{}, err
	}
	whole := harness.Header(set, tool(), prices, flags.labels)
	part := flags.order.shard
	own, planned, err := part.take(set)
	switch {
	case err != nil || planned == nil:
		return own, whole, err
	case flags.baseline != "":
		return nil, whole, errors.New("--baseline needs the whole run; compare the merged one: rehearse merge --baseline")
	}
	fmt.Fprintf(a.stderr, "shard %s: %d of %s\n", part, len(own), format.Plural(len(set), "scenario"))
	return own, part.Header(harness.Header(own, tool(), prices, flags.labels), whole, planned, flags.options()), nil
}

// kind returns the kind of the run in the history.
func (flags *runFlags) kind() history.Kind {
	if flags.watch {
		return history.Watched
	}
	return history.Plain
}

// options returns the flags that change the results of a run and are not in its header.
func (flags *runFlags) options() []string {
	var options []string
	if flags.live {
		options = append(options, "live")
	}
	if flags.require {
		options = append(options, "require")
	}
	return options
}

// execute drives the set and writes the files of the run.
func (a *app) execute(ctx context.Context, set []scenarios.Scenario, header record.Run, out *atomicdir.Folder, prices *price.Table,
	flags runFlags, against *rundir.BaselineSource, spread *fleet, past pastRun,
) (report reports.Report, sink *rundir.Sink, err error) {
	env := a.env(prices, flags.live)
	env.Required = flags.require
	defer func() { _ = env.Close() }() // all trials have ended; what is left is a listener
	progress := reports.NewProgress(a.stderr, a.terminal(), time.Now, header.Trials)
	if last, err := rundir.ReadLast(runsFolder); err == nil { // without an earlier run, the estimate is a rougher one
		progress.Past(last.Seconds, trialsOf(set))
	}
	if flags.shown.onScreen() == reporterDots {
		progress.Dots(a.stdout, console.TerminalOf(a.stdout, a.getenv))
	}
	defer progress.Follow()()
	sink, err = rundir.NewSink(out, header, rundir.SinkOptions{
		Extensions: a.language.Extensions(), Progress: progress,
		Stacks: a.stderr, Baseline: against, NoPage: !flags.html, Summarize: past.address != "", Origin: past.origin,
	})
	if err != nil {
		return report, nil, err
	}
	defer sink.Close()
	snapshots := &harness.SnapshotSink{Missing: flags.update || !a.inCI(), Update: flags.update}
	outcome, err := harness.RunPerturbed(ctx, set, flags.perturb, spread.options(harness.Options{
		Workers: flags.workers, Env: env, Sink: sink, Snapshots: snapshots, Observer: progress,
		Budget: flags.limits.budget(), FailFast: flags.limits.failures(), Language: a.language,
	}))
	if err != nil {
		return report, nil, atomicdir.Explain(err)
	}
	if report, err = sink.Finish(outcome); err == nil {
		err = a.finishSnapshots(snapshots, set, flags.update)
	}
	return report, sink, err
}

// trialsOf returns the number of trials of each scenario.
func trialsOf(set []scenarios.Scenario) map[string]int {
	trials := map[string]int{}
	for i := range set {
		trials[set[i].Name] = set[i].Trials
	}
	return trials
}

// exitCode returns the exit code of a report.
func exitCode(r reports.Report) int {
	if r.Interrupted {
		return exitInterrupted
	}
	return gate.ExitCode([]gate.Verdict{r.Verdict})
}

// openFolder opens the folder of the flag, or a new one.
func (a *app) openFolder(path string) (*atomicdir.Folder, error) {
	if path != "" {
		return atomicdir.Open(path)
	}
	if err := atomicdir.Ignore(runsFolder); err != nil {
		return nil, fmt.Errorf("%w; choose another folder with --out", err)
	}
	stamp := time.Now().UTC().Format("20060102-150405")
	for n := 1; ; n++ {
		name := filepath.Join(runsFolder, stamp)
		if n > 1 {
			name += fmt.Sprintf("-%d", n)
		}
		out, err := atomicdir.OpenNew(name)
		if errors.Is(err, atomicdir.ErrBusy) || errors.Is(err, os.ErrExist) {
			continue
		}
		return out, err
	}
}

// maxPrices limits the size of a price file.
const maxPrices = 16 << 20

func priceTable(file string) (*price.Table, error) {
	if file == "" {
		return price.Default()
	}
	data, err := input.ReadFile("price file", file, maxPrices)
	if err != nil {
		return nil, err
	}
	return price.Load(file, data)
}

// collectSeldom sets the frequency of garbage collection, unless the user did.
func (a *app) collectSeldom() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
