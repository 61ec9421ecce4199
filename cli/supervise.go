package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/persist"
	"github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/llm"
	llmcli "github.com/rehearse-dev/rehearse/llm/cli"
	"github.com/rehearse-dev/rehearse/redact"
)

// superviseFlags are the flags of supervise.
type superviseFlags struct {
	agentFlags
	safetyFlags
	state         string
	fresh, status bool
	freshSession  bool
	amend         bool
	parallel      int
	answer        string
	notify        string
	timeout       durationFlag
	asJSON, quiet bool
}

// superviseHelp describes the command.
const superviseHelp = `supervise does the tasks of a plan one after the other or in parallel, with the workers that the plan names or a
runner loop. It runs the plan's checks before it stops, continues while they fail, and saves its
progress: after Ctrl-C, a crash or a kill, the same command resumes the plan. This is not a
rehearsal: agents and commands work in the plan's folder, and may cost money.

The state is kept in .rehearse/state beside the plan, in a folder for each plan's name, and only
one process at a time works on it. You may change limits, checks and workers of a plan between
runs. A plan with other tasks is another plan: --amend shows what changed and records it, if tasks
that are done stay as they are, also while the plan runs in another terminal; --fresh starts over and keeps the old state aside.
--status only reports the progress.

A task that asks for a person ends as escalated, and the result shows its question. --answer records
the answer for the next attempt: start the plan again afterwards, unless it is running.

An attempt that continues the work of another one (after a refused or unaccepted DONE, an answer, a failure or a
kill) continues the session of a command-line agent with what it does not know yet. A session that the agent does
not have any more is replaced by a new one, which gets the whole prompt; --fresh-session begins one in each attempt.

The backends are those of rehearse loop; see its --help. A plan whose workers are commands needs
none. Agents' questions are asked here if standard input is a terminal; otherwise, or if the answer is
empty, the run continues with other tasks and ends with escalated. "rehearse schema plan" prints a plan's keys,
"rehearse init --plan" writes a first one.

With --git, a checkpoint of the plan's folder is committed to a branch of its own before the run and after
each task that is done; --rollback restores the last one after a failed attempt (docs/how-to/safety.md). With --sandbox
(Linux) workers and checks can write only to the plan's folder and to their program's state.

With --parallel N, up to N tasks whose dependencies are done are attempted at the same time, each in a git work
tree of its own, which is merged in the order of the plan when its task is done. After a conflict, the task is attempted
again on the merged files.

`

func (a *app) superviseCommand() *cobra.Command {
	var flags superviseFlags
	cmd := &cobra.Command{
		Use:   "supervise PLAN.yaml [ANSWER]",
		Short: "Carry out a plan of tasks to its end, with any backend",
		Long:  superviseHelp + superviseExitCodes(),
		Example: `  rehearse supervise plan.yaml --backend claude
  rehearse supervise plan.yaml --max-cost "5 EUR" --timeout 8h
  rehearse supervise plan.yaml -b codex --git --rollback
  rehearse supervise plan.yaml -b claude --parallel 3
  rehearse supervise plan.yaml --status
  rehearse supervise plan.yaml --answer database "Use PostgreSQL 17."
  rehearse supervise plan.yaml --amend
  rehearse supervise plan.yaml -b exec --command "./agent.sh {prompt}" --fresh`,
		Args:              arguments(1, 2, "name one plan"),
		ValidArgsFunction: completeYAML,
		RunE: func(cmd *cobra.Command, args []string) error {
			switch f := cmd.Flags(); {
			case f.Changed("answer"):
				return a.superviseAnswer(args, &flags)
			case flags.amend && len(args) == 1:
				return a.superviseAmend(args[0], &flags)
			case len(args) > 1:
				return usage(fmt.Errorf("supervise %s: there is a second argument, %q; name one plan, or give --answer TASK", args[0], args[1]))
			default:
				return a.supervise(cmd.Context(), f, args[0], &flags)
			}
		},
	}
	flags.agentFlags.register(cmd)
	flags.safetyFlags.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.state, "state", "", "folder for the state (default: .rehearse/state/NAME beside the plan)")
	f.BoolVar(&flags.fresh, "fresh", false, "start over, and keep the old state aside")
	f.BoolVar(&flags.freshSession, "fresh-session", false, "begin a new session of the agent in each attempt")
	f.BoolVar(&flags.status, "status", false, "report the progress of the plan, and do nothing else")
	f.BoolVar(&flags.amend, "amend", false,
		"show and record changed tasks of the plan (added, reworded, skipped, removed), and do nothing else")
	f.IntVar(&flags.parallel, "parallel", 1,
		"attempt up to `N` tasks at the same time, each in a git work tree of its own that is merged at its end; more than 1 includes --git")
	f.StringVar(&flags.notify, "notify", "",
		"a shell command that is run when a task needs a person or is blocked, and at the end, with the result as JSON on its standard input")
	f.StringVar(&flags.answer, "answer", "", "record ANSWER for the next attempt at this `TASK`, and do nothing else")
	f.Var(&flags.timeout, "timeout", "time limit in place of the plan's; 0s means no limit")
	jsonFlag(f, &flags.asJSON, "the result")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not show the progress")
	cmd.MarkFlagsMutuallyExclusive("fresh", "status", "answer", "amend")
	_ = cmd.MarkFlagDirname("state")
	return cmd
}

func superviseExitCodes() string {
	return endings(persist.Statuses(),
		"nothing was done: usage, the plan is not valid or not that of the state, or another process works on the state",
		"With --status: 0 if the state could be read, else 1 or 2.")
}

func (a *app) supervise(ctx context.Context, f *pflag.FlagSet, file string, flags *superviseFlags) error {
	if flags.parallel < 1 {
		return usage(fmt.Errorf("--parallel must be at least 1, got %d", flags.parallel))
	}
	flags.git = flags.git || flags.parallel > 1
	if err := flags.check(); err != nil {
		return usage(err)
	}
	p, err := cli.ReadPlan(file)
	if err != nil {
		return usage(err)
	}
	p.Limits.Budget = flags.capsOver(f, p.Limits.Budget)
	if f.Changed("timeout") {
		p.Limits.Timeout = flags.timeout.Duration
	}
	job, err := cli.NewJob(p, file, flags.state)
	if err != nil {
		return usage(err)
	}
	if flags.status {
		return a.superviseStatus(job, flags.asJSON)
	}
	around, err := a.encloseJob(ctx, job, flags)
	if err != nil {
		return usage(err)
	}
	defer around.close()
	flags.wrapper = around.arguments()
	options, err := a.superviseOptions(ctx, job, flags)
	if err != nil {
		return err
	}
	options.In = func(folder string) (llm.Adapter, []string, error) {
		wrapper, err := around.argumentsIn(folder)
		if err != nil || options.Backend == nil {
			return nil, wrapper, err
		}
		return llmcli.In(options.Backend, folder, wrapper), wrapper, nil
	}
	view := a.view(flags.quiet)
	if a.atTerminal() {
		options.Person = console.NewPerson(view, a.stdin)
	}
	result, err := job.Run(ctx, options, view)
	if err != nil {
		return superviseError(err)
	}
	if err := a.showSupervised(job, result, flags.asJSON); err != nil {
		return err
	}
	return quiet(result.ExitCode)
}

// superviseAnswer records the answer to a task.
func (a *app) superviseAnswer(args []string, flags *superviseFlags) error {
	if len(args) != 2 {
		return usage(fmt.Errorf("supervise --answer %s: the answer is missing; write it after the plan, in quotes", flags.answer))
	}
	job, err := superviseJob(args[0], flags)
	if err != nil {
		return err
	}
	running, err := job.Answer(flags.answer, args[1], redactor())
	if err != nil {
		return superviseError(err)
	}
	a.noteRecorded(flags, running, fmt.Sprintf("the answer to %s is recorded, and goes to its next attempt", flags.answer))
	return nil
}

// superviseAmend shows and records the changes of a plan.
func (a *app) superviseAmend(file string, flags *superviseFlags) error {
	job, err := superviseJob(file, flags)
	if err != nil {
		return err
	}
	var printing error
	running, err := job.Amend(console.TerminalOf(a.stdout, a.getenv), redactor(), func(text string) {
		_, printing = io.WriteString(a.stdout, text)
	})
	if err != nil {
		return superviseError(err)
	}
	if printing != nil {
		return &exitError{persist.StatusError.ExitCode(), fmt.Errorf("print the changes: %w", printing)}
	}
	a.noteRecorded(flags, running, "the changes are recorded")
	return nil
}

// noteRecorded prints that a change of a plan is recorded, or waits for the running process.
func (a *app) noteRecorded(flags *superviseFlags, by cli.Recorded, what string) {
	switch {
	case flags.quiet:
	case by == cli.Stored:
		fmt.Fprintf(a.stderr, "%s\nnext: start the plan again\n", what)
	case by == cli.Taken:
		fmt.Fprintf(a.stderr, "%s by the running supervisor\n", what)
	default:
		fmt.Fprint(a.stderr, "the running supervisor records it before it begins its next task, and prints that\n")
	}
}

// superviseJob reads a plan whose state is changed.
func superviseJob(file string, flags *superviseFlags) (*cli.Job, error) {
	p, err := cli.ReadPlan(file)
	if err != nil {
		return nil, usage(err)
	}
	job, err := cli.NewJob(p, file, flags.state)
	if err != nil {
		return nil, usage(err)
	}
	return job, nil
}

// superviseOptions finds the backend of the plan's workers, if one needs any.
func (a *app) superviseOptions(ctx context.Context, job *cli.Job, flags *superviseFlags) (cli.Options, error) {
	flags.dir = job.Folder
	o := cli.Options{
		Redactor: redactor(), Fresh: flags.fresh, Quiet: flags.quiet, Notes: a.stderr, Notify: flags.notify,
		Git: flags.git, Rollback: flags.rollback, Wrapper: flags.wrapper, Parallel: flags.parallel,
		FreshSessions: flags.freshSession,
	}
	if models := job.Models(); len(models) > 0 {
		backend, err := a.agentBackend(ctx, &flags.agentFlags)
		if err != nil {
			return o, usage(fmt.Errorf("%w (the workers of the plan that need a backend: %s)", err, strings.Join(models, ", ")))
		}
		o.Backend, o.Conversational = backend, backend.ID() == backendOpenAI
		o.TakesTools = flags.script == "" && backend.ID() == backendOpenAI
		o.Inert = flags.script == "" && !flags.actsOnFiles()
	}
	prices, err := priceTable(flags.prices)
	if err != nil {
		return o, usage(err)
	}
	o.Price, o.EURPerUSD = prices.Pricer(flags.model), prices.EURPerUSD
	return o, nil
}

// superviseError gives an error its exit code: usage, unless the state cannot be saved.
func superviseError(err error) error {
	if _, ok := errors.AsType[*cli.StateError](err); ok {
		return &exitError{persist.StatusError.ExitCode(), err}
	}
	return usage(err)
}

// superviseStatus prints the progress of a plan.
func (a *app) superviseStatus(job *cli.Job, asJSON bool) error {
	result, activity, err := job.Status()
	if err != nil {
		return superviseError(err)
	}
	if err := a.showSupervised(job, result, asJSON); err != nil {
		return err
	}
	if activity != "" {
		fmt.Fprintln(a.stderr, activity)
	}
	return nil
}

// showSupervised prints the result as JSON or for a person.
func (a *app) showSupervised(job *cli.Job, r persist.Result, asJSON bool) error {
	r = redact.Copy(r, redactor().Text)
	out, err := a.stdout, error(nil)
	if asJSON {
		out, err = a.stderr, a.printJSON(r)
	}
	if err == nil {
		_, err = io.WriteString(out, job.Report(console.TerminalOf(out, a.getenv), r, !asJSON))
	}
	if err != nil {
		return &exitError{persist.StatusError.ExitCode(), fmt.Errorf("print the result: %w", err)}
	}
	return nil
}
