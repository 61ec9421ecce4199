package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/export"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/atomicdir"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/input"
)

// exportFlags are the flags of interview export.
type exportFlags struct {
	store, out string
	text       bool
	latest     bool
}

func (a *app) interviewExportCommand() *cobra.Command {
	var flags exportFlags
	cmd := &cobra.Command{
		Use:   "export SESSION|CANDIDATE",
		Short: "Export the data of an interview, for the candidate",
		Long: `export writes the messages and answers of a session, and what was read from them, as JSON or as plain
text. It leaves out the session's id, which opens the interview, and the ledger of calls (see rehearse
audit). A new file of --out is readable only by its owner; an existing one is replaced as a whole.

Exit codes: 0 exported; 2 usage, the session does not exist, or the candidate has several sessions;
3 the store could not be read, or the file not be written.`,
		Example: `  rehearse interview export lea --text
  rehearse interview export 4KQZ --out lea.json`,
		Args:              arguments(1, 1, "name one session, or one candidate"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interviewExport(cmd.Context(), args[0], flags)
		},
	}
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	f.BoolVar(&flags.text, "text", false, "write plain text instead of JSON")
	f.StringVarP(&flags.out, "out", "o", "", "file to write (default: standard output)")
	f.BoolVar(&flags.latest, "latest", false, "take the newest of several sessions of a candidate")
	return cmd
}

func (a *app) interviewExport(ctx context.Context, word string, flags exportFlags) error {
	st, found, err := a.existingSession(ctx, flags.store, word, flags.latest)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // it was only read
	data, err := export.Read(ctx, st, found.ID)
	if err != nil {
		return noVerdict(err)
	}
	write := data.JSON
	if flags.text {
		write = data.Text
	}
	if flags.out == "" {
		err = write(a.stdout)
	} else if err = atomicdir.ReplaceWith(flags.out, write); err == nil {
		fmt.Fprintln(a.stderr, "wrote", flags.out)
	}
	if err != nil {
		return noVerdict(fmt.Errorf("export the interview: %w", err))
	}
	return nil
}

// deleteFlags are the flags of interview delete.
type deleteFlags struct {
	store, candidate, olderThan string
	latest, yes                 bool
}

func (a *app) interviewDeleteCommand() *cobra.Command {
	var flags deleteFlags
	cmd := &cobra.Command{
		Use:   "delete [SESSION]",
		Short: "Delete interviews, or those that were not used for long",
		Long: `delete removes all data of a session, of all sessions of a candidate, or of the sessions that were not
used for a time. It lists them and asks first; without a terminal it requires --yes. A server may use
the store at the same time.

What remains is a hash of each session's id, so that the id is never used again, and the sums of the
calls by day and model (see rehearse interview costs). A file of SQLite is overwritten with zeros where
the data was, and its log is emptied. PostgreSQL frees the space at its next VACUUM, and keeps the data in
its write-ahead log and backups as long as these exist. Neither reaches copies and backups of your own.

Exit codes: 0 deleted, or there was nothing to delete; 1 not confirmed; 2 usage, the session does not
exist, or it is not clear which one is meant; 3 the store failed.`,
		Example: `  rehearse interview delete 4KQZ
  rehearse interview delete --candidate lea --yes
  rehearse interview delete --older-than 90d --yes`,
		Args:              arguments(0, 1, "name one session"),
		ValidArgsFunction: a.completeSessions,
		RunE:              func(cmd *cobra.Command, args []string) error { return a.interviewDelete(cmd.Context(), args, flags) },
	}
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	f.StringVar(&flags.candidate, "candidate", "", "delete all sessions of this candidate")
	f.StringVar(&flags.olderThan, "older-than", "", "delete the sessions that were last used before, such as 90d or 12h")
	f.BoolVar(&flags.latest, "latest", false, "take the newest of several sessions of a candidate")
	f.BoolVarP(&flags.yes, "yes", "y", false, "do not ask")
	cmd.MarkFlagsMutuallyExclusive("latest", "candidate")
	cmd.MarkFlagsMutuallyExclusive("latest", "older-than")
	return cmd
}

func (a *app) interviewDelete(ctx context.Context, args []string, flags deleteFlags) error {
	var unusedSince time.Time
	switch {
	case len(args) == 0 && flags.candidate == "" && flags.olderThan == "":
		return usage(errors.New("name a session, or select sessions with --candidate or --older-than"))
	case len(args) > 0 && (flags.candidate != "" || flags.olderThan != ""):
		return usage(errors.New("name a session, or select sessions with --candidate and --older-than, but not both"))
	case !flags.yes && !a.atTerminal():
		return usage(errors.New("standard input is not a terminal to confirm the deletion; use --yes"))
	case flags.olderThan != "":
		oldest, err := age(flags.olderThan)
		if err != nil {
			return usage(fmt.Errorf("--older-than: %w", err))
		}
		unusedSince = clock.Real().Now().Add(-oldest)
	}
	st, err := cli.Open(ctx, a.storeName(flags.store))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	found, err := selectSessions(ctx, st, args, flags, unusedSince)
	if err != nil {
		return interviewError(err)
	}
	if len(found) == 0 {
		fmt.Fprintln(a.stderr, "no session to delete")
		return nil
	}
	if err := cli.PrintSessions(a.stderr, found); err != nil {
		return noVerdict(err)
	}
	if !flags.yes {
		fmt.Fprintf(a.stderr, "Delete %s with all messages and answers? This cannot be undone. [y/N] ", format.Plural(len(found), "session"))
		if answer, err := readAnswer(ctx, input.Lines(a.stdin)); err != nil || answer != "y" && answer != "yes" {
			return &exitError{exitFail, errors.New("nothing was deleted")}
		}
	}
	return a.deleteSessions(ctx, st, found)
}

func selectSessions(
	ctx context.Context, st session.Store, args []string, flags deleteFlags, unusedSince time.Time,
) ([]session.Session, error) {
	if len(args) == 0 {
		return cli.All(ctx, st, flags.candidate, unusedSince)
	}
	one, err := cli.Find(ctx, st, args[0], flags.latest)
	return []session.Session{one}, err
}

// deleteSessions deletes sessions; those that were deleted in the meantime do not count.
func (a *app) deleteSessions(ctx context.Context, st session.Store, found []session.Session) error {
	deleted := 0
	for _, s := range found {
		err := session.Erase(ctx, st, s.ID)
		if err != nil && !errors.Is(err, session.ErrNotFound) {
			return noVerdict(fmt.Errorf("%w (%d of %d were deleted before)", err, deleted, len(found)))
		}
		if err == nil {
			deleted++
		}
	}
	fmt.Fprintf(a.stderr, "deleted %s\n", format.Plural(deleted, "session"))
	return nil
}

func (a *app) interviewCostsCommand() *cobra.Command {
	var storeName string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "costs",
		Short: "Print the calls, tokens and costs of a store by day",
		Long: `costs sums the ledgers of all sessions by day, model and currency, including those of deleted sessions,
of which only these sums are kept. Unpriced calls have no known cost, such as calls that were lost in a
crash or were in progress when their session was deleted.

Exit codes: 0 printed; 2 usage, or there is no such store; 3 the store could not be read.`,
		Example: `  rehearse interview costs
  rehearse interview costs --json`,
		Args: arguments(0, 0, "costs takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			st, err := cli.Open(cmd.Context(), a.storeName(storeName))
			if err != nil {
				return interviewError(err)
			}
			defer func() { _ = st.Close() }()
			costs, err := cli.CostsOf(cmd.Context(), st)
			if err != nil {
				return interviewError(err)
			}
			if asJSON {
				err = a.printJSON(costs)
			} else {
				err = costs.Print(a.stdout)
			}
			if err != nil {
				return noVerdict(fmt.Errorf("print the costs: %w", err))
			}
			return nil
		},
	}
	a.storeFlag(cmd.Flags(), &storeName)
	jsonFlag(cmd.Flags(), &asJSON, "the costs")
	return cmd
}
