package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/cli"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
)

// shareFlags are the flags of interview share.
type shareFlags struct {
	store, recipient, url string
	days                  int
	answers, latest       bool
}

// maxRecipient is the maximum length of --for in characters.
const maxRecipient = 120

func (a *app) interviewShareCommand() *cobra.Command {
	var flags shareFlags
	cmd := &cobra.Command{
		Use:   "share SESSION|CANDIDATE",
		Short: "Create, list and revoke links to the audit of one interview",
		Long: `share creates a link to the audit of one session, for a candidate who asks for their file, a works council
or an auditor, and prints it, or its token without --url. Whoever has the link sees the audit until it expires,
as a page and as JSON. It neither opens nor changes the interview, and does not contain the session's id.
--answers includes questions and answers. The store keeps only a hash of the token: it is not shown again.
Each use is counted and logged; the audit lists its links.

Exit codes: 0 created, listed or revoked; 2 usage, or there is no such session or link; 3 the store failed.`,
		Example: `  rehearse interview share lea --for "works council" --url https://interviews.example.org
  rehearse interview share 4KQZ --days 30 --answers --for lea
  rehearse interview share list
  rehearse interview share revoke 3f9a1c22b0`,
		Args:              arguments(1, 1, "name one session, or one candidate"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interviewShare(cmd.Context(), args[0], flags)
		},
	}
	a.storeFlag(cmd.PersistentFlags(), &flags.store)
	f := cmd.Flags()
	f.StringVar(&flags.recipient, "for", "", "the recipient, as the audit and the list name it")
	f.IntVar(&flags.days, "days", 7, "days for which the link is valid")
	f.StringVar(&flags.url, "url", "", "address of the server, to print a link")
	f.BoolVar(&flags.answers, "answers", false, "include questions and answers")
	f.BoolVar(&flags.latest, "latest", false, "take the newest of several sessions of a candidate")
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the links to audits, newest first",
		Long: "list prints the links with their session, use and state, without their tokens.\n\n" +
			"Exit codes: 0 listed; 2 usage, or there is no such store; 3 the store could not be read.",
		Args: arguments(0, 0, "list takes no arguments"), Example: "  rehearse interview share list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.interviewShares(cmd.Context(), flags.store, asJSON)
		},
	}
	jsonFlag(list.Flags(), &asJSON, "the links")
	cmd.AddCommand(list, &cobra.Command{
		Use: "revoke LINK", Short: "End a link to an audit",
		Long: "revoke ends a link, so that it opens no audit from now on.\n\n" +
			"Exit codes: 0 revoked; 2 usage, or there is no such link; 3 the store failed.",
		Args: arguments(1, 1, "name one link, as list prints it"), Example: "  rehearse interview share revoke 3f9a1c22b0",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interviewUnshare(cmd.Context(), flags.store, args[0])
		},
	})
	return cmd
}

// maxShareDays is the maximum of --days.
const maxShareDays = 3650

func (a *app) interviewShare(ctx context.Context, word string, flags shareFlags) error {
	switch {
	case flags.days < 1 || flags.days > maxShareDays:
		return usage(fmt.Errorf("--days must be from 1 to %d, got %d", maxShareDays, flags.days))
	case !utf8.ValidString(flags.recipient) || utf8.RuneCountInString(flags.recipient) > maxRecipient:
		return usage(fmt.Errorf("--for must have at most %d characters", maxRecipient))
	}
	st, found, err := a.existingSession(ctx, flags.store, word, flags.latest)
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }()
	token, now := rand.Text(), clock.Real().Now()
	share := session.Share{
		Hash: session.HashShare(token), Session: found.ID, For: sanitize.Line(flags.recipient, 0), Texts: flags.answers,
		Created: now, Expires: now.AddDate(0, 0, flags.days),
	}
	if err := st.Share(ctx, share); err != nil {
		return noVerdict(err)
	}
	if flags.url != "" {
		token = strings.TrimRight(flags.url, "/") + "/audit/" + token
	}
	fmt.Fprintln(a.stdout, token)
	fmt.Fprintf(a.stderr, "link %s to the audit of %s (session %s), valid until %s; it is not shown again\n",
		share.ID(), sanitize.Line(found.Candidate, 0), share.Shown().Session, share.Expires.UTC().Format(time.DateTime+" UTC"))
	return nil
}

func (a *app) interviewShares(ctx context.Context, storeFlag string, asJSON bool) error {
	st, err := cli.Open(ctx, a.storeName(storeFlag))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	all, err := st.Shares(ctx, "")
	if err != nil {
		return noVerdict(err)
	}
	for i := range all {
		all[i] = all[i].Shown()
	}
	if asJSON {
		return a.printJSON(append([]session.Share{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stderr, "no link to an audit")
		return nil
	}
	return cli.PrintShares(a.stdout, all, clock.Real().Now())
}

func (a *app) interviewUnshare(ctx context.Context, storeFlag, word string) error {
	st, err := cli.Open(ctx, a.storeName(storeFlag))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	all, err := st.Shares(ctx, "")
	if err != nil {
		return noVerdict(err)
	}
	i := slices.IndexFunc(all, func(s session.Share) bool { return s.ID() == word })
	if i < 0 {
		return usage(fmt.Errorf("revoke a link: %.80q not found; list them with rehearse interview share list", word))
	}
	if err := st.RevokeShare(ctx, all[i].Hash); err != nil && !errors.Is(err, session.ErrNotFound) {
		return noVerdict(err)
	}
	fmt.Fprintf(a.stderr, "link %s is revoked\n", word)
	return nil
}
