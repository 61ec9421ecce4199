package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/history"
	"github.com/rehearse-dev/rehearse/history/store"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/database"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/reports"
	"github.com/rehearse-dev/rehearse/reports/evidence"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

// The history of a project, and the word that switches it off.
var (
	historyFolder = ".rehearse"
	historyFile   = filepath.Join(historyFolder, "history.db")
)

const historyOff = "none"

// historyVariable is the environment variable with the default of --history.
const historyVariable = "REHEARSE_HISTORY"

// historyFlag adds --history.
func historyFlag(f *pflag.FlagSet, address *string) {
	f.StringVar(address, "history", "", "the history: a `file`, postgres://user@host/database, or none (default: $"+
		historyVariable+", or "+historyFile+")")
}

// historyAddress returns the address of the history; empty if it is switched off.
func (a *app) historyAddress(flag string) string {
	address := cmp.Or(flag, a.getenv(historyVariable), historyFile)
	if address == historyOff {
		return ""
	}
	return address
}

// storeTime limits the time to store a run, because a person waits for its result.
const storeTime = 10 * time.Second

// pastRun is a run that has begun.
type pastRun struct {
	address string // of the history; empty if the run will not be stored
	kind    history.Kind
	out     string // folder of the files
	origin  func() reports.Origin
	key     *evidence.Key // to sign the run with; nil if it is not signed
	signed  func() reports.Origin
}

// beginPast begins a run that will be stored in the history, unless that is switched off.
// out is the folder of its files; empty for one that git ignores.
func (a *app) beginPast(ctx context.Context, flag, out string, kind history.Kind, labels map[string]string) (pastRun, error) {
	past := pastRun{address: a.historyAddress(flag), kind: kind, out: out}
	if past.address != "" {
		if _, err := database.ParseAddress(past.address); err != nil {
			return past, usage(fmt.Errorf("--history: %w", err))
		}
	}
	past.origin = a.beginOrigin(ctx, past.address != "", out, labels)
	return past, nil
}

// beginOrigin begins something whose origin is known when it has ended: at the first call of the result. It looks
// for the commit meanwhile; out, which may be empty, is the folder of the files that it writes. It is empty if it is not wanted, so that
// equal runs have equal pages.
func (a *app) beginOrigin(ctx context.Context, wanted bool, out string, labels map[string]string) func() reports.Origin {
	if !wanted {
		return func() reports.Origin { return reports.Origin{} }
	}
	began, source := time.Now(), make(chan history.Origin, 1)
	go func() { source <- a.origin(ctx, out, labels) }()
	return sync.OnceValue(func() reports.Origin {
		return reports.Origin{Began: began.UTC().Round(0), Ended: time.Now().UTC(), By: a.user(), Origin: <-source}
	})
}

// storePast stores a run whose files are committed; file is the recording, or the result of an experiment. It prints
// errors as warnings, because the folder can be imported later.
func (a *app) storePast(ctx context.Context, past pastRun, e history.Entry, out *atomicdir.Folder, file string) {
	if past.address == "" {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTime)
	defer cancel()
	if err := past.store(ctx, &e, out, file); err != nil {
		fmt.Fprintf(a.stderr, "warning: this run is not in the history: %v\nadd it later with: %s\n", err,
			format.ShellLine("rehearse", "history", "import", out.Path()))
	}
}

// writeNote writes when and how a result was made beside its file. An error is a warning.
func (a *app) writeNote(out *atomicdir.Folder, file string, from reports.Origin) {
	if from.Began.IsZero() {
		return
	}
	if err := rundir.WriteNote(out, file, from, &history.Run{}); err != nil {
		fmt.Fprintf(a.stderr, "warning: later reports will have no date and command: %v\n", err)
	}
}

func (p pastRun) store(ctx context.Context, e *history.Entry, out *atomicdir.Folder, file string) error {
	e.Kind = p.kind
	if err := rundir.WriteNote(out, file, p.origin(), &e.Run); err != nil {
		return err
	}
	st, err := createHistory(ctx, p.address)
	if err != nil {
		return err
	}
	_, err = st.Add(ctx, e, true)
	return errors.Join(err, st.Close())
}

// requiredHistory is historyAddress for a command that needs a history.
func (a *app) requiredHistory(flag string) (string, error) {
	address := a.historyAddress(flag)
	if address == "" {
		return "", usage(errors.New("the history is switched off (none); name one with --history"))
	}
	return address, nil
}

// openHistory opens the history for reading.
func (a *app) openHistory(ctx context.Context, flag string) (*store.Store, error) {
	address, err := a.requiredHistory(flag)
	if err != nil {
		return nil, err
	}
	st, err := store.OpenExisting(ctx, address, time.Now)
	switch {
	case errors.Is(err, store.ErrNone):
		return nil, usage(fmt.Errorf("%w; rehearse run writes it, and rehearse history import adds earlier runs", err))
	case err != nil:
		return nil, noVerdict(err)
	}
	return st, nil
}

// closeHistory closes a history. Its changes are committed.
func closeHistory(st *store.Store) { _ = st.Close() }

// pastEntry returns a run of the history with its results.
func (a *app) pastEntry(ctx context.Context, address, name string) (e history.Entry, err error) {
	st, err := a.openHistory(ctx, address)
	if err != nil {
		return e, err
	}
	defer closeHistory(st)
	run, err := findRun(ctx, st, name)
	if err != nil {
		return e, err
	}
	if e, err = st.Entry(ctx, run.ID); err != nil {
		return e, noVerdict(err)
	}
	return e, nil
}

// findRun returns the run with a name; see history.ParseRef. It ignores runs in the future, which a
// wrong clock made, unless they are named by their id.
func findRun(ctx context.Context, st *store.Store, word string) (run history.Run, err error) {
	ref, err := history.ParseRef(word)
	if err != nil {
		return run, usage(err)
	}
	f := history.Filter{ID: ref.ID, Commit: ref.Commit, Branch: ref.Branch, Skip: ref.Back, Limit: 1}
	if ref.ID != "" {
		f.Limit = 2
	} else {
		f.Until = time.Now().Add(store.Skew)
	}
	runs, err := st.Runs(ctx, f)
	switch {
	case err != nil:
		return run, noVerdict(err)
	case len(runs) > 1:
		return run, usage(fmt.Errorf("%s is the beginning of several ids, such as %s and %s; write more of it", word, runs[0].ID, runs[1].ID))
	case len(runs) == 1:
		return runs[0], nil
	}
	f.Skip, f.Limit = 0, 0
	all, err := st.Runs(ctx, f)
	if err != nil {
		return run, noVerdict(err)
	}
	if n := len(all); n > 0 {
		return run, usage(fmt.Errorf("%s is not in the history, which has %s of that name; see rehearse history", word, format.Plural(n, "run")))
	}
	return run, usage(fmt.Errorf("%s is not in the history; see rehearse history", word))
}

// shownPath returns a path in the current folder as a relative path, and other paths unchanged.
func shownPath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
