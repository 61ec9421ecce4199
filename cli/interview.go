package cli

import (
	"context"
	"errors"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
)

// defaultStore keeps interviews without --store.
const defaultStore = "interviews.db"

func (a *app) interviewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interview",
		Short: "Conduct interviews with candidates, and inspect earlier ones",
		Long: `interview conducts sequential interviews: one question at a time, no call for a question that is
queued already, no answer lost. Sessions are kept in a store: a file (SQLite) or a PostgreSQL
server. Without --live no model is called; --script plays one.`,
		Example: `  rehearse interview serve --script lea
  rehearse interview take --script lea
  rehearse interview sessions
  rehearse interview delete --older-than 90d
  rehearse audit lea`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.interviewServeCommand(), a.interviewTakeCommand(), a.interviewSessionsCommand(), a.interviewShowCommand(),
		a.interviewExportCommand(), a.interviewDeleteCommand(), a.interviewCostsCommand(),
		a.interviewInviteCommand(), a.interviewShareCommand(), a.interviewCheckCommand(), a.interviewPromptsCommand())
	return cmd
}

// storeFlag adds --store.
func (a *app) storeFlag(f *pflag.FlagSet, into *string) {
	f.StringVar(into, "store", "", `where interviews are kept: a file, "memory:" or postgres://user@host/database
(default: REHEARSE_STORE, else `+defaultStore+`)`)
}

// storeName returns the store of the flag, the environment, or the default.
func (a *app) storeName(flag string) string {
	for _, name := range []string{flag, a.getenv("REHEARSE_STORE")} {
		if name != "" {
			return name
		}
	}
	return defaultStore
}

// existingSession opens a store for reading and finds a session by a word.
func (a *app) existingSession(ctx context.Context, flag, word string, latest bool) (*store.Store, session.Session, error) {
	st, err := cli.Open(ctx, a.storeName(flag))
	if err != nil {
		return nil, session.Session{}, interviewError(err)
	}
	found, err := cli.Find(ctx, st, word, latest)
	if err != nil {
		_ = st.Close() // it was only read
		return nil, session.Session{}, interviewError(err)
	}
	return st, found, nil
}

// interviewError gives an error its exit code: usage, unless a store fails.
func interviewError(err error) error {
	if _, ok := errors.AsType[*cli.StoreError](err); ok {
		return noVerdict(err)
	}
	return usage(err)
}

// completeSessions completes the candidates of the store.
func (a *app) completeSessions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	flag, err := cmd.Flags().GetString("store")
	if err != nil || len(args) > 0 {
		return nil, none
	}
	st, err := cli.Open(cmd.Context(), a.storeName(flag))
	if err != nil {
		return nil, none
	}
	defer func() { _ = st.Close() }()
	names, err := cli.Candidates(cmd.Context(), st)
	if err != nil {
		return nil, none
	}
	return names, none
}
