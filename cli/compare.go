package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// comparisonFormats are the formats of compare and drift.
var comparisonFormats = []string{formatJSON, formatMarkdown, formatTerminal}

func (a *app) compareCommand() *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "compare BEFORE AFTER",
		Short: "Compare two runs, or a run with a baseline",
		Long: `compare reports what is worse, better, tied or undecided in AFTER, measure by measure, and which
expectations, limits, fixtures and prices have changed. Each side is the folder of a run, a
recording, or the file of a baseline. No agent is started.

Counts that repeat from trial to trial are compared exactly, cost and tokens within a margin, and
all other measures by a paired test, corrected for multiple comparisons.

Exit codes:
  0    none is worse, missing, new or changed
  1    a measure is worse, missing or new, or an expectation has changed
  2    usage, or a file of another kind
  3    no verdict: a run is incomplete or altered, or nothing could be compared`,
		Example: `  rehearse compare rehearse-runs/before rehearse-runs/after
  rehearse compare rehearse.baseline.json rehearse-runs/after --format markdown`,
		Args: arguments(2, 2, "name two runs, or a baseline and a run"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compare(cmd.Context(), args[0], args[1], format)
		},
	}
	formatFlag(cmd, &format, comparisonFormats...)
	return cmd
}

func (a *app) compare(ctx context.Context, before, after, format string) error {
	if !slices.Contains(comparisonFormats, format) {
		return notAmong("format", format, comparisonFormats)
	}
	b, err := a.openSide(ctx, before)
	if err != nil {
		return err
	}
	c, err := a.openSide(ctx, after)
	if err != nil {
		return err
	}
	result := rundir.Compare(b, c)
	if err := a.write(a.stdout, document{reports.ComparisonDocument(&result, nil), result, ""}, format); err != nil {
		return noVerdict(err)
	}
	return quiet(gate.ExitCode([]gate.Verdict{result.Verdict}))
}

// openSide reads a run or a baseline.
func (a *app) openSide(ctx context.Context, path string) (*rundir.Side, error) {
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
