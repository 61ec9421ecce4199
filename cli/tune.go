package cli

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/result"
)

// tuneName is the name of the command.
const tuneName = "tune"

func (a *app) tuneCommand() *cobra.Command {
	var flags experimentFlags
	cmd := &cobra.Command{
		Use:   tuneName + " FILE",
		Short: "Search for a better prompt, and confirm it on held-out scenarios",
		Long: `tune chooses among fragments of a text that the experiment's file gives ("tune:"), on the training
scenarios, and compares the best one with the base on held-out scenarios. The best of many is partly
luck: it is promoted only if it is better there, by the experiment's own measure, smallest effect
and risk.

` + experimentFolder(tuneJournals) + `Exit codes:
  0    a text was promoted
  1    none was: the best one is not better than the base on the held-out scenarios
  2    usage or configuration: nothing was run
  3    no verdict: a cap stopped it, nothing could be driven, or the harness failed
  130  interrupted; the same command with --out resumes it`,
		Example: `  rehearse tune mirror.yaml --plan
  rehearse tune mirror.yaml --save prompts/better.md
  rehearse tune mirror.yaml --live --max-cost 5EUR --out /tmp/tuned`,
		Args: arguments(1, 1, "name the file of the experiment"),
		RunE: func(cmd *cobra.Command, args []string) error { return a.tune(cmd, args[0], flags) },
	}
	flags.register(cmd)
	cmd.Flags().StringVar(&flags.save, "save", "", "write a promoted text to this `file`, which must not be there")
	cmd.ValidArgsFunction = completeYAML
	return cmd
}

func (a *app) tune(cmd *cobra.Command, path string, flags experimentFlags) error {
	e, prices, err := a.loadExperiment(cmd.Flags(), path, flags)
	if err != nil {
		return err
	}
	plan := e.Plan()
	switch {
	case plan.Search == "":
		return usage(fmt.Errorf(`%s: there is nothing to search: the file has no "tune:"; rehearse experiment compares its variants`, path))
	case flags.plan:
		return a.showPlan(plan, flags)
	}
	if flags.save != "" {
		if err := free(flags.save); err != nil {
			return usage(err)
		}
	}
	found, err := a.carryOut(cmd, path, e, prices, flags, tuneJournals, e.Tune)
	if err != nil {
		return err
	}
	if err := a.saveTuned(flags.save, found); err != nil {
		return noVerdict(err)
	}
	return quiet(experimentExit(found, found.JudgeSearch()))
}

// free returns an error if a new file cannot be written. It is checked before a search.
func free(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("--save %s: the file exists and would not be overwritten; name another one", file)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return fmt.Errorf("--save %s: there is no folder %s; create it, or name another file", file, filepath.Dir(file))
	}
	return nil
}

// saveTuned writes a promoted text.
func (a *app) saveTuned(file string, r *result.Experiment) error {
	if file == "" || r.Tune == nil || !r.Tune.Promoted {
		return nil
	}
	switch err := writeNew(file, []byte(r.Tune.Text)); {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("save the promoted text: %s exists and was not overwritten; the text is in the report", file)
	case err != nil:
		return fmt.Errorf("save the promoted text: %w", err)
	}
	fmt.Fprintf(a.stderr, "the promoted text is in %s\n", file)
	return nil
}

// writeNew writes a file that must not exist.
func writeNew(name string, data []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = file.Write(data)
	return errors.Join(err, file.Close())
}
