package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/react/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/react"
	"github.com/rehearse-dev/rehearse/agents/react/agentfile"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/fixtures"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// reactFlags are the flags of react.
type reactFlags struct {
	agentFlags
	input, words         string
	example              string
	workspace, agents    string
	iterations           int
	reflection           string
	form                 string
	approve              string
	allow, deny, mcp     []string
	headers              []string
	safety               safetyFlags
	timeout, callTimeout durationFlag
	transcript           string
	resume               bool
	answer               string
	past                 *cli.Past // of the transcript to continue
	asJSON, quiet        bool
}

func (a *app) reactCommand() *cobra.Command {
	var flags reactFlags
	cmd := &cobra.Command{
		Use:   "react AGENT.agent.md | react --continue [TRANSCRIPT]",
		Short: "Run an agent by thought, action, observation and reflection",
		Long: `react runs the agent that a file describes: it thinks, does one action on the files of its
workspace, observes the result, reflects and decides, until it is done or hands over. It verifies
its output against the agent's contract, and escalates instead of guessing.

The input is a YAML file: "input:" has the inputs of the contract, "do:" the task in words. Other
agent files in the agent's folder can be delegated to. Questions are asked here if standard input
is a terminal; elsewhere they end the run with escalate. The output goes to standard output,
everything else to standard error, and each iteration to the transcript as it ends.

The backends are those of rehearse loop; see its --help. With backend openai, the actions and decisions
are tools of the API; other backends, and scripts, write YAML documents (--interface). A command-line agent is started in
the workspace and may only read there, as the engine's actions do the work; --access or --agent-arg
give it more, beyond what the engine can refuse or record. The actions shell (a command line, not
confined to the workspace without --sandbox) and edit are offered with --approve or --allow only. --example plays a shipped agent in
a copy of its workspace, by a script: ` + exampleNames() + `.

` + reactExitCodes(),
		Example: `  rehearse react --example ` + firstExample() + `
  rehearse react audit.agent.md --input task.yaml --backend claude
  rehearse react notes.agent.md --do "Write the notes for 2.1" --workspace ../app -b openai
  rehearse react audit.agent.md --input - --json --max-cost "0.20 EUR" < task.yaml
  rehearse react --continue --answer "PostgreSQL, as before"`,
		Args:              arguments(0, 1, "name one agent file"),
		ValidArgsFunction: completeFiles("md"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.react(cmd.Context(), cmd.Flags(), args, &flags)
		},
	}
	flags.register(cmd)
	return cmd
}

// interfaces are the values of --interface.
var interfaces = []string{autoInterface, string(react.ByTools), string(react.ByYAML)}

const autoInterface = "auto"

func (r *reactFlags) register(cmd *cobra.Command) {
	r.agentFlags.register(cmd)
	f := cmd.Flags()
	f.StringVarP(&r.input, "input", "i", "", "YAML file with the inputs and the task; - is standard input")
	f.StringVar(&r.words, "do", "", "the task in words, in place of the task in the input")
	f.StringVar(&r.example, "example", "", "play a shipped agent: "+exampleNames())
	f.StringVar(&r.workspace, "workspace", ".", "folder that the agent's actions work in and never leave")
	f.StringVar(&r.agents, "agents", "", "folder with the agents to delegate to (default: the agent's own)")
	f.IntVar(&r.iterations, "max-iterations", 0, "escalate after this many iterations (default: the agent's limit, else 5)")
	f.StringVar(&r.reflection, "reflection", string(react.Refuse), "treatment of a reflection that cites no fact: refuse or flag")
	f.StringVar(&r.form, "interface", "auto", "form of the agent's steps: tools, yaml, or auto (tools where the backend takes them)")
	f.StringVar(&r.approve, "approve", "", "approval of shell, edit and MCP actions: ask, auto or never (default: the agent's, else never)")
	f.StringArrayVar(&r.allow, "allow", nil, "action that needs no question, such as 'shell:go test *' or 'edit:docs/**'; repeatable")
	f.StringArrayVar(&r.deny, "deny", nil, "action that is refused, such as 'shell:git push*'; repeatable")
	f.StringArrayVar(&r.mcp, "mcp", nil,
		"MCP server whose tools are actions, such as 'files=mcp-server-files .' or docs=https://example.com/mcp; repeatable")
	f.StringArrayVar(&r.headers, "mcp-header", nil,
		"header for an MCP server over HTTP, such as 'docs=Authorization: Bearer ${DOCS_TOKEN}'; repeatable")
	r.safety.registerSandbox(cmd)
	f.Var(&r.timeout, "timeout", "stop after this time; 0s means no limit")
	f.Var(&r.callTimeout, "call-timeout", "time limit of one call (default 5m)")
	f.StringVar(&r.transcript, "transcript", "", "file for the transcript (default: a new one in "+runsFolder+")")
	f.BoolVar(&r.resume, "continue", false, "continue a run from its transcript (default: the last one in "+runsFolder+")")
	f.StringVar(&r.answer, "answer", "", "with --continue: the answer to the question that the run ended with")
	jsonFlag(f, &r.asJSON, "the result")
	f.BoolVarP(&r.quiet, "quiet", "q", false, "do not show the iterations")
	for _, flag := range []string{"input", "agents", "workspace"} {
		cmd.MarkFlagsMutuallyExclusive("example", flag)
	}
	for _, flag := range []string{"example", "input", "do", "agents", "workspace", "transcript", "interface"} {
		cmd.MarkFlagsMutuallyExclusive("continue", flag)
	}
	for flag, values := range map[string][]string{
		"reflection": {string(react.Refuse), string(react.Flag)}, "interface": interfaces,
		"approve": agentfile.ApprovalModes(), "example": fixtures.Agents(),
	} {
		complete(cmd, flag, values...)
	}
	_ = cmd.RegisterFlagCompletionFunc("input", completeYAML)
	for _, flag := range []string{"workspace", "agents"} {
		_ = cmd.MarkFlagDirname(flag)
	}
}

func reactExitCodes() string {
	return endings(react.Statuses(), "nothing was called: usage, or the agent or its input is not valid",
		"Exit code 1 is also returned where the transcript or the result could not be written.")
}

// options returns the limits of the flags.
func (r *reactFlags) options(f *pflag.FlagSet) (react.Options, error) {
	var o react.Options
	if r.past != nil {
		o = r.past.Options
	}
	o.Budget = r.capsOver(f, o.Budget)
	o.Model = cmp.Or(r.model, o.Model)
	for flag, set := range map[string]func(){
		"max-iterations": func() { o.MaxIterations = r.iterations },
		"reflection":     func() { o.Reflection = react.Reflection(r.reflection) },
		"call-timeout":   func() { o.CallTimeout = r.callTimeout.Duration },
		"timeout":        func() { o.Timeout = r.timeout.Duration },
	} {
		if f.Changed(flag) {
			set()
		}
	}
	o.Reflection = cmp.Or(o.Reflection, react.Refuse)
	if f.Changed("max-iterations") && r.iterations < 1 {
		return o, usage(fmt.Errorf("--max-iterations must be at least 1, got %d", r.iterations))
	}
	if o.Reflection != react.Refuse && o.Reflection != react.Flag {
		return o, notAmong("policy on reflections", r.reflection, []string{string(react.Refuse), string(react.Flag)})
	}
	if !slices.Contains(interfaces, r.form) {
		return o, notAmong("interface", r.form, interfaces)
	}
	if r.form != autoInterface {
		o.Interface = react.Interface(r.form)
	}
	return o, nil
}

// approval returns the approval of the flags.
func (r *reactFlags) approval() agentfile.Approval {
	return agentfile.Approval{Mode: agentfile.ApprovalMode(r.approve), Allow: r.allow, Deny: r.deny}
}

// servers returns the MCP servers of the flags, by name.
func (r *reactFlags) servers() (map[string]agentfile.Server, error) {
	all := map[string]agentfile.Server{}
	for _, text := range r.mcp {
		name, server, err := agentfile.ParseServer(text)
		if err != nil {
			return nil, fmt.Errorf("--mcp %q: %w", text, err)
		}
		if _, taken := all[name]; taken {
			return nil, fmt.Errorf("--mcp: two servers have the name %q; give one another name, as in %s2=PROGRAM", name, name)
		}
		all[name] = server
	}
	for _, text := range r.headers {
		name, header, value, err := agentfile.ParseHeader(text)
		if err != nil {
			return nil, fmt.Errorf("--mcp-header %q: %w", redactor().Text(text), err)
		}
		server, ok := all[name]
		if !ok || server.URL == "" {
			return nil, fmt.Errorf("--mcp-header: there is no --mcp %s=URL", name)
		}
		if server.Headers == nil {
			server.Headers = map[string]string{}
		}
		server.Headers[header] = value
		if err := server.Check(); err != nil {
			return nil, fmt.Errorf("--mcp-header: %w", err)
		}
		all[name] = server
	}
	return all, nil
}

// stepInterface returns the interface of a run. A script has the texts of a model that was not offered
// tools, unless the user says otherwise.
func (r *reactFlags) stepInterface(o react.Options) react.Interface {
	byAPI := react.ByYAML
	if r.script == "" && r.backend == backendOpenAI {
		byAPI = react.ByTools
	}
	return cmp.Or(o.Interface, byAPI)
}

func (a *app) react(ctx context.Context, f *pflag.FlagSet, args []string, flags *reactFlags) error {
	if err := cmp.Or(flags.readPast(args), flags.safety.check()); err != nil {
		return usage(err)
	}
	if err := flags.needsAnswer(a.atTerminal()); err != nil {
		return usage(err)
	}
	options, err := flags.options(f)
	if err != nil {
		return err
	}
	job, err := a.reactJob(ctx, args, flags)
	if err != nil {
		return err
	}
	// Only the engine's actions change files.
	flags.dir, flags.observer = job.Workspace, true
	around, err := a.encloseAgent(ctx, &flags.safety, &flags.agentFlags, job.Workspace)
	if err != nil {
		return usage(err)
	}
	defer around.close()
	flags.wrapper, job.Wrapper = around.arguments(), around.arguments()
	backend, err := a.agentBackend(ctx, &flags.agentFlags)
	if err != nil {
		return err
	}
	options.Interface = flags.stepInterface(options)
	prices, err := priceTable(flags.prices)
	if err != nil {
		return usage(err)
	}
	session, err := flags.session(job, options)
	if err != nil {
		return usage(err) // here exit code 3 is a timeout
	}
	defer func() { _ = session.Close() }() // each line is on the disk already
	view := a.view(flags.quiet)
	deps := react.Deps{
		Backend: backend, BackendID: backend.ID(), Clock: clock.Real(),
		TakesTools: flags.form == autoInterface && flags.past == nil && options.Interface == react.ByTools,
		Price:      prices.Pricer(cmp.Or(flags.model, job.Agent.Model)), EURPerUSD: prices.EURPerUSD,
	}
	var escalation react.Person
	if flags.input != "-" && a.atTerminal() {
		deps.Person = console.NewPerson(view, a.stdin)
		job.Gate.Ask = react.ApproveBy(deps.Person)
		if flags.resume {
			escalation = deps.Person
		}
	}
	result, writing := session.Run(ctx, deps, escalation, view)
	return a.showReact(session, result, flags.asJSON, writing)
}

// showReact prints the result of a run. Writing is the error of its transcript.
func (a *app) showReact(session *cli.Session, result react.Result, asJSON bool, writing error) error {
	if errors.Is(result.Err, react.ErrTask) || errors.Is(result.Err, react.ErrAgent) {
		result.ExitCode = exitUsage
	}
	var printing error
	if asJSON || result.Output != "" {
		printing = a.printResult(result, result.Output, asJSON)
	}
	if printing == nil {
		session.ShowEnd(a.stderr, a.terminal(), result)
	}
	if err := errors.Join(printing, writing); err != nil {
		return &exitError{react.StatusError.ExitCode(), err}
	}
	return quiet(result.ExitCode)
}

// reactJob reads the job of arguments and flags. A shipped agent gets its own folder, and its
// script unless the user chose a backend.
func (a *app) reactJob(ctx context.Context, args []string, flags *reactFlags) (*cli.Job, error) {
	files := cli.Files{
		Workspace: flags.workspace, Agents: flags.agents, Task: flags.input, Stdin: a.stdin, Words: flags.words,
	}
	switch {
	case flags.past != nil:
		files.Agent, files.Workspace, files.Agents = flags.past.File, flags.past.Workspace, flags.past.Agents
	case flags.example != "" && len(args) > 0:
		return nil, usage(errors.New("--example brings its own agent; leave the file or the flag out"))
	case flags.example != "":
		if !slices.Contains(fixtures.Agents(), flags.example) {
			return nil, notAmong("shipped agent", flags.example, fixtures.Agents())
		}
		example, err := cli.CopyExample(flags.example)
		if err != nil {
			return nil, usage(err)
		}
		if flags.backend == "" {
			flags.script = cmp.Or(flags.script, example.Script)
		}
		flags.transcript = cmp.Or(flags.transcript, example.Transcript)
		fmt.Fprintf(a.stderr, "the example's files are copied to %s\n", example.Folder)
		files.Agent, files.Task, files.Workspace = example.Agent, example.Task, example.Workspace
	case len(args) == 0:
		return nil, usage(errors.New("name an agent file, or try a shipped agent with --example " + firstExample()))
	default:
		files.Agent = args[0]
	}
	job, err := files.Read(ctx, a.stderr)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, quiet(exitInterrupted)
	case err != nil:
		return nil, usage(err)
	}
	job.Gate.Approval = flags.approval()
	if job.Servers, err = flags.servers(); err != nil {
		return nil, usage(err)
	}
	if flags.past != nil {
		job.Task = flags.past.Task
		if flags.past.Sandbox && !flags.safety.sandbox {
			return nil, usage(errors.New("--continue: the run was in a sandbox; give --sandbox again"))
		}
		job.Gate.Approval = flags.past.Approve.With(job.Gate.Approval)
		for name, server := range flags.past.Servers {
			if _, again := job.Servers[name]; again {
				continue
			}
			if server.Hidden() {
				return nil, usage(fmt.Errorf("--continue: the transcript does not have the secrets of the MCP server %s; "+
					"give --mcp and --mcp-header again", name))
			}
			job.Servers[name] = server
		}
	}
	if err := job.Agent.Approval.With(job.Gate.Approval).Check(); err != nil {
		return nil, usage(fmt.Errorf("--approve, --allow and --deny: %w", err))
	}
	return job, nil
}

func exampleNames() string { return strings.Join(fixtures.Agents(), ", ") }

// firstExample is the shipped agent that examples use.
func firstExample() string { return fixtures.Agents()[0] }
