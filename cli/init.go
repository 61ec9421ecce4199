package cli

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/persist/cli"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// starter has the files that init writes. They are checked like any other
// scenario by this package's tests.
//
//go:embed all:starter
var starter embed.FS

// planFile is the plan that init writes.
const planFile = "plan.yaml"

func (a *app) initCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "init [FOLDER]",
		Short: "Write a first scenario, agent and plan of your own",
		Long: `init writes two scenarios that pass, one of them for an agent of your own, an agent with a task
for "rehearse react", a plan for "rehearse supervise", a configuration file for "rehearse loop", and
a workflow for GitHub Actions. The plan's checks are those of the project in the folder, if it is
one of Go, Node, Python or Rust. It never overwrites a file.`,
		Example: "  rehearse init\n  rehearse run scenarios",
		Args:    arguments(0, 1, "name one folder"),
		RunE: func(_ *cobra.Command, args []string) error {
			folder := "."
			if len(args) == 1 {
				folder = args[0]
			}
			found, err := a.writePlan(folder)
			if err == nil {
				err = a.writeStarter(folder)
			}
			if err != nil {
				return err
			}
			file := filepath.Join(folder, planFile)
			fmt.Fprintf(a.stderr, "%snext: rehearse run %s\nthen: write your tasks into %s, and run: rehearse supervise %s\n",
				found, filepath.Join(folder, scenarios.OwnFolder), file, file)
			return nil
		},
	}
}

// writePlan writes a plan with the checks of the project in the folder, and returns a line on
// what it found.
func (a *app) writePlan(folder string) (found string, err error) {
	abs, err := filepath.Abs(folder)
	if err != nil {
		return "", noVerdict(fmt.Errorf("find the folder %s: %w", folder, err))
	}
	proposal := cli.Propose(os.DirFS(folder)) // the folder need not exist yet
	if err := a.writeNew(filepath.Join(folder, planFile), []byte(proposal.StarterPlan(filepath.Base(abs)))); err != nil {
		return "", err
	}
	if len(proposal.Kinds) == 0 {
		return "", nil
	}
	return fmt.Sprintf("found a project of %s: see the checks in %s\n", strings.Join(proposal.Kinds, " and "),
		filepath.Join(folder, planFile)), nil
}

func (a *app) writeStarter(folder string) error {
	return fs.WalkDir(starter, "starter", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		rel, err := filepath.Rel("starter", filepath.FromSlash(name))
		if err != nil {
			return err
		}
		data, err := starter.ReadFile(name)
		if err != nil {
			return err
		}
		return a.writeNew(filepath.Join(folder, rel), data)
	})
}

// writeNew writes a file unless it exists, and prints what it did.
func (a *app) writeNew(file string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return noVerdict(fmt.Errorf("make the folder for %s: %w", file, err))
	}
	switch err := writeNew(file, data); {
	case errors.Is(err, fs.ErrExist):
		fmt.Fprintf(a.stdout, "kept     %s (it exists)\n", file)
	case err != nil:
		return noVerdict(fmt.Errorf("write %s: %w", file, err))
	default:
		fmt.Fprintf(a.stdout, "written  %s\n", file)
	}
	return nil
}
