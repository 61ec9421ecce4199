package cli

import (
	"context"
	"fmt"
	"net/url"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/sessionlist"
	"github.com/rehearse-dev/rehearse/internal/console"
)

// listFlags are the flags of interview sessions.
type listFlags struct {
	store   string
	filters url.Values
	limit   int
	format  string
}

// maxSessions is the maximum of --limit.
const maxSessions = 10_000_000

func (a *app) interviewSessionsCommand() *cobra.Command {
	flags := listFlags{filters: url.Values{}}
	cmd := &cobra.Command{
		Use:   "sessions",
		Short: "List the interviews of a store, newest first",
		Long: `sessions lists the interviews of a store. The table and CSV have the start of each id, which is
enough for other commands. --json has the whole id: anybody who knows it can take the interview.

A status is open (waits for the candidate), owing (the server writes), stuck (its calls failed),
limited (the session has reached a limit) or finished. Costs are in EUR; a cost that is not known
stays empty in CSV, and spent_eur contains an estimate. CSV is safe for spreadsheets: a text that
could be a formula begins with an apostrophe.

Exit codes: 0 listed; 2 usage, or there is no such store; 3 the store could not be read.`,
		Example: `  rehearse interview sessions
  rehearse interview sessions --state stuck --sort longest
  rehearse interview sessions --from 2026-11-01 --to 2026-11-30 --format csv > november.csv`,
		Args: arguments(0, 0, "sessions takes no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if flags.format == formatCSV && !cmd.Flags().Changed("limit") {
				flags.limit = maxSessions
			}
			return a.interviewSessions(cmd.Context(), flags)
		},
	}
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	for _, filter := range []struct{ name, usage string }{
		{"candidate", "only sessions of this `candidate`"},
		{"job-id", "only sessions about the job with this `id`"},
		{"invitation", "only sessions that this `invitation` began, as invite list prints it"},
		{"state", "only sessions in this `state`: open, owing, stuck, limited, finished"},
		{"from", "only sessions that began on this `day` (UTC, 2026-01-31) or later"},
		{"to", "only sessions that began on this `day` (UTC) or earlier"},
		{"min-cost", "only sessions that have spent at least this `amount` in EUR"},
		{"max-cost", "only sessions that have spent at most this `amount` in EUR"},
		{"sort", "`order`: newest, oldest, latest, longest (since the last change), dearest (default newest)"},
	} {
		f.Func(filter.name, filter.usage, func(value string) error {
			field := filter.name
			switch field {
			case "state":
				field = "status" // supervise has another --status
			case "job-id":
				field = "job" // check has another --job
			}
			flags.filters.Set(field, value)
			_, err := sessionlist.Read(url.Values{field: {value}}, maxSessions)
			return err
		})
	}
	complete(cmd, "state", textsOf(session.Statuses())...)
	complete(cmd, "sort", textsOf(session.Sorts())...)
	f.IntVar(&flags.limit, "limit", 100, "maximum number of sessions; without it CSV has all")
	formatFlag(cmd, &flags.format, "the sessions", formatTerminal, formatCSV)
	return cmd
}

func textsOf[T ~string](list []T) (texts []string) {
	for _, v := range list {
		texts = append(texts, string(v))
	}
	return texts
}

func (a *app) interviewSessions(ctx context.Context, flags listFlags) error {
	if flags.limit < 1 {
		return usage(fmt.Errorf("--limit must be at least 1, got %d", flags.limit))
	}
	l, err := sessionlist.Read(flags.filters, maxSessions)
	if err != nil {
		return usage(err)
	}
	l.Limit = flags.limit
	st, err := cli.Open(ctx, a.storeName(flags.store))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	pages := sessionlist.Pages(l, func(l session.Listing) ([]session.Session, error) { return st.List(ctx, l) })
	if flags.format == formatCSV {
		if err := sessionlist.CSV(a.stdout, pages); err != nil {
			return noVerdict(fmt.Errorf("export the sessions: %w", err))
		}
		return nil
	}
	list := []session.Session{}
	for page, err := pages(); len(page) > 0 || err != nil; page, err = pages() {
		if err != nil {
			return noVerdict(fmt.Errorf("list the sessions: %w", err))
		}
		list = append(list, page...)
	}
	if flags.format == formatJSON {
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
