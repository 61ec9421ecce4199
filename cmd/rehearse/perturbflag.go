package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/llm/token"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// perturbFlag registers what lets something go wrong.
func perturbFlag(f *pflag.FlagSet, texts *[]string) {
	f.StringArrayVar(texts, "perturb", nil,
		"let something go wrong, such as `call=7:reset-mid-stream`, and judge by invariants; may be repeated")
	f.Lookup("perturb").DefValue = "" // help would show "[]"
}

// perturbations are those that flags name, for the only scenario of a set.
func perturbations(texts []string, set []scenarios.Scenario, prices *price.Table) ([]perturb.Perturbation, error) {
	if len(texts) == 0 {
		return nil, nil
	}
	if err := onlyOne(set, "--perturb lets something go wrong in one"); err != nil {
		return nil, err
	}
	var ps []perturb.Perturbation
	for _, text := range texts {
		p, err := perturb.Parse(text)
		if err != nil {
			return nil, fmt.Errorf("--perturb: %w", err)
		}
		ps = append(ps, p)
	}
	env := &drive.Env{Prices: prices, Tokens: token.NewCounter(token.Options{})}
	_, err := perturbed(set[0], ps, env)
	return ps, errors.Join(err, env.Close())
}

// perturbed is the driver of a scenario in which that goes wrong.
func perturbed(sc scenarios.Scenario, ps []perturb.Perturbation, env *drive.Env) (drive.Driver, error) {
	driver, err := drive.New(sc, env)
	if err != nil {
		return nil, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
	}
	if driver, err = driver.Perturbed(ps); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", sc.Name, err)
	}
	return driver, nil
}

// runSet drives a set, or its only scenario with what goes wrong.
func runSet(ctx context.Context, set []scenarios.Scenario, ps []perturb.Perturbation, opts harness.Options) (harness.Outcome, error) {
	if len(ps) == 0 {
		return harness.Run(ctx, set, opts)
	}
	driver, err := perturbed(set[0], ps, opts.Env)
	if err != nil {
		return harness.Outcome{}, err
	}
	outcome, err := harness.RunDrivers(ctx, func(yield func(drive.Driver) bool) { yield(driver) }, opts)
	if outcome.Trials == 0 {
		outcome.NotRun = []string{driver.Head().Name}
	}
	return outcome, err
}
