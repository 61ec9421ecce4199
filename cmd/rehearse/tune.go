package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/harness/experiment"
	"github.com/rehearse-dev/rehearse/harness/experiment/result"
)

func (a *app) tuneCommand() *cobra.Command {
	var flags experimentFlags
	cmd := &cobra.Command{
		Use:   "tune FILE",
		Short: "Search for a better prompt, and promote it only if it is better where it was not sought",
		Long: `tune chooses among fragments of a text that the experiment's file gives ("tune:"), on the training
scenarios, and holds what it ends with against the base on the scenarios that are held out. What was
best among many is partly luck: it is promoted only if it is better there, by the experiment's own
measure, smallest effect and risk.

` + experimentFolder(tuneJournals) + `Exit codes:
  0    a text was promoted
  1    none was: what was found is not better than the base on the held-out scenarios
  2    usage or configuration: nothing was run
  3    no verdict: a cap stopped it, nothing could be driven, or the harness could not tell
  130  interrupted; the same command with --out goes on`,
		Example: `  rehearse tune mirror.yaml --plan
  rehearse tune mirror.yaml --save prompts/better.md
  rehearse tune mirror.yaml --live --max-cost 5EUR --out /tmp/tuned`,
		Args: arguments(1, 1, "name the file of the experiment"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.compareVariants(cmd, args[0], flags, method{
				journals: tuneJournals, run: (*experiment.Experiment).Tune, judge: judgeTuning, fits: func(p *experiment.Plan) error {
					if p.Search == "" {
						return errors.New(`there is nothing to search: the file has no "tune:"; rehearse experiment compares its variants`)
					}
					return nil
				},
			})
		},
	}
	flags.register(cmd.Flags())
	cmd.Flags().StringVar(&flags.save, "save", "", "write a promoted text to this `file`, which must not be there")
	cmd.ValidArgsFunction = completeYAML
	return cmd
}

// judgeTuning returns the exit code of a search. It demands nothing else.
func judgeTuning(r *result.Result, _ string) (code int, unmet []string) {
	switch {
	case r.Stopped.As == result.Interrupted:
		return exitInterrupted, nil
	case r.Stopped.As == result.Capped || r.Tune == nil:
		return exitNoVerdict, nil
	case r.Tune.Promoted:
		return exitPass, nil
	}
	return exitFail, nil
}

// free says why a file cannot be written that must not be there; better before the search
// than after it.
func free(file string) error {
	if _, err := os.Lstat(file); err == nil {
		return fmt.Errorf("--save %s: the file is there already, and would stay as it is; name another", file)
	}
	if info, err := os.Stat(filepath.Dir(file)); err != nil || !info.IsDir() {
		return fmt.Errorf("--save %s: there is no folder %s; make it, or name another file", file, filepath.Dir(file))
	}
	return nil
}

// saveTuned writes a promoted text.
func (a *app) saveTuned(file string, r *result.Result) error {
	if file == "" || r.Tune == nil || !r.Tune.Promoted {
		return nil
	}
	switch err := writeNew(file, []byte(r.Tune.Text)); {
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("save the promoted text: %s is there already, and stays as it is; the text is in the report", file)
	case err != nil:
		return fmt.Errorf("save the promoted text: %w", err)
	}
	fmt.Fprintf(a.stderr, "the promoted text is in %s\n", file)
	return nil
}
