package cli

import (
	"fmt"
	"os"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/harness"
	"github.com/rehearse-dev/rehearse/scenarios"
)

// maxSnapshotLines limits the lines about snapshots of each kind.
const maxSnapshotLines = 20

func updateFlag(f *pflag.FlagSet, into *bool) {
	f.BoolVar(into, "update", false, "rewrite snapshots that differ, and remove obsolete ones")
}

// inCI reports whether the program runs in continuous integration, where a missing snapshot is a failure.
func (a *app) inCI() bool {
	ci := a.getenv("CI")
	return ci != "" && ci != "false" && ci != "0"
}

// finishSnapshots writes the snapshots that a run has taken, and lists or removes obsolete ones.
func (a *app) finishSnapshots(sink *harness.SnapshotSink, set []scenarios.Scenario, update bool) error {
	taken := sink.Taken()
	if err := harness.WriteSnapshots(taken); err != nil {
		return err
	}
	var written, updated []string
	for i := range taken {
		if taken[i].Changed {
			updated = append(updated, taken[i].Path())
		} else {
			written = append(written, taken[i].Path())
		}
	}
	a.listSnapshots("snapshot written: %s\n", written)
	a.listSnapshots("snapshot updated: %s\n", updated)
	a.listSnapshots("snapshot not taken: %s fails for another reason; fix that first\n", sink.Failed())
	obsolete := scenarios.ObsoleteSnapshots(set)
	if !update {
		a.listSnapshots("snapshot obsolete: %s (no scenario names it; remove it with: rehearse run --update)\n", obsolete)
		return nil
	}
	for _, file := range obsolete {
		if err := os.Remove(file); err != nil {
			return fmt.Errorf("remove an obsolete snapshot: %w", err)
		}
	}
	a.listSnapshots("snapshot removed: %s\n", obsolete)
	return nil
}

// listSnapshots prints a line for each name.
func (a *app) listSnapshots(line string, names []string) {
	for i, name := range names {
		if i == maxSnapshotLines {
			fmt.Fprintf(a.stderr, "… %d more\n", len(names)-i)
			return
		}
		fmt.Fprintf(a.stderr, line, name)
	}
}
