package cli

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/llm/price"
	"github.com/rehearse-dev/rehearse/queue"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// defaultMaxOutput limits the output of live calls under --max-cost, in tokens. All providers allow it.
const defaultMaxOutput = 4096

// rateFlag reads a number of requests per time, such as 10/s, as the least time between two of them.
type rateFlag struct {
	gap  time.Duration
	text string
}

// String implements pflag.Value.
func (r *rateFlag) String() string { return r.text }

// Type implements pflag.Value.
func (r *rateFlag) Type() string { return "rate" }

// Set implements pflag.Value.
func (r *rateFlag) Set(text string) error {
	number, unit, _ := strings.Cut(text, "/")
	per := map[string]time.Duration{"s": time.Second, "m": time.Minute, "h": time.Hour}[unit]
	n, err := strconv.ParseFloat(number, 64)
	gap := float64(per) / n
	if err != nil || !(gap >= float64(time.Microsecond) && gap <= float64(24*time.Hour)) {
		return fmt.Errorf("%.40q is not a rate; write requests per s, m or h, such as 10/s or 500/m", text)
	}
	r.gap, r.text = time.Duration(gap), text
	return nil
}

// liveLimits returns the limits of the calls of live models, over all workers; nil if these are not allowed.
func (a *app) liveLimits(set []scenarios.Scenario, flags *runFlags, prices *price.Table) (*queue.Live, error) {
	if !flags.live {
		return nil, nil
	}
	limits := &queue.Live{
		Calls: flags.limits.calls, Cost: flags.limits.cost.Money, MaxOutput: flags.fleet.maxOutput, Gap: flags.fleet.rate.gap,
	}
	if limits.Cost.IsZero() {
		return limits, nil
	}
	usd, ok := limits.Cost.In(quantity.USD, prices.EURPerUSD)
	if !ok {
		return nil, fmt.Errorf("--max-cost: %s is unknown in USD", limits.Cost)
	}
	limits.CostUSD = usd
	for i := range set {
		for _, b := range set[i].LiveBackends() {
			if _, known := prices.Quote(b.Model); !known {
				return nil, fmt.Errorf("--max-cost: the price of the model %q of the scenario %s is unknown, so the cost cannot be limited; "+
					"give its price with --prices, or leave --max-cost out", b.Model, set[i].Name)
			}
		}
	}
	if limits.MaxOutput == 0 {
		limits.MaxOutput = defaultMaxOutput
		fmt.Fprintf(a.stderr, "--max-cost limits the output of live calls to %d tokens, unless they have a limit of their own; "+
			"change it with --max-output\n", defaultMaxOutput)
	}
	return limits, nil
}

// checkLiveHere returns an error if this machine cannot call the live models of a run.
func (a *app) checkLiveHere(set []scenarios.Scenario) error {
	for i := range set {
		for _, b := range set[i].LiveBackends() {
			switch {
			case openai.FromEnv(a.getenv).Offline:
				return errors.New("REHEARSE_OFFLINE forbids real models here")
			case b.KeyEnv != "" && strings.TrimSpace(a.getenv(b.KeyEnv)) == "":
				return fmt.Errorf("the variable %s, which holds the key of the live backend of %s, is not set here", b.KeyEnv, set[i].Name)
			}
		}
	}
	return nil
}
