package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/stop"
	"github.com/rehearse-dev/rehearse/agents/stop/cli"
	"github.com/rehearse-dev/rehearse/agents/stop/hook"
	"github.com/rehearse-dev/rehearse/internal/console"
)

const guardExitCodes = `Exit codes:
  0    the agent may stop; as a hook always, since hosts take others for a refusal
  1    the agent must go on
  2    usage: nothing was judged
  130  interrupted`

// guardFlags are the flags of guard.
type guardFlags struct {
	host, policy, install string
	request               string // file of the user's request
	hook                  hook.Config
	shadowReport          bool
	history               historyFlags
	asJSON                bool
}

func (a *app) guardCommand() *cobra.Command {
	var flags guardFlags
	cmd := &cobra.Command{
		Use:   "guard [MESSAGE.md|-]",
		Short: "Check whether an agent stops with announced work not done",
		Long: `guard judges an agent's last message, in French or English: may the agent stop, or does it
announce work that it has not done? It calls no model, and reports what it found, where, and which
steps are left. With - the message is read from standard input. --request names a file with the
user's request, which shows what is part of the task; as a hook, the guard reads the request from
the host's input or transcript.

The verdict is the probability that the message defers work, learned from labelled messages of
coding agents. Each policy refuses from another probability on: balanced (the default) weighs missed
and false refusals alike; strict misses little and refuses more that is harmless; careful only
refuses what is nearly certain. --threshold sets another probability, --weights other weights.

Steps that cannot be undone or reach others (deleting data, a forced push, deploying, publishing,
paying) are marked; a hook never orders them, nor anything that waits for approval.

--host makes it the stop hook of a coding agent: it reads the host's JSON on standard input and
answers in the host's contract; without a message it does so for any host. --install prints the
settings that make a host call it. A hook refuses at most --cap stops in a row in a session, never
the same message twice, and fails open: whatever goes wrong, the agent may stop, and a line on
standard error gives the reason. --shadow refuses nothing and counts what it would have refused;
--shadow-report shows the counts.

A hook records each decision in its state folder: when, for which host, with which probabilities and
rules, but no text of a message without --log-text. --history summarizes them, as a page with
--format html --out FILE.

` + guardExitCodes,
		Example: `  rehearse guard last-message.md
  git log -1 --format=%B | rehearse guard - --policy strict --json
  rehearse guard last-message.md --request prompt.md
  rehearse guard --install claude            settings to paste, and where
  rehearse guard --host claude --shadow --log stops.jsonl < stop.json
  rehearse guard --shadow-report
  rehearse guard --history --since 7d --format html --out week.html`,
		Args: arguments(0, 1, "name the file of one message, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			flags.hook.Host, flags.hook.Policy = hook.Host(flags.host), stop.Policy(flags.policy)
			if err := flags.check(cmd, args); err != nil {
				return err
			}
			switch {
			case flags.install != "":
				return a.installGuard(flags)
			case flags.history.show:
				return a.guardHistory(cmd.Context(), flags)
			case flags.shadowReport:
				return a.reportGuard(cmd.Context(), flags)
			case len(args) > 0:
				return a.guardMessage(cmd.Context(), args[0], flags)
			case flags.host == "" && a.atTerminal():
				return usage(errors.New("name the file of a message, or --host to be a hook; see rehearse guard --help"))
			}
			hook.Prepare()
			hook.Run(cmd.Context(), flags.hook, a.stdin, a.stdout, a.stderr)
			return nil
		},
	}
	flags.register(cmd)
	return cmd
}

func (g *guardFlags) register(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&g.host, "host", "", "be the stop hook of "+strings.Join(namesOf(hook.Hosts()), ", ")+
		", or auto, which recognises them by their input")
	f.StringVar(&g.policy, "policy", string(stop.Balanced), "policy: balanced, strict or careful")
	f.Float64Var(&g.hook.Threshold, "threshold", 0, "the probability from which a message is refused, above 0 to 1 (default: the policy's)")
	f.StringVar(&g.hook.Weights, "weights", "", "`file` of weights that rehearse detect --fit wrote (default: those of this version)")
	f.StringVar(&g.request, "request", "", "`file` of the user's request, or - for standard input; its last 600 characters are read")
	f.IntVar(&g.hook.Cap, "cap", hook.DefaultCap, "as a hook: the most refusals in a row in a session")
	f.StringVar(&g.hook.State, "state", "", "as a hook: folder for counters (default: rehearse/guard in the user's cache)")
	f.BoolVar(&g.hook.Shadow, "shadow", false, "as a hook: refuse nothing, count what would be refused")
	f.StringVar(&g.hook.Log, "log", "", "as a hook: append a line of JSON for each judged stop to this file")
	f.BoolVar(&g.hook.Subagents, "subagents", false, "as a hook: judge subagents, too")
	f.StringVar(&g.install, "install", "", "print the settings with which a host calls the guard, with the flags given")
	f.BoolVar(&g.shadowReport, "shadow-report", false, "show the counts of the state folder")
	f.BoolVar(&g.hook.LogText, "log-text", false, "as a hook: record the end of the judged messages, without secrets, in the history")
	g.history.since = periodFlag(7 * day)
	f.BoolVar(&g.history.show, "history", false, "show what the hooks decided")
	f.Var(&g.history.since, "since", "with --history: the period up to now, such as 12h or 7d")
	formatFlag(cmd, &g.history.format, "", formatTerminal, formatMarkdown, formatHTML)
	f.StringVarP(&g.history.out, "out", "o", "", "with --history: write to this file")
	jsonFlag(f, &g.asJSON, "the verdict, the counts or the decisions")
	complete(cmd, "host", append(namesOf(hook.Hosts()), string(hook.Auto))...)
	complete(cmd, "install", namesOf(hook.Hosts())...)
	complete(cmd, "policy", policies...)
	_ = cmd.MarkFlagDirname("state")
}

var policies = namesOf(stop.Policies())

// check returns an error for unknown values and contradictory flags.
func (g *guardFlags) check(cmd *cobra.Command, args []string) error {
	if !slices.Contains(policies, g.policy) {
		return notAmong("policy", g.policy, policies)
	}
	if hosts := append(namesOf(hook.Hosts()), string(hook.Auto)); g.host != "" && !slices.Contains(hosts, g.host) {
		return notAmong("host", g.host, hosts)
	}
	if g.install != "" && !slices.Contains(namesOf(hook.Hosts()), g.install) {
		return notAmong("host", g.install, namesOf(hook.Hosts()))
	}
	if t := g.hook.Threshold; cmd.Flags().Changed("threshold") && !(t > 0 && t <= 1) {
		return usage(fmt.Errorf("--threshold must be above 0 and at most 1, got %g", t))
	}
	if g.hook.Cap < 1 {
		return usage(fmt.Errorf("--cap must be at least 1, got %d; to refuse nothing, use --shadow", g.hook.Cap))
	}
	if err := g.hook.Validate(); err != nil {
		return usage(err)
	}
	var ways []string // of using guard
	for _, name := range []string{"host", "install", "shadow-report", "history"} {
		if cmd.Flags().Changed(name) {
			ways = append(ways, "--"+name)
		}
	}
	if len(args) > 0 {
		ways = append(ways, "a message")
	}
	if len(ways) > 1 {
		return usage(fmt.Errorf("%s do not go together; see rehearse guard --help", strings.Join(ways, " and ")))
	}
	for _, name := range []string{"since", "format", "out"} {
		if cmd.Flags().Changed(name) && !g.history.show {
			return usage(fmt.Errorf("--%s is for --history; see rehearse guard --help", name))
		}
	}
	switch asked := cmd.Flags().Changed("request"); {
	case asked && len(args) == 0:
		return usage(errors.New("--request needs a message to judge; see rehearse guard --help"))
	case asked && g.request == "":
		return usage(errors.New("--request names no file"))
	case g.request == "-" && args[0] == "-":
		return usage(errors.New("the message and the request cannot both be standard input; name a file for one of them"))
	}
	return nil
}

// asHook reports whether a command line, valid or not, starts a hook.
func asHook(args []string) bool {
	if len(args) == 0 || args[0] != "guard" {
		return false
	}
	return slices.ContainsFunc(args, func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--host"
	})
}

// guardMessage judges a file or standard input.
func (a *app) guardMessage(ctx context.Context, name string, flags guardFlags) error {
	text, err := cli.ReadText(ctx, "message", name, a.stdin)
	request := ""
	if err == nil && flags.request != "" {
		request, err = cli.ReadText(ctx, "request", flags.request, a.stdin)
	}
	switch {
	case ctx.Err() != nil:
		return quiet(exitInterrupted)
	case err != nil:
		return usage(err)
	}
	weights, err := stop.ReadWeightsFile(flags.hook.Weights)
	if err != nil {
		return usage(err)
	}
	v := stop.Judge(text, stop.Options{
		Policy: flags.hook.Policy, Threshold: flags.hook.Threshold, Request: request, Weights: weights,
	})
	if flags.asJSON {
		err = a.printJSON(v)
	} else {
		err = cli.PrintVerdict(a.stdout, console.TerminalOf(a.stdout, a.getenv), name, text, v)
	}
	switch {
	case err != nil:
		return usage(fmt.Errorf("print the verdict: %w", err))
	case !v.MayStop:
		return quiet(exitFail)
	}
	return nil
}

// reportGuard prints the counts of the state folder.
func (a *app) reportGuard(ctx context.Context, flags guardFlags) error {
	tallies, err := hook.Tallies(ctx, flags.hook.State)
	if err != nil {
		return usage(err)
	}
	if flags.asJSON {
		err = a.printJSON(append([]hook.Tally{}, tallies...)) // an empty list rather than null
	} else {
		err = cli.PrintTallies(a.stdout, tallies)
	}
	if err != nil {
		return usage(fmt.Errorf("print the counts: %w", err))
	}
	return nil
}

// installGuard prints settings: what to paste on standard output, and where on standard error.
func (a *app) installGuard(flags guardFlags) error {
	settings, err := cli.Settings(hook.Host(flags.install), flags.hook)
	if err != nil {
		return usage(err)
	}
	fmt.Fprintf(a.stderr, "Paste this into %s of a project, or into %s for all of yours.\n", settings.File, settings.UserFile)
	for _, note := range settings.Notes {
		fmt.Fprintln(a.stderr, note)
	}
	if _, err := a.stdout.Write(settings.JSON); err != nil {
		return usage(fmt.Errorf("print the settings: %w", err))
	}
	return nil
}
