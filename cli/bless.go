package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/harness/gate"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/doc"
)

// blessFlags are the flags of bless.
type blessFlags struct {
	baseline     string
	dryRun       bool
	allowFailing bool
	rules        compare.Rules // what is 0 stays as it was
}

func (a *app) blessCommand() *cobra.Command {
	var flags blessFlags
	cmd := &cobra.Command{
		Use:   "bless RUN",
		Short: "Make a run the baseline for later runs",
		Long: `bless writes the measures and expectations of a run to a small sorted file, ` + compare.BaselineFile + `,
to be committed and reviewed like code. It first shows the differences from the existing file. From
then on rehearse run --baseline fails on measures that are worse, missing or new, and on changed
expectations.

A run that is incomplete, altered or interrupted, or that has skipped scenarios or scenarios without
a verdict, cannot be blessed; one with failing scenarios only with --allow-failing.

Exit codes:
  0    the baseline was written, or would be (--dry-run)
  1    the run failed, or its recording was changed, so it was not blessed
  2    usage, or a file that is not a recording
  3    the run is not whole, so it was not blessed`,
		Example: `  rehearse bless rehearse-runs/demo --dry-run
  rehearse bless rehearse-runs/demo
  rehearse bless rehearse-runs/nightly --baseline nightly.baseline.json --alpha 0.01`,
		Args: arguments(1, 1, "name the folder of one run, or one recording"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.bless(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.baseline, "baseline", compare.BaselineFile, "the `file` to write")
	f.BoolVar(&flags.dryRun, "dry-run", false, "show what would change, and write nothing")
	f.BoolVar(&flags.allowFailing, "allow-failing", false, "bless a run with failing scenarios, too: they may stay as bad as they are")
	usual := compare.DefaultRules()
	for _, rule := range []struct {
		name, says string
		value      *float64
		usual      float64
	}{
		{"alpha", "false alarms, over all tests of a comparison together", &flags.rules.Alpha, usual.Alpha},
		{"margin", "relative difference that does not matter, of what varies from trial to trial", &flags.rules.Margin, usual.Margin},
		{"cost-margin", "relative difference of cost that does not matter", &flags.rules.Cost, usual.Cost},
		{"tokens-margin", "relative difference of tokens that does not matter", &flags.rules.Tokens, usual.Tokens},
	} {
		f.Float64Var(rule.value, rule.name, -1, fmt.Sprintf("%s (default: as before, at first %g)", rule.says, rule.usual))
		f.Lookup(rule.name).DefValue = "0" // else help would show -1
	}
	return cmd
}

func (a *app) bless(ctx context.Context, path string, flags blessFlags) error {
	recording, err := findRecording(path)
	if err != nil {
		return usage(err)
	}
	run, err := a.sumUp(ctx, recording)
	if err != nil {
		return err
	}
	if err := blessable(path, &run, flags.allowFailing); err != nil {
		return err
	}
	old, err := a.earlier(flags.baseline)
	if err != nil {
		return err
	}
	run.Rules = flags.over(old)
	if err := run.Rules.Validate(); err != nil {
		return usage(err)
	}
	data, err := encodeBaseline(flags.baseline, run.Baseline)
	if err != nil {
		return noVerdict(err)
	}
	return a.writeBaseline(path, old, run.Baseline, data, flags)
}

// over returns the rules of the existing file, with those of the flags in their place.
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

// blessable refuses a run that cannot stand for its scenarios. An error has its exit
// code.
func blessable(path string, run *side, allowFailing bool) error {
	if run.report.Altered {
		return &exitError{exitFail, fmt.Errorf("not blessed: the recording of %s was altered: %s; run the scenarios again", path, strings.Join(run.report.Problems[1:2], ""))}
	}
	for _, f := range runFindings(run.report, "the run") {
		return noVerdict(fmt.Errorf("not blessed: %s", strings.TrimSuffix(f.Message+": "+f.Evidence, ": ")))
	}
	var failing []string
	for _, s := range run.Scenarios {
		switch s.Verdict {
		case gate.Pass:
		case gate.Fail:
			failing = append(failing, s.Name)
		case gate.Skip:
			return noVerdict(fmt.Errorf("not blessed: %s was skipped, so later runs could not be compared with it; bless a run of a machine that can drive it", s.Name))
		default:
			return noVerdict(fmt.Errorf("not blessed: %s has no verdict; see why with: %s", s.Name, format.ShellLine("rehearse", "report", path)))
		}
	}
	switch {
	case len(run.Scenarios) == 0:
		return usage(errors.New("not blessed: no scenario was run"))
	case len(failing) > 0 && !allowFailing:
		return &exitError{exitFail, fmt.Errorf("not blessed: %s failed (%s); mend it, or bless it as it is with --allow-failing",
			format.Plural(len(failing), "scenario"), strings.Join(failing, ", "))}
	}
	return nil
}

// earlier is the baseline that is there, if it can be used. An error has its exit
// code.
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
	if err != nil { // blessing again is how such a file is mended
		fmt.Fprintf(a.stderr, "the baseline that is there cannot be used, and is replaced as a whole:\n")
		a.explain(err)
		return nil, nil
	}
	old.Run = path
	return &old, nil
}

// encodeBaseline is the file, which was read back: what is written can be used.
func encodeBaseline(path string, b compare.Baseline) ([]byte, error) {
	data := compare.Encode(b)
	if _, err := compare.ReadBaseline(path, bytes.NewReader(data)); err != nil {
		return nil, fmt.Errorf("the run does not fit into a baseline: %w", err)
	}
	return data, nil
}

// writeBaseline shows what changes and writes the file.
func (a *app) writeBaseline(run string, old *compare.Baseline, now compare.Baseline, data []byte, flags blessFlags) error {
	same := false
	if old != nil {
		same = bytes.Equal(compare.Encode(*old), data)
		result := compare.Compare(*old, now, compare.Options{Rules: now.Rules})
		result.After = run
		if err := doc.Terminal(a.stdout, reports.ComparisonDocument(&result, nil), tty.Of(a.stdout, a.getenv)); err != nil {
			return noVerdict(err)
		}
	}
	what := fmt.Sprintf("%s, %d bytes", format.Plural(len(now.Scenarios), "scenario"), len(data))
	switch {
	case same:
		fmt.Fprintf(a.stdout, "%s stays as it is: %s\n", flags.baseline, what)
		return nil
	case flags.dryRun:
		fmt.Fprintf(a.stdout, "%s would be written: %s\n", flags.baseline, what)
		return nil
	}
	if err := atomicdir.Replace(flags.baseline, data); err != nil {
		return noVerdict(fmt.Errorf("write the baseline: %w", err))
	}
	fmt.Fprintf(a.stdout, "%s was written: %s; commit it\n", flags.baseline, what)
	a.warnFewTrials(&now)
	return nil
}

// warnFewTrials warns of scenarios that have too few trials for a regression to be found.
func (a *app) warnFewTrials(b *compare.Baseline) {
	trials, tests, few := compare.TrialsNeeded(b, b.Rules)
	if len(few) == 0 {
		return
	}
	const most = 5
	names := strings.Join(few[:min(most, len(few))], ", ")
	if len(few) > most {
		names += fmt.Sprintf(" and %d more", len(few)-most)
	}
	fmt.Fprintf(a.stdout, "warning: %s too few trials for what varies in them: %s.\n"+
		"With %s of this baseline, it takes at least %d trials (--trials %d) to find a regression;\n"+
		"with fewer, a clear one ends without a verdict (exit code 3), and a small one is green.\n",
		format.Plural(len(few), "scenario")+map[bool]string{true: " has", false: " have"}[len(few) == 1], names, format.Plural(tests, "test"), trials, trials)
}
