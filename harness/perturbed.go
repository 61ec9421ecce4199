package harness

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/harness/drive"
	"github.com/rehearse-dev/rehearse/scenarios"
	"github.com/rehearse-dev/rehearse/scenarios/perturb"
)

// Perturbed returns the driver of a scenario that injects perturbations.
func Perturbed(sc scenarios.Scenario, ps []perturb.Perturbation, env *drive.Env) (drive.Driver, error) {
	driver, err := drive.New(sc, env)
	if err != nil {
		return nil, fmt.Errorf("prepare scenario %s: %w", sc.Name, err)
	}
	if driver, err = driver.Perturbed(ps); err != nil {
		return nil, fmt.Errorf("scenario %s: %w", sc.Name, err)
	}
	return driver, nil
}

// RunPerturbed is Run for one scenario with perturbations. Without perturbations it is Run.
func RunPerturbed(ctx context.Context, set []scenarios.Scenario, ps []perturb.Perturbation, opts Options) (Outcome, error) {
	if len(ps) == 0 {
		return Run(ctx, set, opts)
	}
	driver, err := Perturbed(set[0], ps, opts.Env)
	if err != nil {
		return Outcome{}, err
	}
	outcome, err := RunDrivers(ctx, func(yield func(drive.Driver) bool) { yield(driver) }, opts)
	if outcome.Trials == 0 {
		outcome.NotRun = []string{driver.Head().Name}
	}
	return outcome, err
}
