package cli

import (
	"errors"

	"github.com/rehearse-dev/rehearse/harness"
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
	if err := onlyOne(set, "--perturb needs exactly one"); err != nil {
		return err
	}
	env := a.env(prices, false)
	_, err := harness.Perturbed(set[0], ps, env)
	return errors.Join(err, env.Close())
}
