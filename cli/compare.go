package cli

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/harness/measure"
	"github.com/rehearse-dev/rehearse/harness/record"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// comparisonRenderers write a comparison in one format.
var comparisonRenderers = map[string]func(io.Writer, compare.Result, tty.Terminal) error{
	"terminal": func(w io.Writer, c compare.Result, t tty.Terminal) error {
		return doc.Terminal(w, reports.ComparisonDocument(&c, nil), t)
	},
	"json": func(w io.Writer, c compare.Result, _ tty.Terminal) error { return reports.JSON(w, c) },
	"markdown": func(w io.Writer, c compare.Result, _ tty.Terminal) error {
		return doc.Markdown(w, reports.ComparisonDocument(&c, nil), 0)
	},
}

func (a *app) compareCommand() *cobra.Command {
	var format string
	formats := slices.Sorted(maps.Keys(comparisonRenderers))
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Compare two runs, or a run with a baseline",
		Long: `compare reports what is worse, better, tied or undecided in AFTER, measure by measure, and which
expectations, limits, fixtures and prices have changed. Each side is the folder of a run, a
recording, or the file of a baseline. No agent is started.

Counts are compared exactly where a scenario repeats, cost and tokens within a limit, and what
varies from trial to trial by a paired test, corrected for there being many.

Exit codes:
  0    nothing is worse, missing, new or changed
  1    something is
  2    usage, or a file of another kind
  3    no verdict: a run is not whole or not as it was recorded, or nothing could be compared`,
		Example: `  rehearse compare rehearse-runs/before rehearse-runs/after
  rehearse compare rehearse.baseline.json rehearse-runs/after --format markdown`,
		Args: arguments(2, 2, "name two runs, or a baseline and a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd.Context(), args[0], args[1], format)
		},
	}
	cmd.Flags().StringVar(&format, "format", "terminal", "one of "+strings.Join(formats, ", "))
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(formats, cobra.ShellCompDirectiveNoFileComp))
	return cmd
}

func (a *app) compare(ctx context.Context, before, after, format string) error {
	render, ok := comparisonRenderers[format]
	if !ok {
		return notAmong("format", format, slices.Sorted(maps.Keys(comparisonRenderers)))
	}
	b, err := a.openSide(ctx, before)
	if err != nil {
		return err
	}
	c, err := a.openSide(ctx, after)
	if err != nil {
		return err
	}
	wrong := slices.Concat(b.findings("BEFORE"), c.findings("AFTER"))
	result := compare.Compare(b.Baseline, c.Baseline, compare.Options{Findings: wrong})
	result.Before, result.After = before, after
	if b.isFile && !c.isFile && result.Verdict != gate.Pass && len(wrong) == 0 {
		result.Bless = acceptCommand(after, before, &c.Baseline)
	}
	if err := render(a.stdout, result, tty.Of(a.stdout, a.getenv)); err != nil {
		return noVerdict(err)
	}
	return quiet(gate.ExitCode([]gate.Verdict{result.Verdict}))
}

// blessCommand is the command that makes the run in a folder the baseline, with these
// flags beside.
func blessCommand(run, file string, flags ...string) string {
	words := []string{"rehearse", "bless", run}
	if file != compare.BaselineFile {
		words = append(words, "--baseline", file)
	}
	return format.ShellLine(append(words, flags...)...)
}

// acceptCommand is the command that accepts a run as it is, with what bless demands of a
// run with failing scenarios; empty if bless would refuse it all the same.
func acceptCommand(folder, file string, run *compare.Baseline) string {
	var flags []string
	for i := range run.Scenarios {
		switch run.Scenarios[i].Verdict {
		case gate.Pass:
		case gate.Fail:
			flags = []string{"--allow-failing"}
		default:
			return ""
		}
	}
	return blessCommand(folder, file, flags...)
}

// side is one side of a comparison: a run summed up, or the file of a baseline.
type side struct {
	compare.Baseline
	isFile bool
	report reports.Report // of a run
}

// findings returns what is wrong with a run beside its scenarios; when names the side.
func (s *side) findings(when string) []gate.Finding {
	if s.isFile {
		return nil
	}
	return runFindings(s.report, when)
}

// runFindings returns the reasons why a run does not represent its whole plan.
func runFindings(r reports.Report, when string) []gate.Finding {
	var list []gate.Finding
	add := func(rule, message, evidence string) {
		list = append(list, gate.Finding{Severity: gate.Broken, Rule: rule, Message: when + ": " + message, Evidence: evidence})
	}
	for _, p := range r.Problems {
		add("recording", "something is wrong with the recording", p)
	}
	if r.Interrupted {
		add("interrupted", "the run was interrupted before its plan was done", "")
	}
	if r.Stopped != "" {
		add("stopped", "the run was stopped before its plan was done", r.Stopped)
	}
	if len(r.NotRun) > 0 {
		add("not-run", format.Plural(len(r.NotRun), "planned scenario")+" did not run", strings.Join(r.NotRun, ", "))
	}
	return list
}

// openSide reads a run or a baseline. An error has its exit code.
func (a *app) openSide(ctx context.Context, path string) (side, error) {
	isFile, err := isBaseline(path)
	if err != nil {
		return side{}, usage(err)
	}
	if isFile {
		b, err := readBaseline(path)
		return side{Baseline: b, isFile: true}, err
	}
	recording, err := findRecording(path)
	if err != nil {
		return side{}, usage(err)
	}
	return a.sumUp(ctx, recording)
}

// isBaseline distinguishes a baseline from a recording by its first line: that of a recording
// is a whole object with a type.
func isBaseline(path string) (bool, error) {
	info, err := os.Stat(path)
	if err != nil {
		return false, fmt.Errorf("find what to compare: %w", err)
	}
	if info.IsDir() {
		return false, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return false, fmt.Errorf("open what to compare: %w", err)
	}
	defer file.Close()
	start, err := bufio.NewReader(file).Peek(200)
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("read what to compare: %w", err)
	}
	return !bytes.Contains(start, []byte(`"type":"run"`)) && !strings.HasSuffix(path, ".jsonl"), nil
}

// readBaseline reads the file of a baseline. An error has its exit code.
func readBaseline(path string) (compare.Baseline, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return compare.Baseline{}, usage(fmt.Errorf("there is no baseline %s; make one from a run: %s", path, blessCommand("RUN", path)))
	}
	if err != nil {
		return compare.Baseline{}, usage(fmt.Errorf("open the baseline: %w", err))
	}
	defer file.Close()
	b, err := compare.ReadBaseline(path, file)
	if err != nil {
		return compare.Baseline{}, usage(err)
	}
	b.Run = path
	return b, nil
}

// sumUp reads a recording, checks its hashes and judges it anew. An error has its exit
// code.
func (a *app) sumUp(ctx context.Context, path string) (side, error) {
	in, err := a.openRecording(path, func() error { return context.Cause(ctx) })
	if err != nil {
		return side{}, noVerdict(err)
	}
	defer in.file.Close()
	var sum compare.Builder
	report, err := in.read(func(s record.Scenario, t record.Trial) (measure.Facts, []gate.Finding, error) {
		facts, findings, err := in.judge(s, t)
		if err == nil {
			sum.Add(s, t.Head.N, &facts, findings)
		}
		return facts, findings, err
	})
	if err != nil {
		return side{}, noVerdict(err)
	}
	sum.Run = record.Run{ID: report.Run.ID, Tool: report.Run.Tool, Prices: report.Run.Prices}
	run, err := sum.Close()
	if err != nil {
		return side{}, noVerdict(err)
	}
	return side{Baseline: run, report: report}, nil
}
