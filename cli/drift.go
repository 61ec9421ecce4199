package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/drift"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/llm/openai"
	"github.com/rehearse-dev/rehearse/mocks/capture"
	"github.com/rehearse-dev/rehearse/reports"
)

// driftFlags are the flags of drift.
type driftFlags struct {
	upstream string
	live     bool
	format   string
	failOn   string
	keyEnv   string
	calls    int
	cost     moneyFlag
	prices   string
}

func (a *app) driftCommand() *cobra.Command {
	var flags driftFlags
	cmd := &cobra.Command{
		Use:   "drift SCRIPT --upstream URL --live",
		Short: "Report how the answers of a live backend have changed",
		Long: `drift sends the requests of a captured script (stored beside it, in SCRIPT without .yaml,
` + tapeSuffix + `) to a real backend again, each once, and compares the form of the answers:

  error  breaks a client: another status, a member that is missing or of another type, another
         way to end, a tool call of another shape, events missing or in another order
  warn   goes unnoticed by a lenient client: new members, new events, another model
  info   differs from one answer to the next: lengths, usage

It costs money, so it requires --live. Keys come from OPENAI_API_KEY and ANTHROPIC_API_KEY. Secrets
were replaced when the requests were captured, so the backend receives placeholders.

Exit codes:
  0    no difference of the tier of --fail-on or a more severe one
  1    there is one
  2    usage, or a script that was not captured
  3    no verdict: an answer is missing, or a cap ended the run early`,
		Example: `  rehearse drift chat.yaml --upstream https://api.openai.com/v1 --live
  rehearse drift chat.yaml --upstream http://127.0.0.1:8080/v1 --live --json`,
		Args: arguments(1, 1, "name one captured script"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.drift(cmd.Context(), args[0], flags) },
	}
	f := cmd.Flags()
	f.StringVar(&flags.upstream, "upstream", "", "root of the API, such as https://api.openai.com/v1")
	f.BoolVar(&flags.live, "live", false, "ask the real backend, which may cost money")
	formatFlag(cmd, &flags.format, "the differences", comparisonFormats...)
	f.StringVar(&flags.failOn, "fail-on", string(drift.Error), "the lowest tier that fails: error, warn or info")
	f.StringVar(&flags.keyEnv, "key-env", "", "the environment variable with the key, in place of the usual ones")
	f.IntVar(&flags.calls, "max-calls", 0, "maximum number of requests; 0 means no limit")
	f.Var(&flags.cost, "max-cost", `maximum cost of the requests, such as "0.10 USD"`)
	pricesFlag(f, &flags.prices)
	complete(cmd, "fail-on", namesOf(drift.Tiers())...)
	return cmd
}

// validate returns an error for contradictory flags.
func (f *driftFlags) validate() error {
	switch {
	case !slices.Contains(namesOf(drift.Tiers()), f.failOn):
		return notAmong("tier", f.failOn, namesOf(drift.Tiers()))
	case f.calls < 0:
		return usage(fmt.Errorf("--max-calls must be at least 0, got %d", f.calls))
	case !f.live:
		return usage(errors.New("drift calls a real backend, which may cost money; allow it with --live"))
	}
	return nil
}

func (a *app) drift(ctx context.Context, script string, flags driftFlags) error {
	if err := flags.validate(); err != nil {
		return err
	}
	tapeFile := script
	if !strings.HasSuffix(script, tapeSuffix) {
		tapeFile = strings.TrimSuffix(script, filepath.Ext(script)) + tapeSuffix
	}
	t, err := capture.ReadJournal(tapeFile)
	if err != nil {
		return usage(fmt.Errorf("%w; drift needs the requests of a script that rehearse capture wrote", err))
	}
	options, err := a.driftOptions(flags)
	if err != nil {
		return usage(err)
	}
	result, err := drift.Run(ctx, t, options)
	if err != nil {
		return usage(err)
	}
	if err := a.write(a.stdout, document{reports.DriftDocument(&result), result, ""}, flags.format); err != nil {
		return noVerdict(err)
	}
	return driftExit(ctx, &result, drift.Tier(flags.failOn))
}

func (a *app) driftOptions(flags driftFlags) (drift.Options, error) {
	o := drift.Options{
		Upstream: flags.upstream, Offline: openai.FromEnv(a.getenv).Offline, MaxCalls: flags.calls, MaxCost: flags.cost.Amount,
		Key: func(protocol string) string { return drift.Key(protocol, flags.keyEnv, a.getenv) },
	}
	if flags.keyEnv != "" && a.getenv(flags.keyEnv) == "" {
		return o, fmt.Errorf("--key-env %s: the variable is not set", flags.keyEnv)
	}
	table, err := priceTable(flags.prices)
	if err != nil {
		return o, err
	}
	o.Cost = table.CostIn(cmp.Or(flags.cost.Currency, quantity.EUR))
	return o, nil
}

// driftExit returns the exit code of a result.
func driftExit(ctx context.Context, r *drift.Result, least drift.Tier) error {
	switch {
	case r.Reaches(least):
		return quiet(exitFail)
	case ctx.Err() != nil:
		return quiet(exitInterrupted)
	case r.Incomplete():
		return quiet(exitNoVerdict)
	}
	return nil
}
