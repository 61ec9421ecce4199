package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// comparisonFormats are the formats of compare and drift.
var comparisonFormats = []string{formatJSON, formatMarkdown, formatTerminal}

func (a *app) compareCommand() *cobra.Command {
	var format, past string
	cmd := &cobra.Command{
		Use:   "compare [BEFORE [AFTER]]",
		Short: "Compare two runs, or a run with a baseline",
		Long: `compare reports what is worse, better, tied or undecided in AFTER, measure by measure, and which
expectations, limits, fixtures and prices have changed. Each side is the folder of a run, a
recording, the file of a baseline, or a run of the history: latest, latest~1 (the one before),
branch:NAME (its latest), the id of a run or a commit. AFTER is the last run without --perturb by default, and BEFORE
the baseline ` + compare.BaselineFile + `. No agent is started.

Counts that repeat from trial to trial are compared exactly, cost and tokens within a margin, and
all other measures by a paired test, corrected for multiple comparisons.

Exit codes:
  0    none is worse, missing, new or changed
  1    a measure is worse, missing or new, or an expectation has changed
  2    usage, or a file of another kind
  3    no verdict: a run is incomplete or altered, or nothing could be compared`,
		Example: `  rehearse compare rehearse-runs/before rehearse-runs/after
  rehearse compare latest~1 latest
  rehearse compare branch:main --json
  rehearse compare rehearse.baseline.json rehearse-runs/after --format markdown`,
		Args:              arguments(0, 2, "name two runs, or a baseline and a run"),
		ValidArgsFunction: completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			before := compare.BaselineFile
			if len(args) > 0 {
				before = args[0]
			}
			after, err := a.argumentOr(args[min(1, len(args)):], rundir.LastUnperturbed)
			if err != nil {
				return err
			}
			return a.compare(cmd.Context(), before, after, format, past)
		},
	}
	formatFlag(cmd, &format, "the comparison", comparisonFormats...)
	historyFlag(cmd.Flags(), &past)
	return cmd
}

func (a *app) compare(ctx context.Context, before, after, format, past string) error {
	b, err := a.openSide(ctx, before, past)
	if err != nil {
		return err
	}
	c, err := a.openSide(ctx, after, past)
	if err != nil {
		return err
	}
	result := rundir.Compare(b, c)
	if err := a.write(a.stdout, document{reports.ComparisonDocument(&result, nil), result, ""}, format); err != nil {
		return noVerdict(err)
	}
	return quiet(gate.ExitCode([]gate.Verdict{result.Verdict}))
}

// openSide reads a run, a baseline, or a run of the history in past.
func (a *app) openSide(ctx context.Context, path, past string) (*rundir.Side, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if _, err := history.ParseRef(path); err == nil {
			e, err := a.pastEntry(ctx, past, path)
			if err != nil {
				return nil, err
			}
			if !e.Kind.HasResults() {
				return nil, usage(fmt.Errorf("%s is a run of rehearse %s, which has no results of scenarios to compare; "+
					"rehearse history lists the others", path, e.Kind))
			}
			return rundir.SideOf(shownPath(e.Folder), &e), nil
		}
	}
	isFile, err := rundir.IsBaseline(path)
	if err != nil {
		return nil, usage(err)
	}
	if isFile {
		b, err := rundir.ReadBaseline(path)
		if err != nil {
			return nil, usage(err)
		}
		return &b, nil
	}
	return a.readRun(ctx, path)
}

// readRun reads the recording of a run and judges it again.
func (a *app) readRun(ctx context.Context, path string) (*rundir.Side, error) {
	recording, err := rundir.FindRecording(path)
	if err != nil {
		return nil, usage(err)
	}
	run, err := rundir.ReadRun(ctx, path, recording, a.language)
	if err != nil {
		return nil, recordingError(ctx, err)
	}
	return run, nil
}
