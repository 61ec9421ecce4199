package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

func (a *app) historyImportCommand() *cobra.Command {
	var address string
	cmd := &cobra.Command{
		Use:   "import [FOLDER...]",
		Short: "Add earlier runs to the history, or restore it",
		Long: `import judges the recordings in the folders again and stores them. A folder without a recording
is searched for folders of runs. Without an argument import reads ` + runsFolder + `. It skips runs that the history
has, so importing twice changes nothing. Time, branch and commit come from ` + history.NoteFile + `, which rehearse
run writes beside the recording; without it, the time is the modification time of the recording.

Altered recordings are not stored.

` + historyCodes,
		Example: "  rehearse history import\n  rehearse history import ci-artifacts/*",
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{runsFolder}
			}
			return a.importRuns(cmd.Context(), address, args)
		},
	}
	historyFlag(cmd.Flags(), &address)
	return cmd
}

func (a *app) importRuns(ctx context.Context, address string, folders []string) error {
	recordings, err := recordingsIn(folders)
	if err != nil {
		return usage(err)
	}
	if address, err = a.requiredHistory(address); err != nil {
		return err
	}
	st, err := createHistory(ctx, address)
	if err != nil {
		return noVerdict(err)
	}
	defer closeHistory(st)
	added, known, worst := 0, 0, exitPass
	for _, recording := range recordings {
		isNew, err := a.importRun(ctx, st, recording)
		switch {
		case err == nil && isNew:
			added++
		case err == nil:
			known++
		case ctx.Err() != nil:
			return recordingError(ctx, err)
		default:
			a.explain(fmt.Errorf("%s is not imported: %w", shownPath(recording), err))
			code := exitNoVerdict
			if errors.Is(err, rundir.ErrAltered) {
				code = exitFail
			}
			worst = max(worst, code)
		}
	}
	fmt.Fprintf(a.stdout, "%s added, %d already in the history, %d not imported\n",
		format.Plural(added, "run"), known, len(recordings)-added-known)
	return quiet(worst)
}

// importRun stores one recording, and reports whether it is new.
func (a *app) importRun(ctx context.Context, st *store.Store, recording string) (bool, error) {
	e, err := rundir.ReadEntry(ctx, recording, a.language)
	if err != nil {
		return false, err
	}
	if e.ID == history.NewID(e.SHA256, time.Time{}, "") { // without a note
		equal, err := st.Runs(ctx, history.Filter{SHA256: e.SHA256, Limit: 1})
		if err != nil || len(equal) > 0 {
			return false, err
		}
	}
	return st.Add(ctx, &e, false)
}

// createHistory opens or creates a history for writing.
func createHistory(ctx context.Context, address string) (*store.Store, error) {
	if address == historyFile {
		if err := atomicdir.Ignore(historyFolder); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, address, time.Now)
}

// recordingsIn returns the recordings of folders, or of their subfolders.
func recordingsIn(folders []string) (list []string, err error) {
	for _, folder := range folders {
		info, err := os.Stat(folder)
		if err != nil {
			if errors.Is(err, fs.ErrNotExist) {
				return nil, fmt.Errorf("%s does not exist; name folders of runs, or folders that contain them", folder)
			}
			return nil, fmt.Errorf("look for recordings: %w", err)
		}
		if recording, err := rundir.FindEntry(folder); err == nil || !info.IsDir() {
			list = append(list, recording)
			continue
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, fmt.Errorf("look for recordings: %w", err)
		}
		found := len(list)
		for _, entry := range entries {
			if recording, err := rundir.FindEntry(filepath.Join(folder, entry.Name())); err == nil && entry.IsDir() {
				list = append(list, recording)
			}
		}
		if len(list) == found {
			return nil, fmt.Errorf("there is no recording in %s or in its subfolders", folder)
		}
	}
	return list, nil
}

func (a *app) historyPruneCommand() *cobra.Command {
	var address, keep string
	var dry bool
	cmd := &cobra.Command{
		Use:   "prune [RUN...]",
		Short: "Remove runs from the history",
		Long: `prune removes the named runs, and with --keep older runs. It does not touch recordings: history
import restores a removed run as long as its recording exists.

` + historyCodes,
		Example: "  rehearse history prune --keep 90d\n  rehearse history prune r0123456789ab --dry-run",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.prune(cmd.Context(), address, args, keep, dry)
		},
	}
	f := cmd.Flags()
	historyFlag(f, &address)
	f.StringVar(&keep, "keep", "", "remove runs older than this `age`, such as 90d")
	f.BoolVar(&dry, "dry-run", false, "only list what would be removed")
	return cmd
}

func (a *app) prune(ctx context.Context, address string, words []string, keep string, dry bool) error {
	if keep == "" && len(words) == 0 {
		return usage(errNothingToPrune)
	}
	var oldest time.Duration
	if keep != "" {
		var err error
		if oldest, err = age(keep); err != nil {
			return usage(fmt.Errorf("--keep: %w", err))
		}
	}
	st, err := a.openHistory(ctx, address)
	if err != nil {
		return err
	}
	defer closeHistory(st)
	var runs []history.Run
	if keep != "" {
		if runs, err = st.Runs(ctx, history.Filter{Before: time.Now().Add(-oldest), All: true}); err != nil {
			return noVerdict(err)
		}
	}
	for _, word := range words {
		run, err := findRun(ctx, st, word)
		if err != nil {
			return err
		}
		runs = append(runs, run)
	}
	ids := make([]string, len(runs))
	for i := range runs {
		ids[i] = runs[i].ID
		fmt.Fprintf(a.stdout, "%s  %s  %s\n", runs[i].ID, runs[i].At.Format(time.RFC3339), runs[i].Verdict)
	}
	if dry {
		fmt.Fprintf(a.stderr, "%s would be removed\n", format.Plural(len(ids), "run"))
		return nil
	}
	removed, err := st.Remove(ctx, ids)
	if err != nil {
		return noVerdict(err)
	}
	fmt.Fprintf(a.stderr, "%s removed\n", format.Plural(removed, "run"))
	return nil
}
