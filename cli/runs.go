package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// argumentOr returns the argument or, without one, the folder of the last run, which it names on
// standard error.
func (a *app) argumentOr(args []string, last func(runs string) (string, error)) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	folder, err := last(runsFolder)
	if err != nil {
		return "", usage(err)
	}
	fmt.Fprintf(a.stderr, "the last run is %s\n", folder)
	return folder, nil
}

// completeRuns completes the folders of runs, the newest first, besides files.
func completeRuns(_ *cobra.Command, args []string, start string) ([]string, cobra.ShellCompDirective) {
	entries, _ := os.ReadDir(runsFolder) // without the folder there is nothing to complete
	var folders []string
	for _, e := range slices.Backward(entries) {
		folder := filepath.Join(runsFolder, e.Name())
		if _, err := rundir.FindRecording(folder); err == nil && e.IsDir() && !slices.Contains(args, folder) {
			folders = append(folders, folder)
		}
	}
	return startingWith(folders, start), cobra.ShellCompDirectiveDefault | cobra.ShellCompDirectiveKeepOrder
}
