package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/explore"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/result"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// The files of an exploration, beside those of a run.
const (
	exploreFile         = "explore.json"
	exploreMarkdownFile = "explore.md"
)

func (a *app) exploreCommand() *cobra.Command {
	var flags exploreFlags
	cmd := &cobra.Command{
		Use:   "explore SCENARIO",
		Short: "Drive a scenario on its happy path and under every failure mode",
		Long: `explore drives one passing scenario over and over, each time with one thing going wrong, and checks
each run against the invariants: those of the kind of agent, and those of the scenario
("invariants:").

SCENARIO is a file, or the name of a scenario in ./scenarios or of a shipped one.

Families of what goes wrong:
` + familyHelp() + `
Each failure is shrunk to the smallest perturbation that breaks the same, and shown with the command
that repeats it. --save writes it as a scenario file, too.

The folder of the reports gets ` + exploreFile + ` (all runs), ` + exploreMarkdownFile + `, and the recording and
the reports of the golden path and of the smallest run of each failure; rehearse report FOLDER
shows it again.

Exit codes:
  0    no failure mode broke an invariant
  1    one did
  2    usage or configuration: nothing was run
  3    no verdict: the golden path does not pass, a run has no verdict, or no failure mode could be
       applied
  130  interrupted; what was found so far is reported`,
		Example: `  rehearse explore interview/golden-lea
  rehearse explore loop/golden-marker --family fault,latency
  rehearse explore scenarios/checkout.yaml --pairs 500 --save scenarios/found
  rehearse explore persist/ten-hours --family crash --json | jq '.cells | length'`,
		Args:              arguments(1, 1, "name the scenario to explore"),
		ValidArgsFunction: completeScenarios,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("max-runs") && flags.maxRuns < 1 {
				return usage(fmt.Errorf("--max-runs must be at least 1, got %d; leave it out for no limit", flags.maxRuns))
			}
			return a.explore(cmd.Context(), args[0], flags)
		},
	}
	f := cmd.Flags()
	f.StringSliceVar(&flags.families, "family", nil, "only these `families` (default: all)")
	f.IntVar(&flags.pairs, "pairs", explore.DefaultPairs, "how many pairs of faults are driven at most")
	f.IntVar(&flags.maxRuns, "max-runs", 0, "how many perturbed runs there may be (default: no limit)")
	f.BoolVar(&flags.thorough, "thorough", false, "leave nothing out where the path is long")
	f.Uint64Var(&flags.seed, "seed", 0, "chooses the pairs (default: the scenario's)")
	f.IntVarP(&flags.workers, "workers", "w", runtime.GOMAXPROCS(0), "how many runs are driven at once")
	f.StringVarP(&flags.out, "out", "o", "", "folder for the reports (default: a new one in "+runsFolder+")")
	f.StringVar(&flags.save, "save", "", "write each failure as a scenario file to this `folder`")
	f.StringVar(&flags.prices, "prices", "", "a price file whose entries override the shipped table")
	f.BoolVar(&flags.asJSON, "json", false, "print the result as JSON on standard output")
	_ = cmd.RegisterFlagCompletionFunc("family", completeFamilies)
	return cmd
}

// oneScenario is the only one that a pattern names.
func (a *app) oneScenario(pattern string, prices *price.Table) (scenarios.Scenario, error) {
	set, err := a.selectScenarios([]string{pattern}, nil, prices)
	if err == nil {
		err = onlyOne(set, "one is explored at a time")
	}
	if err != nil {
		return scenarios.Scenario{}, err
	}
	return set[0], nil
}

// onlyOne returns an error unless a set is one scenario.
func onlyOne(set []scenarios.Scenario, why string) error {
	if len(set) == 1 {
		return nil
	}
	const most = 5
	var names []string
	for _, sc := range set[:min(len(set), most)] {
		names = append(names, sc.Name)
	}
	if len(set) > most {
		names = append(names, "...")
	}
	return fmt.Errorf("%d scenarios are selected, and %s: %s", len(set), why, strings.Join(names, ", "))
}

func (a *app) explore(ctx context.Context, pattern string, flags exploreFlags) error {
	opts, err := flags.options(a.agents.language)
	if err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	sc, err := a.oneScenario(pattern, prices)
	if err != nil {
		return usage(err)
	}
	out, err := a.openFolder(flags.out)
	if err != nil {
		return usage(err) // nothing was run
	}
	defer func() { _ = out.Close() }() // the end of the process frees it as well

	a.collectSeldom()
	began := time.Now()
	result, err := a.exploreInto(ctx, out, sc, prices, opts)
	if err != nil {
		return noVerdict(err)
	}
	took := time.Since(began)
	if err := a.showExploration(&result, flags.asJSON); err != nil {
		return noVerdict(err)
	}
	if flags.save != "" {
		if err := a.saveFailures(flags.save, sc, &result); err != nil {
			return noVerdict(err)
		}
	}
	fmt.Fprintf(a.stderr, "%s, %s a second; %s, %s and the reports are in %s\nview again with: %s\n",
		format.Seconds(took.Seconds()), format.Plural(int(math.Round(float64(len(result.Cells))/took.Seconds())), "run"), exploreFile, exploreMarkdownFile, out.Path(),
		format.ShellLine("rehearse", "report", out.Path()))
	if ctx.Err() != nil {
		return quiet(exitInterrupted)
	}
	return quiet(gate.ExitCode([]gate.Verdict{result.Verdict()}))
}

// exploreInto explores and writes every file.
func (a *app) exploreInto(ctx context.Context, out *atomicdir.Folder, sc scenarios.Scenario, prices *price.Table, opts explore.Options,
) (result.Exploration, error) {
	env := &drive.Env{Makers: a.agents.Makers(), Prices: prices, Tokens: token.NewCounter(token.Options{}), Redactor: redactor()}
	defer func() { _ = env.Close() }() // all runs have ended; what is left is a listener
	files, err := a.newRunFiles(out, harness.Header([]scenarios.Scenario{sc}, opts.Tool, prices, nil))
	if err != nil {
		return result.Exploration{}, err
	}
	files.progress, files.stacks = reports.NewProgress(io.Discard, tty.Terminal{}, time.Now, 0), a.stderr
	if files.page, err = newRunPage(); err != nil {
		return result.Exploration{}, err
	}
	defer files.page.close()
	sink := &countingSink{Sink: files}
	progress := newExploreProgress(a.stderr, tty.Of(a.stderr, a.getenv), time.Now)
	opts.Env, opts.Sink, opts.Progress = env, sink, progress.tell
	result, err := explore.Run(ctx, sc, opts)
	progress.status.Clear()
	if golden, ok := errors.AsType[*explore.GoldenError](err); ok {
		return result, fmt.Errorf("%w: %s", golden, explore.Command(&sc, nil))
	}
	if err != nil {
		return result, atomicdir.Explain(err)
	}
	return result, files.closeExploration(&result, harness.Outcome{Trials: sink.trials, Interrupted: ctx.Err() != nil})
}

// countingSink counts the trials that a sink took.
type countingSink struct {
	harness.Sink
	trials int
}

// Trial implements harness.Sink.
func (s *countingSink) Trial(j harness.Judged) error {
	s.trials++
	return s.Sink.Trial(j)
}

// closeExploration completes the files of an exploration.
func (f *runFiles) closeExploration(r *result.Exploration, outcome harness.Outcome) error {
	f.page.explored = []result.Exploration{*r}
	for _, part := range []struct {
		name   string
		render func(io.Writer) error
	}{
		{exploreFile, func(w io.Writer) error { return result.WriteExploration(w, r) }},
		{exploreMarkdownFile, func(w io.Writer) error { return doc.Markdown(w, reports.ExplorationDocument(r, nil), 0) }},
	} {
		file, err := f.out.Create(part.name)
		if err != nil {
			return err
		}
		if err := part.render(file); err != nil {
			return err
		}
		f.others = append(f.others, file)
	}
	_, err := f.close(outcome)
	return err
}

// showExploration prints the result where the user asked for it.
func (a *app) showExploration(r *result.Exploration, asJSON bool) error {
	if asJSON {
		return result.WriteExploration(a.stdout, r)
	}
	return doc.Terminal(a.stdout, reports.ExplorationDocument(r, nil), tty.Of(a.stdout, a.getenv))
}

// saveFailures writes a scenario file for each distinct failure. A file that is there
// already is left as it is.
func (a *app) saveFailures(dir string, sc scenarios.Scenario, r *result.Exploration) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for what failed: %w; choose another one with --save", err)
	}
	for _, f := range r.Failures() {
		saved, err := explore.Save(sc, &r.Cells[f.Cell], dir, a.scenarioOptions(nil))
		if err != nil {
			return fmt.Errorf("save a failure: %w", err)
		}
		file := filepath.Join(dir, saved.FileName)
		switch err := saved.Write(dir); {
		case errors.Is(err, os.ErrExist):
			fmt.Fprintf(a.stderr, "%s is there already and stays as it is\n", file)
		case err != nil:
			return fmt.Errorf("save a failure: %w", err)
		default:
			fmt.Fprintf(a.stderr, "saved %s; repeat it: %s\n", file, format.ShellLine("rehearse", "run", file))
		}
	}
	return nil
}
