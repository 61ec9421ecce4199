package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// runsFolder is where runs go that name no folder.
const runsFolder = "rehearse-runs"

// gcPercent makes the garbage collector run half as often as by default. A run
// leaves much garbage beside a live heap of some 10 MB, so that this takes a tenth
// off its time and costs some 10 MB.
const gcPercent = 200

// runFlags are the flags of run.
type runFlags struct {
	out          string
	workers      int
	tags         []string
	prices       string
	labels       map[string]string
	asJSON       bool
	html         bool
	failuresOnly bool
	live         bool
	require      bool
	perturb      perturbValue
	baseline     string
	limits       runLimits
}

func (a *app) runCommand() *cobra.Command {
	var flags runFlags
	cmd := &cobra.Command{
		Use:   "run [PATTERN...]",
		Short: "Drive scenarios, judge them and write the reports",
		Long: `run drives scenarios against their scripted backends, judges what happened and writes
report.json, junit.xml, report.md, report.html and the recording to a folder.

A pattern is a file or folder of your own, or the name of scenarios, with * as a wildcard
('order-*', 'loop/*'): of those in ./scenarios and of the shipped ones. Where both have a scenario
of a name, write the file's path for your own and shipped:NAME for the other. Without a pattern
the folder ./scenarios is run.

--baseline compares the run with a file of rehearse bless, and fails on measures that are worse,
missing or new, and on changed expectations. Budgets (--max-cost, --max-calls, --max-time) stop a
run that is not done; everything so far is reported, without a verdict.

--perturb injects a failure into one scenario, and checks the invariants, as explore does.

` + exitCodes,
		Example: `  rehearse run 'loop/*'
  rehearse run order-status 'refund-*'
  rehearse run scenarios/checkout.yaml --out /tmp/checkout
  rehearse run scenarios --json | jq .verdict
  rehearse run scenarios --baseline --trials 20 --max-cost 0.50EUR`,
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.limits.check(cmd.Flags()); err != nil {
				return usage(err)
			}
			return a.runScenarios(cmd.Context(), args, flags)
		},
	}
	f := cmd.Flags()
	f.StringVarP(&flags.out, "out", "o", "", "folder for the reports (default: a new one in "+runsFolder+")")
	f.IntVarP(&flags.workers, "workers", "w", runtime.GOMAXPROCS(0), "how many trials run at once")
	a.tagFlag(cmd, &flags.tags)
	f.StringVar(&flags.prices, "prices", "", "a price file whose entries override the shipped table")
	f.StringToStringVar(&flags.labels, "label", nil, "labels for the recording, such as `branch=main`")
	f.Lookup("label").DefValue = "" // help would show "[]"
	f.BoolVar(&flags.html, "html", true, "write report.html, the page for a browser")
	f.BoolVar(&flags.asJSON, "json", false, "print the report as JSON on standard output")
	liveFlag(f, &flags.live)
	f.BoolVar(&flags.require, "require", false, "fail, rather than skip, a scenario that needs something this machine lacks, such as Docker")
	baselineFlag(f, &flags.baseline)
	flags.limits.register(f)
	f.Var(&flags.perturb, "perturb", "inject a failure, such as `call=7:reset-mid-stream`; may be repeated")
	f.BoolVar(&flags.failuresOnly, "failures-only", false, "leave passing scenarios out of the table")
	return cmd
}

func (a *app) runScenarios(ctx context.Context, patterns []string, flags runFlags) error {
	if flags.workers < 1 {
		return usage(fmt.Errorf("--workers must be at least 1, got %d", flags.workers))
	}
	if err := a.checkLive(flags.live); err != nil {
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
	set, err := a.selectScenarios(patterns, flags.tags, prices)
	if err != nil {
		return usage(err)
	}
	flags.limits.repeat(set)
	if err := a.checkPerturb(flags.perturb, set, prices); err != nil {
		return usage(err)
	}
	out, err := a.openFolder(flags.out)
	if err != nil {
		return usage(err) // nothing was run
	}
	defer func() { _ = out.Close() }() // the end of the process frees it as well

	a.collectSeldom()
	began := time.Now()
	report, err := a.execute(ctx, set, out, prices, flags, against)
	if err != nil {
		return noVerdict(err)
	}
	if err := a.show(report, flags); err != nil {
		return noVerdict(err)
	}
	written := []string{jsonFile, junitFile, markdownFile}
	if flags.html {
		written = append(written, htmlFile)
	}
	fmt.Fprintf(a.stderr, "%s; %s are in %s\nview again with: %s\n", format.Seconds(time.Since(began).Seconds()),
		strings.Join(written, ", ")+" and "+recordingFile, out.Path(), format.ShellLine("rehearse", "report", out.Path()))
	return quiet(exitCode(report))
}

// execute drives the set and writes every file of the run.
func (a *app) execute(ctx context.Context, set []scenarios.Scenario, out *atomicdir.Folder, prices *price.Table, flags runFlags, against *against,
) (reports.Report, error) {
	env := &drive.Env{
		Makers:   a.agents.Makers(),
		Prices:   prices,
		Tokens:   token.NewCounter(token.Options{}),
		Redactor: redactor(),
		Required: flags.require,
		Live:     flags.live,
		Getenv:   a.getenv,
	}
	defer func() { _ = env.Close() }() // all trials have ended; what is left is a listener
	files, err := a.newRunFiles(out, harness.Header(set, tool(), prices, flags.labels))
	if err != nil {
		return reports.Report{}, err
	}
	trials := 0
	for _, sc := range set {
		trials += max(sc.Trials, 1)
	}
	files.progress = reports.NewProgress(a.stderr, tty.Of(a.stderr, a.getenv), time.Now, trials)
	if flags.html {
		if files.page, err = newRunPage(); err != nil {
			return reports.Report{}, err
		}
		defer files.page.close()
	}
	files.stacks, files.against = a.stderr, against.of(out.Path(), files.builder.Run)
	outcome, err := runSet(ctx, set, flags.perturb, harness.Options{
		Workers: flags.workers, Env: env, Sink: files, Budget: flags.limits.budget(), Language: a.agents.language,
	})
	files.progress.Close()
	if err != nil {
		return reports.Report{}, atomicdir.Explain(err)
	}
	return files.close(outcome)
}

// show prints the report where the user asked for it.
func (a *app) show(report reports.Report, flags runFlags) error {
	opts := renderOptions{terminal: tty.Of(a.stdout, a.getenv), failuresOnly: flags.failuresOnly}
	if flags.asJSON {
		return reports.JSON(a.stdout, report)
	}
	return renderers["terminal"](a.stdout, report, opts)
}

// exitCode returns the exit code of a report.
func exitCode(r reports.Report) int {
	if r.Interrupted {
		return exitInterrupted
	}
	return gate.ExitCode([]gate.Verdict{r.Verdict})
}

// openFolder opens the folder that the user named, or a new one.
func (a *app) openFolder(path string) (*atomicdir.Folder, error) {
	if path != "" {
		return atomicdir.Open(path)
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

func priceTable(file string) (*price.Table, error) {
	if file == "" {
		return price.Default()
	}
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read the price file: %w", err)
	}
	return price.Load(file, data)
}

// collectSeldom sets how often garbage is collected in a run, unless the user did.
func (a *app) collectSeldom() {
	if a.getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
