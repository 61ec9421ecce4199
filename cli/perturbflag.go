package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// perturbValue is a repeatable flag with perturbations.
type perturbValue []perturb.Perturbation

// String implements pflag.Value. Help shows no default.
func (*perturbValue) String() string { return "" }

// Type implements pflag.Value.
func (*perturbValue) Type() string { return "perturbation" }

// Set implements pflag.Value.
func (v *perturbValue) Set(text string) error {
	p, err := perturb.Parse(text)
	if err != nil {
		return err
	}
	*v = append(*v, p)
	return nil
}

// checkPerturb returns an error if the perturbations cannot be injected into a set.
func (a *app) checkPerturb(ps []perturb.Perturbation, set []scenarios.Scenario, prices *price.Table) error {
	if len(ps) == 0 {
		return nil
	}
	if err := onlyOne(set, "--perturb injects failures into one"); err != nil {
		return err
	}
	env := a.env(prices, false)
	_, err := perturbed(set[0], ps, env)
	return errors.Join(err, env.Close())
}

// perturbed returns the driver of a scenario with injected perturbations.
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

// runSet drives a set, or its only scenario with perturbations.
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
