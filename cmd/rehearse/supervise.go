package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/plan"
	"github.com/rehearse-dev/rehearse/internal/input"
	"github.com/rehearse-dev/rehearse/internal/quantity"
	"github.com/rehearse-dev/rehearse/internal/tty"
	"github.com/rehearse-dev/rehearse/internal/yamlsrc"
)

// superviseFlags are the flags of supervise.
type superviseFlags struct {
	agentFlags
	state         string
	fresh, status bool
	timeout       textFlag[*quantity.Duration]
	asJSON, quiet bool
}

func (a *app) superviseCommand() *cobra.Command {
	var flags superviseFlags
	cmd := &cobra.Command{
		Use:   "supervise PLAN.yaml",
		Short: "Carry a plan of tasks through to its end, over any backend",
		Long: `supervise does the tasks of a plan one after the other, with the workers that the plan names or a
runner loop. It makes the plan's checks before it stops, goes on where they fail, and saves as it
goes: ended by Ctrl-C, by a crash or by a kill, the same command goes on where it was. It is the
real thing: agents and commands work in the plan's folder, and may cost money.

The state is kept in .rehearse/state beside the plan, one folder for each plan's name, and one
process at a time works on it. Limits, checks and workers of a plan may be changed while it
stands; other tasks are another plan, for which --fresh begins anew and keeps the old state
aside. --status only tells where a plan stands.

The backends are those of rehearse loop, which explains them; a plan whose workers are commands
needs none. Agents' questions are asked here if standard input is a terminal; elsewhere the run
goes on with other tasks and ends with escalated. "rehearse schema plan" prints a plan's keys,
"rehearse init" writes a first one.

` + superviseExitCodes(),
		Example: `  rehearse supervise plan.yaml --backend claude
  rehearse supervise plan.yaml --max-cost "5 EUR" --timeout 8h
  rehearse supervise plan.yaml --status
  rehearse supervise plan.yaml --backend exec --command "./agent.sh {prompt}" --fresh`,
		Args:              arguments(1, 1, "name one plan"),
		ValidArgsFunction: completeFiles("yaml", "yml"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.supervise(cmd.Context(), cmd.Flags(), args[0], &flags)
		},
	}
	flags.register(cmd)
	flags.timeout.into = new(quantity.Duration)
	f := cmd.Flags()
	f.StringVar(&flags.state, "state", "", "folder for the state (default: .rehearse/state/NAME beside the plan)")
	f.BoolVar(&flags.fresh, "fresh", false, "begin anew, and keep the old state aside")
	f.BoolVar(&flags.status, "status", false, "tell where the plan stands, and do nothing")
	f.Var(&flags.timeout, "timeout", "stop after that time, in place of the plan's; 0s never does")
	f.BoolVar(&flags.asJSON, "json", false, "print the result as JSON on standard output")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not show how it goes on")
	cmd.MarkFlagsMutuallyExclusive("fresh", "status")
	_ = cmd.MarkFlagDirname("state")
	return cmd
}

func superviseExitCodes() string {
	var rows []ending
	for _, s := range persist.Statuses() {
		rows = append(rows, ending{s.ExitCode, string(s.Status), s.Meaning})
	}
	return endings(rows, "nothing was done: usage, the plan is not valid or not that of the state, or another process works on the state",
		"With --status: 0 if it could be told, else 1 or 2.")
}

func (a *app) supervise(ctx context.Context, f *pflag.FlagSet, file string, flags *superviseFlags) error {
	p, err := readPlan(file)
	if err != nil {
		return err
	}
	p.Limits.Budget = flags.capsOver(f, p.Limits.Budget)
	if f.Changed("timeout") {
		p.Limits.Timeout = *flags.timeout.into
	}
	site, err := siteOf(p, file, flags.state)
	if err != nil {
		return err
	}
	if flags.status {
		return a.superviseStatus(site, flags.asJSON)
	}
	result, err := a.carryOut(ctx, site, flags)
	if err != nil {
		return err
	}
	if changed, ok := errors.AsType[*persist.PlanChanged](result.Err); ok {
		return explainChange(changed, site)
	}
	if err := a.showSupervised(result, site, flags.asJSON); err != nil {
		return &exitError{persist.StatusError.ExitCode(), err}
	}
	return quiet(result.ExitCode)
}

// readPlan reads a plan's file.
func readPlan(name string) (plan.Plan, error) {
	data, err := input.ReadFile("plan", name, yamlsrc.MaxBytes)
	if err != nil {
		return plan.Plan{}, usage(err)
	}
	p, found := parsePlan(name, data)
	if len(found) > 0 {
		return plan.Plan{}, usage(found)
	}
	return p, nil
}

// withoutSecrets takes them out of what the plan itself says, and of errors. What
// workers and probes say came without.
func withoutSecrets(r persist.Result) persist.Result {
	redact := redactor()
	r.Details = redact.Text(r.Details)
	r.Tasks = slices.Clone(r.Tasks)
	for i, t := range r.Tasks {
		r.Tasks[i].Do, r.Tasks[i].Details = redact.Text(t.Do), redact.Text(t.Details)
	}
	return r
}

// showSupervised prints the result, or what a person wants to know of it.
func (a *app) showSupervised(r persist.Result, s site, asJSON bool) error {
	r = withoutSecrets(r)
	out := a.stdout
	if asJSON {
		out = a.stderr
		if err := a.printJSON(r); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	}
	report := superviseReport{page{term: tty.Of(out, a.getenv)}}
	if _, err := io.WriteString(out, report.report(r, s, !asJSON)); err != nil {
		return fmt.Errorf("print the result: %w", err)
	}
	return nil
}
