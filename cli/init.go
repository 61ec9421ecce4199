package cli

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/harness/compare"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// starter has the templates of the files that init writes.
//
//go:embed all:starter
var starter embed.FS

// planFile is the plan that init writes.
const planFile = "plan.yaml"

// initFlags are the flags of init.
type initFlags struct {
	kind, sdk, program, ci string
	skill                  []string // the coding agents that get the skill
	plan, agent            bool
	chosen                 bool // the program was asked for, or given; if it is empty, an example is
}

func (a *app) initCommand() *cobra.Command {
	var flags initFlags
	cmd := &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a first scenario for your agent",
		Long: `init writes scenarios/agent.yaml, a scenario for your kind of agent, and ignores ` + runsFolder + `
in .gitignore. On a terminal it asks for the kind, your program and the package; otherwise, and as its proposal, it takes the one
that fits package.json, pyproject.toml, requirements.txt or go.mod, and a program such as agent.js or src/main.py. If there is none,
for Node, Python and Go it also writes a small example agent. With --ci or --skill it adds no scenario if there are some. It never
overwrites a file, and prints what to run next.

--skill writes a skill that teaches a coding agent to write, run and mend scenarios: for claude into .claude/skills,
for the others into .agents/skills.

Kinds of agents:
` + kindList() + `

Exit codes: 0 written, 2 usage, or a file could not be written, 130 interrupted.`,
		Example: `  rehearse init
  rehearse init --kind python --program src/agent.py
  rehearse init --kind node --sdk openai --ci github
  rehearse init --kind http --program server.js
  rehearse init --skill claude,codex
  rehearse init --kind loop --plan`,
		Args: arguments(0, 1, "name one folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			flags.chosen = cmd.Flags().Changed("program")
			return a.initFolder(cmd.Context(), folder, flags)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.kind, "kind", "", "the `kind` of agent, as listed above")
	f.StringVar(&flags.program, "program", "", "your `file`, from FOLDER; if empty, an example agent is written")
	f.StringVar(&flags.sdk, "sdk", "", "of the example: openai, anthropic or none (default: that of the project, or none)")
	f.StringVar(&flags.ci, "ci", "", "also write the workflow of a `service`: github or gitlab")
	f.StringSliceVar(&flags.skill, "skill", nil, "also write the skill for these coding `agents`: "+strings.Join(skillAgents, ", "))
	f.BoolVar(&flags.plan, "plan", false, "also write a plan for rehearse supervise, with the checks of the project")
	f.BoolVar(&flags.agent, "agent", false, "also write an agent file and a task for rehearse react")
	var kinds []string
	for _, k := range starterKinds() {
		kinds = append(kinds, k.name+"\t"+k.about)
	}
	complete(cmd, "kind", kinds...)
	complete(cmd, "sdk", "openai", "anthropic", "none")
	complete(cmd, "ci", "github", "gitlab")
	complete(cmd, "skill", skillAgents...)
	return cmd
}

func kindList() string {
	var b strings.Builder
	for _, k := range starterKinds() {
		fmt.Fprintf(&b, "  %-9s %s\n", k.name, k.about)
	}
	return strings.TrimRight(b.String(), "\n")
}

func (a *app) initFolder(ctx context.Context, folder string, flags initFlags) error {
	project := os.DirFS(folder) // the folder need not exist yet
	found, sdk, why := detectProject(project)
	// The scenarios of the project are the user's own, to which only a workflow or a skill is added.
	adds := (flags.ci != "" || len(flags.skill) > 0) && !flags.chosen && flags.sdk == "" && hasScenarios(project)
	if flags.kind == "" && a.atTerminal() && !adds {
		err := askKind(ctx, input.Lines(a.stdin), a.stderr, project, &flags, found, sdk, why)
		if ctx.Err() != nil {
			return &exitError{exitInterrupted, errors.New("interrupted; nothing was written")}
		}
		if err != nil {
			return usage(err)
		}
		flags.chosen = true
	} else if flags.kind == "" && why != "" {
		fmt.Fprintf(a.stderr, "%s: --kind %s\n", why, found)
	}
	kind, err := findStarterKind(cmp.Or(flags.kind, found))
	if err != nil {
		return usage(err)
	}
	if !flags.chosen && flags.program == "" && flags.sdk == "" {
		if flags.program = kind.findProgram(project); flags.program != "" {
			fmt.Fprintf(a.stderr, "there is %s: --program %[1]s; for an example agent: --program \"\"\n", flags.program)
		}
	}
	if kind.name != found {
		sdk = "none"
	}
	if err := flags.check(project, kind, &sdk); err != nil {
		return usage(err)
	}
	name, data := kind.plan(sdk, slash(flags.program), inModule(folder))
	data.Schema = schemaURL(toolVersion())
	data.Install = installProject(project)
	if kind.name != "node" || len(data.Install) == 0 { // npm adds a package to those of the project
		data.Install = append(data.Install, data.Setup...)
	}
	_, err = fs.Stat(project, compare.BaselineFile)
	data.Baseline = err == nil
	if _, err := fs.Stat(project, data.Scenario); err == nil || adds {
		name, data.example, data.module = "", "", false
	}
	if err := a.writeStarter(folder, kind, sdk, name, data, flags); err != nil {
		return err
	}
	a.printNext(folder, kind, name, data, flags)
	return nil
}

// inModule reports whether a folder, which need not exist, is in a Go module.
func inModule(folder string) bool {
	folder, err := filepath.Abs(folder)
	for err == nil {
		if info, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil && !info.IsDir() {
			return true
		}
		parent := filepath.Dir(folder)
		if parent == folder {
			return false
		}
		folder = parent
	}
	return false
}

// check validates the flags, and sets the SDK of the example.
func (f *initFlags) check(project fs.FS, kind starterKind, sdk *string) error {
	program := slash(f.program)
	if err := checkSkills(f.skill); err != nil {
		return err
	}
	switch {
	case f.ci != "" && f.ci != "github" && f.ci != "gitlab":
		return fmt.Errorf("--ci: there is no workflow for %q; choose github or gitlab", f.ci)
	case program != "" && kind.scenario != "command" && kind.scenario != "http":
		return fmt.Errorf("--program: the kind %s has its own program", kind.name)
	case program != "" && !fs.ValidPath(program):
		return fmt.Errorf("--program %s: name a file below the folder, with a relative path", f.program)
	}
	if program != "" {
		if info, err := fs.Stat(project, program); err != nil || info.IsDir() {
			return fmt.Errorf("--program %s: there is no such file in the folder", f.program)
		}
	}
	if f.sdk == "" {
		if !slices.Contains(kind.sdks, *sdk) {
			*sdk = "none"
		}
		return nil
	}
	if *sdk = f.sdk; !slices.Contains(kind.sdks, f.sdk) {
		if len(kind.sdks) == 0 {
			return fmt.Errorf("--sdk: the kind %s has no example agent", kind.name)
		}
		return fmt.Errorf("--sdk: no example in %s uses %q; choose from %s", kind.name, f.sdk, strings.Join(kind.sdks, ", "))
	}
	return nil
}

// slash returns a path in the form of package fs; empty stays empty.
func slash(file string) string {
	if file == "" {
		return ""
	}
	return path.Clean(filepath.ToSlash(file))
}

// schemaURL returns the address of the schema of scenarios of a version.
func schemaURL(version string) string {
	if !strings.HasPrefix(version, "v") || strings.Contains(version, "-") {
		version = "main"
	}
	return "https://raw.githubusercontent.com/rehearse-dev/rehearse/" + version + "/schema/scenario.json"
}

// writeStarter writes the files.
func (a *app) writeStarter(folder string, kind starterKind, sdk, scenario string, d starterData, flags initFlags) error {
	var files [][2]string
	if scenario == "" {
		fmt.Fprintf(a.stdout, "kept     %s (it has scenarios)\n", filepath.Join(folder, "scenarios"))
	} else {
		files = append(files, [2]string{"scenarios/" + scenario + ".yaml", d.Scenario})
	}
	if d.example != "" {
		from := "examples/" + sdk + "." + kind.extension
		if kind.extension == "go" {
			from += ".txt" // it is not a part of this program
		}
		files = append(files, [2]string{from, d.example})
	}
	if d.module {
		files = append(files, [2]string{"examples/go.mod.txt", "go.mod"})
	}
	if kind.name == "loop" {
		files = append(files, [2]string{"rehearse.yaml", "rehearse.yaml"})
	}
	switch flags.ci {
	case "github":
		files = append(files, [2]string{"ci/github.yaml", ".github/workflows/rehearse.yaml"})
	case "gitlab":
		files = append(files, [2]string{"ci/gitlab.yaml", "rehearse.gitlab-ci.yml"})
	}
	if flags.agent {
		files = append(files, [2]string{"reviewer/reviewer.agent.md", "agents/reviewer.agent.md"},
			[2]string{"reviewer/reviewer.yaml", "agents/reviewer.yaml"})
	}
	for _, f := range files {
		text, err := starter.ReadFile("starter/" + f[0])
		if err != nil {
			return usage(err)
		}
		var out bytes.Buffer
		parsed, err := template.New(f[0]).Parse(string(text))
		if err == nil {
			err = parsed.Execute(&out, d)
		}
		if err == nil {
			err = a.writeNew(filepath.Join(folder, filepath.FromSlash(f[1])), out.Bytes())
		}
		if err != nil {
			return usage(err)
		}
	}
	if err := a.writeSkills(folder, flags.skill); err != nil {
		return err
	}
	if flags.plan {
		if err := a.writePlan(folder); err != nil {
			return err
		}
	}
	return a.ignore(filepath.Join(folder, ".gitignore"), d.ignore)
}

// ignore adds lines to a .gitignore.
func (a *app) ignore(file string, lines []string) error {
	before, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return usage(fmt.Errorf("read the list of ignored files: %w", err))
	}
	text, added := ignoring(string(before), lines)
	switch {
	case !added:
		fmt.Fprintf(a.stdout, "kept     %s (it ignores %s)\n", file, strings.Join(lines, " and "))
		return nil
	case err != nil:
		return a.writeNew(file, []byte(text))
	}
	if err := atomicdir.Replace(file, []byte(text)); err != nil {
		return usage(fmt.Errorf("write the list of ignored files: %w", err))
	}
	fmt.Fprintf(a.stdout, "changed  %s (it now ignores %s)\n", file, strings.Join(lines, " and "))
	return nil
}

// printNext prints what to do next, in the folder.
func (a *app) printNext(folder string, kind starterKind, scenario string, d starterData, flags initFlags) {
	fill := func(text string) {
		fmt.Fprintf(a.stderr, "fill in: %s, in %s\n", text, filepath.Join(folder, filepath.FromSlash(d.Scenario)))
	}
	switch scenario {
	case "curl":
		fill("your program, in place of the shell script")
	case "http":
		fill("the request and the answer of your application; it fails until then")
	}
	var commands []string
	if folder != "." {
		commands = append(commands, format.ShellLine("cd", folder))
	}
	commands = append(append(commands, d.Setup...), "rehearse run")
	if d.example != "" {
		fmt.Fprintf(a.stderr, "%s is an example, and the scenario tests it: --program names your own agent\n",
			filepath.Join(folder, filepath.FromSlash(d.example)))
	}
	fmt.Fprintf(a.stderr, "next: %s\n", strings.Join(commands, "\n      "))
	if flags.plan {
		fmt.Fprintf(a.stderr, "then: write your tasks into %s, and run: rehearse supervise %[1]s\n", planFile)
	}
	if kind.scenario == "coding" {
		fmt.Fprintf(a.stderr, "the scenario is skipped if the program of %s is not installed\n", kind.about)
	}
}

// writePlan writes a plan with the checks of the project in the folder.
func (a *app) writePlan(folder string) error {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return usage(fmt.Errorf("find the folder %s: %w", folder, err))
	}
	proposal := cli.Propose(os.DirFS(folder))
	if err := a.writeNew(filepath.Join(folder, planFile), []byte(proposal.StarterPlan(filepath.Base(abs)))); err != nil {
		return err
	}
	if len(proposal.Kinds) > 0 {
		fmt.Fprintf(a.stderr, "found a project of %s: see the checks in %s\n", strings.Join(proposal.Kinds, " and "),
			filepath.Join(folder, planFile))
	}
	return nil
}

// writeNew writes a file unless it exists, and prints what it did.
func (a *app) writeNew(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return usage(fmt.Errorf("make the folder for %s: %w", file, err))
	}
	switch err := writeNew(file, data); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(a.stdout, "kept     %s (it exists)\n", file)
	case err != nil:
		return usage(fmt.Errorf("write %s: %w", file, err))
	default:
		fmt.Fprintf(a.stdout, "written  %s\n", file)
	}
	return nil
}
