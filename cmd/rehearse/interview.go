package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/internal/suggest"
)

// defaultStore keeps interviews where no --store is given.
const defaultStore = "interviews.db"

func (a *app) interviewCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "interview",
		Short: "Conduct interviews with candidates, and look at those there were",
		Long: `interview conducts sequential interviews: one question at a time, no call for a question that is
queued already, no answer lost. Sessions are kept in a store: a file (SQLite) or a PostgreSQL
server. Without --live no model is called; --script plays one.`,
		Example: `  rehearse interview serve --script lea
  rehearse interview take --script lea
  rehearse interview sessions
  rehearse audit lea`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.interviewServeCommand(), a.interviewTakeCommand(), a.interviewSessionsCommand(), a.interviewShowCommand())
	return cmd
}

// storeFlag adds --store.
func (a *app) storeFlag(f *pflag.FlagSet, into *string) {
	f.StringVar(into, "store", "", `where interviews are kept: a file, "memory:" or postgres://user@host/database
(default: REHEARSE_STORE, else `+defaultStore+`)`)
}

// storeName is the store that a flag names, or the environment, or the default.
func (a *app) storeName(flag string) string {
	for _, name := range []string{flag, a.getenv("REHEARSE_STORE")} {
		if name != "" {
			return name
		}
	}
	return defaultStore
}

// existingStore opens a store to look at, which must be there.
func (a *app) existingStore(ctx context.Context, flag string) (*store.Store, error) {
	name := a.storeName(flag)
	if file, ok := storeFile(name); ok {
		if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
			return nil, usage(fmt.Errorf("there is no store %s; name one with --store, or begin with rehearse interview serve", file))
		}
	}
	st, err := store.Open(ctx, name)
	if err != nil {
		return nil, noVerdict(err)
	}
	return st, nil
}

// existingSession opens a store to look at and finds the session that a word
// means in it.
func (a *app) existingSession(ctx context.Context, flag, word string, latest bool) (*store.Store, session.Session, error) {
	st, err := a.existingStore(ctx, flag)
	if err != nil {
		return nil, session.Session{}, err
	}
	found, err := findSession(ctx, st, word, latest)
	if err != nil {
		_ = st.Close() // it was only read
		return nil, session.Session{}, err
	}
	return st, found, nil
}

// storeFile is the file of a store that is kept in one.
func storeFile(name string) (file string, ok bool) {
	file = strings.TrimPrefix(name, "sqlite:")
	return file, file != "memory:" && file != ":memory:" && !strings.Contains(file, "://")
}

// maxKnown is how many sessions are looked through for one that is meant.
const maxKnown = 1000

// findSession finds the session that a word means: its id, the start of its id,
// or the id of a candidate with one session. Of one with several it takes the
// newest if latest says so, and else refuses: anybody may begin a session under the
// id of somebody else.
func findSession(ctx context.Context, st session.Store, word string, latest bool) (found session.Session, err error) {
	if strings.TrimSpace(word) == "" {
		return found, usage(errors.New("the name of the session or candidate is empty; see rehearse interview sessions"))
	}
	found, err = st.Load(ctx, word)
	if err == nil || !errors.Is(err, session.ErrNotFound) {
		return found, explainStore(err)
	}
	of, err := st.List(ctx, session.Listing{Candidate: word, Limit: maxKnown})
	switch {
	case err != nil:
		return found, explainStore(err)
	case len(of) == 1, len(of) > 1 && latest:
		return of[0], nil
	case len(of) > 1:
		return found, usage(errors.New(severalSessions(word, of)))
	}
	all, err := st.List(ctx, session.Listing{Limit: maxKnown})
	if err != nil {
		return found, explainStore(err)
	}
	if i, ok := startsWith(all, word); ok {
		return all[i], nil
	}
	return found, unknownSession(word, all)
}

// maxListed is how many sessions an error lists.
const maxListed = 10

// severalSessions lists the sessions of a candidate, newest first.
func severalSessions(candidate string, of []session.Session) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has %d sessions; name one by the start of its id, or take the newest with --latest:", sanitize.Line(candidate, 64), len(of))
	for _, s := range of[:min(len(of), maxListed)] {
		fmt.Fprintf(&b, "\n  %s  began %s, %s %s, %s", sanitize.Line(s.ID, shownID), s.Created.UTC().Format("2006-01-02 15:04"),
			shortStep(s.Step), s.Phase, plural(s.Messages, "message"))
	}
	if len(of) > maxListed {
		fmt.Fprintf(&b, "\n  and %d more: rehearse interview sessions --candidate %s", len(of)-maxListed, sanitize.Line(candidate, 64))
	}
	return b.String()
}

// minPrefix is how much of an id must be given.
const minPrefix = 4

// startsWith finds the one session whose id begins with a word.
func startsWith(all []session.Session, word string) (int, bool) {
	if len(word) < minPrefix {
		return 0, false
	}
	is := func(s session.Session) bool { return strings.HasPrefix(s.ID, word) }
	first := slices.IndexFunc(all, is)
	return first, first >= 0 && !slices.ContainsFunc(all[first+1:], is)
}

func explainStore(err error) error {
	if err == nil {
		return nil
	}
	return noVerdict(fmt.Errorf("look for the session: %w", err))
}

// unknownSession says what there is instead of a session.
func unknownSession(word string, all []session.Session) error {
	if len(all) == 0 {
		return usage(fmt.Errorf("there is no session %.80q: the store is empty", word))
	}
	var candidates, ids []string
	for _, s := range all {
		ids = append(ids, s.ID)
		if !slices.Contains(candidates, s.Candidate) {
			candidates = append(candidates, s.Candidate)
		}
	}
	if nearest := suggest.Nearest(word, append(candidates, ids...)); nearest != "" {
		return usage(fmt.Errorf("there is no session and no candidate %.80q (did you mean %q?)", word, nearest))
	}
	return usage(fmt.Errorf("there is no session and no candidate %.80q; the newest is that of %q (see rehearse interview sessions)",
		word, all[0].Candidate))
}

// completeSessions offers the candidates of the store.
func (a *app) completeSessions(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	const none = cobra.ShellCompDirectiveNoFileComp
	flag, err := cmd.Flags().GetString("store")
	if err != nil || len(args) > 0 {
		return nil, none
	}
	st, err := a.existingStore(cmd.Context(), flag)
	if err != nil {
		return nil, none
	}
	defer func() { _ = st.Close() }()
	all, err := st.List(cmd.Context(), session.Listing{Limit: maxKnown})
	if err != nil {
		return nil, none
	}
	var words []string
	for _, s := range all {
		words = append(words, s.Candidate)
	}
	slices.Sort(words)
	return slices.Compact(words), none
}
