package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
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
	// failFast and untilFail are 0 if the flag was not given.
	failFast, untilFail int
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
	f.IntVar(&l.failFast, "fail-fast", 0, "stop as soon as `n` scenarios failed or had an error; alone: 1")
	f.Lookup("fail-fast").NoOptDefVal = "1"
	f.IntVar(&l.untilFail, "repeat-until-fail", 0,
		fmt.Sprintf("repeat each scenario until a trial fails, at most `max` times; alone: %d", defaultUntilFail))
	f.Lookup("repeat-until-fail").NoOptDefVal = strconv.Itoa(defaultUntilFail)
}

// maxTrials limits --trials: more is a typing error.
const maxTrials = 1_000_000

// defaultUntilFail is the value of --repeat-until-fail alone.
const defaultUntilFail = 100

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
	case f.Changed("fail-fast") && l.failFast < 1:
		return fmt.Errorf("--fail-fast must be at least 1, got %d", l.failFast)
	case f.Changed("repeat-until-fail") && (l.untilFail < 1 || l.untilFail > maxTrials):
		return fmt.Errorf("--repeat-until-fail must be from 1 to %d, got %d", maxTrials, l.untilFail)
	case l.failures() > 0 && f.Changed("baseline"):
		return errors.New("--baseline needs a complete run; leave out --fail-fast and --repeat-until-fail")
	case l.untilFail > 0 && f.Changed("trials"):
		return errors.New("--repeat-until-fail sets the number of trials; leave out --trials")
	case l.untilFail > 0 && f.Changed("fail-fast"):
		return errors.New("--repeat-until-fail ends at the first failure; leave out --fail-fast")
	}
	return nil
}

// detachedNumber returns an error if an argument is a number that was meant as the value of
// --fail-fast or --repeat-until-fail, which take theirs only after "=".
func detachedNumber(f *pflag.FlagSet, args []string) error {
	for _, arg := range args {
		if _, err := strconv.ParseUint(arg, 10, 32); err != nil {
			continue
		}
		if _, err := os.Stat(arg); err == nil {
			continue // a file or folder of that name
		}
		for _, name := range []string{"fail-fast", "repeat-until-fail"} {
			if flag := f.Lookup(name); flag.Changed && flag.Value.String() == flag.NoOptDefVal {
				return fmt.Errorf("%q is neither a file nor a scenario; for the value of --%s write --%s=%s", arg, name, name, arg)
			}
		}
	}
	return nil
}

// repeat sets the number of trials of each scenario, if a flag for it was given.
func (l *runLimits) repeat(set []scenarios.Scenario) {
	for i := range set {
		set[i].Trials = cmp.Or(l.untilFail, l.trials, set[i].Trials)
	}
}

// failures returns the number of failed scenarios that ends the run; 0 for no limit.
func (l *runLimits) failures() int {
	if l.untilFail > 0 {
		return 1
	}
	return l.failFast
}

func (l *runLimits) budget() harness.Budget {
	return harness.Budget{Calls: l.calls, Cost: l.cost.Money, Time: l.time, Clock: clock.Real()}
}
