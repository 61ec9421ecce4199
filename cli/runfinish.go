package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/rundir"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// showing has the flags for the output of a run.
type showing struct {
	detail       detailFlags
	failuresOnly bool
	asJSON       bool
	reporters    reporters
}

// register adds the flags.
func (s *showing) register(cmd *cobra.Command) {
	s.detail.register(cmd)
	cmd.Flags().BoolVar(&s.failuresOnly, "failures-only", false, "leave passing scenarios out of the table")
	jsonFlag(cmd.Flags(), &s.asJSON, "the report")
	cmd.Flags().Var(&s.reporters, "reporter", "what to print, or to write to a file, such as tap=out.tap: one of "+
		joined(reporterNames)+"; may be repeated")
	cmd.MarkFlagsMutuallyExclusive("reporter", "json")
	complete(cmd, "reporter", reporterNames...)
}

// finishRun shows the report of a run and where its files are, of which people read the first one, and remembers the run.
func (a *app) finishRun(
	out *atomicdir.Folder, report *reports.Report, first string, seconds map[string]float64, began time.Time, flags showing,
) error {
	a.remember(out, report, seconds)
	if err := a.reportRun(report, flags); err != nil {
		return noVerdict(err)
	}
	fmt.Fprintf(a.stderr, "%s; %s and the other files are in %s\n", format.Seconds(time.Since(began).Seconds()), first, out.Path())
	fmt.Fprintf(a.stderr, "last hash of the recording: %s\n", report.Run.LastHash)
	a.viewAgain(out)
	return quiet(exitCode(*report))
}

// remember records the last run for --failed and for commands without an argument, in a folder
// that looks like a project. An error is a warning.
func (a *app) remember(out *atomicdir.Folder, report *reports.Report, seconds map[string]float64) {
	if _, err := os.Stat(runsFolder); err != nil {
		if _, err := os.Stat(scenarios.OwnFolder); err != nil {
			return
		}
	}
	err := atomicdir.Ignore(runsFolder)
	if err == nil {
		err = rundir.Remember(runsFolder, out.Path(), report, seconds)
	}
	if err != nil {
		fmt.Fprintf(a.stderr, "warning: --failed will ignore this run: %v\n", err)
	}
}

// viewAgain prints the command that shows the reports of a folder.
func (a *app) viewAgain(out *atomicdir.Folder) {
	fmt.Fprintf(a.stderr, "view again with: %s\n", format.ShellLine("rehearse", "report", out.Path()))
}

// warnReplaced prints a line if the run replaces an earlier one in its folder.
func (a *app) warnReplaced(out *atomicdir.Folder) {
	if _, err := rundir.FindRecording(out.Path()); err == nil {
		what := "the earlier run"
		if _, err := os.Stat(filepath.Join(out.Path(), rundir.SignatureFile)); err == nil {
			what = "the earlier, signed run"
		}
		fmt.Fprintf(a.stderr, "%s in %s is replaced\n", what, out.Path())
	}
}
