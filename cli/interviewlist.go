package cli

import (
	"context"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// listFlags are the flags of interview sessions.
type listFlags struct {
	store     string
	candidate string
	limit     int
	asJSON    bool
}

func (a *app) interviewSessionsCommand() *cobra.Command {
	var flags listFlags
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the interviews of a store, newest first",
		Long: `sessions lists the interviews of a store. The table has the start of each id, which is enough for
other commands. --json has the whole id: anybody who knows it can take the interview.

Exit codes: 0 listed; 2 usage, or there is no such store; 3 the store could not be read.`,
		Example: `  rehearse interview sessions
  rehearse interview sessions --candidate lea --json`,
		Args: arguments(0, 0, "sessions takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return a.interviewSessions(cmd.Context(), flags) },
	}
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	f.StringVar(&flags.candidate, "candidate", "", "only sessions of this candidate")
	f.IntVar(&flags.limit, "limit", 100, "maximum number of sessions")
	jsonFlag(f, &flags.asJSON, "the sessions")
	return cmd
}

func (a *app) interviewSessions(ctx context.Context, flags listFlags) error {
	if flags.limit < 1 {
		return usage(fmt.Errorf("--limit must be at least 1, got %d", flags.limit))
	}
	st, err := cli.Open(ctx, a.storeName(flags.store))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	list, err := st.List(ctx, session.Listing{Candidate: flags.candidate, Limit: flags.limit})
	if err != nil {
		return noVerdict(fmt.Errorf("list the sessions: %w", err))
	}
	if flags.asJSON {
		if list == nil {
			list = []session.Session{}
		}
		if err := a.printJSON(list); err != nil {
			return noVerdict(fmt.Errorf("print the sessions: %w", err))
		}
		return nil
	}
	if len(list) == 0 {
		fmt.Fprintln(a.stderr, "no session")
		return nil
	}
	return cli.PrintSessions(a.stdout, list)
}

func (a *app) interviewShowCommand() *cobra.Command {
	var storeName string
	var latest bool
	cmd := &cobra.Command{
		Use:   "show SESSION|CANDIDATE",
		Short: "Print the messages of an interview",
		Long: `show prints the messages of a session as plain text. If a candidate has several sessions, name one
by the start of its id, or take the newest with --latest.

Exit codes: 0 printed; 2 usage, the session does not exist, or the candidate has several sessions;
3 the store could not be read.`,
		Example:           "  rehearse interview show lea",
		Args:              arguments(1, 1, "name one session, or one candidate"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interviewShow(cmd.Context(), args[0], storeName, latest)
		},
	}
	a.storeFlag(cmd.Flags(), &storeName)
	cmd.Flags().BoolVar(&latest, "latest", false, "take the newest of several sessions of a candidate")
	return cmd
}

func (a *app) interviewShow(ctx context.Context, word, storeName string, latest bool) error {
	st, found, err := a.existingSession(ctx, storeName, word, latest)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	messages, err := st.Messages(ctx, found.ID)
	if err != nil {
		return noVerdict(fmt.Errorf("read the messages: %w", err))
	}
	return cli.PrintMessages(a.stdout, console.TerminalOf(a.stdout, a.getenv), messages)
}
