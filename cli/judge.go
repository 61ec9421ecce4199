package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/harness/judge"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/llm"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// judgeFlags are the flags of judge.
type judgeFlags struct {
	labels, score, prices string
	live, asJSON          bool
	limits                runLimits
}

func (a *app) judgeCommand() *cobra.Command {
	var flags judgeFlags
	cmd := &cobra.Command{
		Use:   "judge SCENARIO --labels FILE",
		Short: "Measure how well a model that judges agrees with people",
		Long: `judge asks the judge of a scenario ("scores:") about answers that people have labelled, and reports
how well they agree: the table of labels and verdicts, and Cohen's kappa with its interval. It
writes that to the file that the scenario names ("agreement:"). Without it, below the threshold
("least_kappa:"), or after a change of rubric or model, the verdict of the scenario is error, never
a pass.

The labels are lines of JSON: {"id": "1", "task": "...", "text": "...", "pass": true}. At least ten
of either kind are needed.

Exit codes:
  0    the agreement reaches the threshold
  1    it does not, or an answer of the judge was malformed
  2    usage or configuration: nothing was called
  3    it could not be measured, or not within the caps`,
		Example: `  rehearse judge polite.yaml --labels labels.jsonl
  rehearse judge polite.yaml --labels labels.jsonl --score polite --live`,
		Args:              arguments(1, 1, "name the scenario whose judge is measured"),
		ValidArgsFunction: completeYAML,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.limits.check(cmd.Flags()); err != nil {
				return usage(err)
			}
			return a.measureJudge(cmd.Context(), args[0], flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.labels, "labels", "", "the labelled answers, as JSON lines")
	f.StringVar(&flags.score, "score", "", "score to measure, if the scenario has several")
	pricesFlag(f, &flags.prices)
	f.Var(&flags.limits.cost, "max-cost", "stop once this amount is spent, such as `0.50EUR`")
	f.IntVar(&flags.limits.calls, "max-calls", 0, "maximum number of calls")
	liveFlag(f, &flags.live)
	jsonFlag(f, &flags.asJSON, "the agreement")
	_ = cmd.MarkFlagRequired("labels")
	return cmd
}

func (a *app) measureJudge(ctx context.Context, path string, flags judgeFlags) error {
	if err := a.checkLive(flags.live); err != nil {
		return usage(err)
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	sc, err := a.oneScenario([]string{path}, selection{}, prices)
	if err != nil {
		return usage(err)
	}
	j, err := judgeOf(&sc, flags.score)
	if err != nil {
		return usage(err)
	}
	if j.Backend.Live() && !flags.live {
		return usage(errors.New("the judge is a real model, which costs money; allow it with --live"))
	}
	items, err := judge.ReadLabels(flags.labels)
	if err != nil {
		return usage(err)
	}
	env := a.env(prices, flags.live)
	defer func() { _ = env.Close() }() // nothing is under way any more
	if most := (llm.Caps{Calls: flags.limits.calls, Cost: flags.limits.cost.Money}); most != (llm.Caps{}) {
		ctx = drive.WithMeter(ctx, drive.BudgetMeter{Budget: llm.NewBudget(most, prices.Pricer(j.Backend.Model), prices.EURPerUSD)})
	}
	model, err := env.Judge(ctx, j)
	if err != nil {
		return noVerdict(err)
	}
	agreement, err := judge.Measure(ctx, model, items)
	if err != nil {
		return noVerdict(fmt.Errorf("measure the agreement of the judge: %w", err))
	}
	file := filepath.Join(filepath.Dir(sc.File), filepath.FromSlash(j.Agreement))
	if err := atomicdir.ReplaceWith(file, func(w io.Writer) error { return format.JSON(w, agreement) }); err != nil {
		return noVerdict(fmt.Errorf("keep the agreement: %w", err))
	}
	reaches := agreement.Reaches(model.Digest(), drive.Least(j))
	if err := a.showAgreement(&agreement, reaches, drive.Least(j), flags.asJSON); err != nil {
		return noVerdict(err)
	}
	fmt.Fprintf(a.stderr, "the agreement is in %s\n", file)
	if reaches != nil {
		return quiet(exitFail)
	}
	return nil
}

// judgeOf returns the judge of a scenario, by the name of its score if there are several.
func judgeOf(sc *scenarios.Scenario, name string) (*scenarios.ScoreJudge, error) {
	var found []*scenarios.ScoreJudge
	var names []string
	for i := range sc.Scores {
		if s := &sc.Scores[i]; s.Judge != nil {
			names = append(names, s.Name)
			if name == "" || s.Name == name {
				found = append(found, s.Judge)
			}
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("the scenario %s has no judge; write one under the key scores", sc.Name)
	case len(found) == 0:
		return nil, notAmong("judge", name, names)
	case len(found) > 1:
		return nil, fmt.Errorf("the scenario %s has several judges; choose one with --score: %s", sc.Name, strings.Join(names, ", "))
	case strings.HasPrefix(sc.File, "shipped:"):
		return nil, errors.New("the agreement of a shipped scenario's judge has no place on disk; copy the scenario first")
	}
	return found[0], nil
}

// showAgreement prints an agreement.
func (a *app) showAgreement(g *judge.Agreement, reaches error, least float64, asJSON bool) error {
	if asJSON {
		return format.JSON(a.stdout, g)
	}
	c := g.Confusion
	t := console.Table(2, 2, 3)
	t.AppendHeader(console.Row([]string{"label", "judge: pass", "judge: fail"}))
	t.AppendRow(console.Row([]string{"pass", strconv.Itoa(c.PassPassed), strconv.Itoa(c.PassFailed)}))
	t.AppendRow(console.Row([]string{"fail", strconv.Itoa(c.FailPassed), strconv.Itoa(c.FailFailed)}))
	kappa := "kappa is not defined"
	if g.Kappa != nil {
		kappa = fmt.Sprintf("Cohen's kappa %.2f", *g.Kappa)
		if g.Interval != nil {
			kappa += fmt.Sprintf(" [%.2f, %.2f]", g.Interval.Lo, g.Interval.Hi)
		}
	}
	verdict := fmt.Sprintf("it reaches the threshold of %.2f: its verdicts count", least)
	if reaches != nil {
		verdict = "its verdicts do not count: " + reaches.Error()
	}
	_, err := fmt.Fprintf(a.stdout, "%s\n\n%s, of %s\n%s\n", t.Render(), kappa, format.Plural(g.Items, "answer"), verdict)
	return err
}
