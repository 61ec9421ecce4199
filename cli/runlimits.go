package cli

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// runLimits are the flags that limit a run.
type runLimits struct {
	trials int
	calls  int
	cost   moneyFlag
	time   time.Duration
}

// moneyFlag reads an amount with or without a space: "0.50 EUR", "0.50EUR".
type moneyFlag struct{ quantity.Money }

// String implements pflag.Value.
func (c *moneyFlag) String() string { return "" }

// Type implements pflag.Value.
func (c *moneyFlag) Type() string { return "amount" }

// Set implements pflag.Value.
func (c *moneyFlag) Set(text string) error {
	amount := strings.TrimRight(text, "DERSU") // the letters of EUR and USD
	if err := c.UnmarshalText([]byte(amount + " " + text[len(amount):])); err != nil {
		return c.UnmarshalText([]byte(text)) // its error has what was typed
	}
	return nil
}

func (l *runLimits) register(f *pflag.FlagSet) {
	f.IntVar(&l.trials, "trials", 0, "trials of each scenario (default: the scenario's own number)")
	f.Var(&l.cost, "max-cost", "stop after the trial in which the cost of the run reaches this amount, such as `0.50EUR`")
	f.IntVar(&l.calls, "max-calls", 0, "stop after the trial in which the run reaches this number of calls")
	f.DurationVar(&l.time, "max-time", 0, "stop after this time, such as 10m")
}

// maxTrials limits --trials: more is a typing error.
const maxTrials = 1_000_000

// check returns an error for values out of range.
func (l *runLimits) check(f *pflag.FlagSet) error {
	switch {
	case f.Changed("trials") && (l.trials < 1 || l.trials > maxTrials):
		return fmt.Errorf("--trials must be from 1 to %d, got %d", maxTrials, l.trials)
	case f.Changed("max-calls") && l.calls < 1:
		return fmt.Errorf("--max-calls must be at least 1, got %d", l.calls)
	case f.Changed("max-cost") && l.cost.Amount <= 0:
		return fmt.Errorf("--max-cost must be more than 0, got %s", l.cost.Money)
	case f.Changed("max-time") && l.time <= 0:
		return fmt.Errorf("--max-time must be more than 0, got %s", l.time)
	}
	return nil
}

// repeat sets the number of trials of each scenario, if the flag was given.
func (l *runLimits) repeat(set []scenarios.Scenario) {
	for i := range set {
		if l.trials > 0 {
			set[i].Trials = l.trials
		}
	}
}

func (l *runLimits) budget() harness.Budget {
	return harness.Budget{Calls: l.calls, Cost: l.cost.Money, Time: l.time, Clock: clock.Real()}
}
