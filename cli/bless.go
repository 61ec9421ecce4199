package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// blessFlags are the flags of bless.
type blessFlags struct {
	baseline     string
	dryRun       bool
	allowFailing bool
	asJSON       bool
	rules        compare.Rules // -1 keeps the existing rule
}

func (a *app) blessCommand() *cobra.Command {
	var flags blessFlags
	cmd := &cobra.Command{
		Use:   "bless [RUN]",
		Short: "Make a run the baseline for later runs",
		Long: `bless writes the measures and expectations of a run, without an argument the last one, to a small
sorted file, ` + compare.BaselineFile + `, to be committed and reviewed like
code. It first shows the differences from the existing file. From then on rehearse run --baseline
fails on measures that are worse, missing or new, and on changed expectations.

A run that is incomplete, altered or interrupted, or that has skipped scenarios or scenarios without
a verdict, cannot be blessed, nor can a run with --perturb; one with failing scenarios only with --allow-failing.

Exit codes:
  0    the baseline was written, or would be (--dry-run)
  1    the run failed or its recording was altered, so it was not blessed
  2    usage, or a file that is not a recording
  3    the run is incomplete, so it was not blessed`,
		Example: `  rehearse bless rehearse-runs/demo --dry-run
  rehearse bless
  rehearse bless rehearse-runs/demo
  rehearse bless rehearse-runs/nightly --baseline nightly.json --alpha 0.01`,
		Args:              arguments(0, 1, "name the folder of one run, or one recording"),
		ValidArgsFunction: completeRuns,
		RunE: func(cmd *cobra.Command, args []string) error {
			run, err := a.argumentOr(args, rundir.LastUnperturbed)
			if err != nil {
				return err
			}
			return a.bless(cmd.Context(), run, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.baseline, "baseline", compare.BaselineFile, "the `file` to write")
	f.BoolVar(&flags.dryRun, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&flags.allowFailing, "allow-failing", false, "accept failing scenarios: they may fail in the same way in later runs")
	jsonFlag(f, &flags.asJSON, "what changes")
	usual := compare.DefaultRules()
	for _, rule := range []struct {
		name, usage string
		value       *float64
		usual       float64
	}{
		{"alpha", "risk of a false alarm, over all tests of a comparison", &flags.rules.Alpha, usual.Alpha},
		{"margin", "relative difference to ignore in measures that vary from trial to trial", &flags.rules.Margin, usual.Margin},
		{"cost-margin", "relative difference of cost to ignore", &flags.rules.Cost, usual.Cost},
		{"tokens-margin", "relative difference of tokens to ignore", &flags.rules.Tokens, usual.Tokens},
	} {
		f.Float64Var(rule.value, rule.name, -1, fmt.Sprintf("%s (default: that of the existing file, else %g)", rule.usage, rule.usual))
		f.Lookup(rule.name).DefValue = "0" // else help would show -1
	}
	return cmd
}

func (a *app) bless(ctx context.Context, path string, flags blessFlags) error {
	run, err := a.readRun(ctx, path)
	if err != nil {
		return err
	}
	if refused, ok := errors.AsType[*rundir.BlessError](run.CheckBless(flags.allowFailing)); ok {
		if refused.Verdict == "" {
			return usage(refused)
		}
		return &exitError{gate.ExitCode([]gate.Verdict{refused.Verdict}), refused}
	}
	old, err := a.earlier(flags.baseline)
	if err != nil {
		return err
	}
	run.Rules = flags.over(old)
	if err := run.Rules.Validate(); err != nil {
		return usage(err)
	}
	data, err := rundir.EncodeBaseline(flags.baseline, run.Baseline)
	if err != nil {
		return noVerdict(err)
	}
	return a.writeBaseline(path, old, run.Baseline, data, flags)
}

// over returns the rules of the existing file, overridden by the flags.
func (flags blessFlags) over(old *compare.Baseline) compare.Rules {
	rules := compare.DefaultRules()
	if old != nil {
		rules = old.Rules
	}
	for _, rule := range []struct{ value, asked *float64 }{
		{&rules.Alpha, &flags.rules.Alpha},
		{&rules.Margin, &flags.rules.Margin},
		{&rules.Cost, &flags.rules.Cost},
		{&rules.Tokens, &flags.rules.Tokens},
	} {
		if *rule.asked != -1 {
			*rule.value = *rule.asked
		}
	}
	return rules
}

// earlier returns the existing baseline; nil without a usable one.
func (a *app) earlier(path string) (*compare.Baseline, error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, usage(fmt.Errorf("open the baseline: %w", err))
	}
	defer file.Close()
	old, err := compare.ReadBaseline(path, file)
	if err != nil { // blessing again fixes such a file
		fmt.Fprintf(a.stderr, "the existing baseline cannot be used, and is replaced as a whole:\n")
		a.explain(err)
		return nil, nil
	}
	old.Run = path
	return &old, nil
}

// blessing is the JSON form of what bless did.
type blessing struct {
	Schema   string `json:"schema"`
	Run      string `json:"run"`
	Baseline string `json:"baseline"`
	// Written is false with --dry-run, and if the file stays as it is.
	Written   bool `json:"written"`
	Same      bool `json:"same"`
	Scenarios int  `json:"scenarios"`
	Bytes     int  `json:"bytes"`
	// Changes is the comparison with the earlier baseline; nil without one.
	Changes *compare.Result `json:"changes,omitempty"`
	Warning string          `json:"warning,omitempty"`
}

// writeBaseline writes the file and prints the changes.
func (a *app) writeBaseline(run string, old *compare.Baseline, now compare.Baseline, data []byte, flags blessFlags) error {
	done := blessing{Schema: "rehearse.bless/1", Run: run, Baseline: flags.baseline, Scenarios: len(now.Scenarios), Bytes: len(data)}
	if old != nil {
		done.Same = bytes.Equal(compare.Encode(*old), data)
		result := compare.Compare(*old, now, compare.Options{Rules: now.Rules})
		result.After = run
		done.Changes = &result
		if !flags.asJSON {
			if err := doc.Terminal(a.stdout, reports.ComparisonDocument(&result, nil), console.TerminalOf(a.stdout, a.getenv)); err != nil {
				return noVerdict(err)
			}
		}
	}
	if done.Written = !done.Same && !flags.dryRun; done.Written {
		if err := atomicdir.Replace(flags.baseline, data); err != nil {
			return noVerdict(fmt.Errorf("write the baseline: %w", err))
		}
		done.Warning = rundir.TrialsWarning(&now)
	}
	if flags.asJSON {
		return a.printJSON(done)
	}
	what := fmt.Sprintf("%s, %d bytes", format.Plural(done.Scenarios, "scenario"), done.Bytes)
	switch {
	case done.Same:
		fmt.Fprintf(a.stdout, "%s stays as it is: %s\n", flags.baseline, what)
	case flags.dryRun:
		fmt.Fprintf(a.stdout, "%s would be written: %s\n", flags.baseline, what)
	default:
		fmt.Fprintf(a.stdout, "%s was written: %s; commit it\n%s", flags.baseline, what, done.Warning)
	}
	return nil
}
