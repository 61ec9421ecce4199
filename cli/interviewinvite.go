package cli

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview"
	"github.com/rehearse-dev/rehearse/agents/interview/cli"
	"github.com/rehearse-dev/rehearse/agents/interview/prompt"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/agents/interview/store"
	"github.com/rehearse-dev/rehearse/clock"
)

// inviteFlags are the flags of interview invite.
type inviteFlags struct {
	store, candidate, job, expires, url string
	uses                                int
}

func (a *app) interviewInviteCommand() *cobra.Command {
	var flags inviteFlags
	cmd := &cobra.Command{
		Use:   "invite",
		Short: "Create, list and revoke invitations, with which interviews begin",
		Long: `invite creates an invitation and prints its link, or its token without --url. The store keeps only
a hash: the token is not shown again. A token begins --uses interviews until it expires. With --candidate
its interviews belong to that candidate, and "rehearse audit CANDIDATE" finds them even if somebody
else begins interviews with the same id. With --job-id it begins interviews about that job only.

Exit codes: 0 created, listed or revoked; 2 usage, or there is no such invitation; 3 the store failed.`,
		Example: `  rehearse interview invite --candidate lea --url https://interviews.example.org
  rehearse interview invite --job-id night-nurse --uses 20 --expires 7d
  rehearse interview invite list
  rehearse interview invite revoke 3f9a1c22b0`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.interviewInvite(cmd.Context(), flags) },
	}
	a.storeFlag(cmd.PersistentFlags(), &flags.store)
	f := cmd.Flags()
	f.StringVar(&flags.candidate, "candidate", "", "the candidate's id (default: the client chooses)")
	f.StringVar(&flags.job, "job-id", "", "`id` of the job that its interviews are about (default: the client chooses)")
	f.IntVar(&flags.uses, "uses", 1, "interviews that it may begin")
	f.StringVar(&flags.expires, "expires", "30d", "time after which it expires, such as 12h or 30d")
	f.StringVar(&flags.url, "url", "", "address of the server, to print a link")
	var asJSON bool
	list := &cobra.Command{
		Use: "list", Short: "List the invitations, newest first",
		Long: "list prints the invitations with their uses and state, without their tokens.\n\n" +
			"Exit codes: 0 listed; 2 usage, or there is no such store; 3 the store could not be read.",
		Args:    arguments(0, 0, "list takes no arguments"),
		Example: "  rehearse interview invite list --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.interviewInvitations(cmd.Context(), flags.store, asJSON)
		},
	}
	jsonFlag(list.Flags(), &asJSON, "the invitations")
	cmd.AddCommand(list, &cobra.Command{
		Use: "revoke INVITATION", Short: "End an invitation; interviews that it began continue",
		Long: "revoke ends an invitation, so that it begins no more interviews. Those that it began continue.\n\n" +
			"Exit codes: 0 revoked; 2 usage, or there is no such invitation; 3 the store failed.",
		Args: arguments(1, 1, "name one invitation, as list prints it"), Example: "  rehearse interview invite revoke 3f9a1c22b0",
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.interviewRevoke(cmd.Context(), flags.store, args[0])
		},
	})
	return cmd
}

func (a *app) interviewInvite(ctx context.Context, flags inviteFlags) error {
	valid, err := age(flags.expires)
	switch {
	case err != nil:
		return usage(fmt.Errorf("--expires: %w", err))
	case valid <= 0 || flags.uses < 1:
		return usage(errors.New("--expires must be more than 0, and --uses at least 1"))
	case flags.candidate != "" && !interview.ValidCandidate(flags.candidate):
		return usage(fmt.Errorf(`--candidate %.80q must be 1 to 64 letters, digits, ".", "_" or "-", and begin with a letter or a digit`,
			flags.candidate))
	case flags.job != "" && !prompt.ValidJobID(flags.job):
		return usage(fmt.Errorf(`--job-id %.80q must be the id of a job: 1 to 64 lowercase letters, digits, "-" and "_"`, flags.job))
	}
	st, err := store.Open(ctx, a.storeName(flags.store)) // also before the first server
	if err != nil {
		return noVerdict(err)
	}
	defer func() { _ = st.Close() }()
	token, now := rand.Text(), clock.Real().Now()
	invitation := session.Invitation{
		Hash: session.HashInvitation(token), Candidate: flags.candidate, Job: flags.job, Uses: flags.uses, Created: now, Expires: now.Add(valid),
	}
	if err := st.Invite(ctx, invitation); err != nil {
		return noVerdict(err)
	}
	if flags.url != "" {
		path := "/"
		if flags.job != "" {
			path = "/jobs/" + flags.job
		}
		token = strings.TrimRight(flags.url, "/") + path + "?invite=" + token
	}
	fmt.Fprintln(a.stdout, token)
	fmt.Fprintf(a.stderr, "invitation %s, valid until %s; it is not shown again\n",
		invitation.ID(), invitation.Expires.UTC().Format(time.DateTime+" UTC"))
	return nil
}

func (a *app) interviewInvitations(ctx context.Context, storeFlag string, asJSON bool) error {
	st, err := cli.Open(ctx, a.storeName(storeFlag))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	all, err := st.Invitations(ctx)
	if err != nil {
		return noVerdict(err)
	}
	if asJSON {
		return a.printJSON(append([]session.Invitation{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintln(a.stderr, "no invitation")
		return nil
	}
	return cli.PrintInvitations(a.stdout, all, clock.Real().Now())
}

func (a *app) interviewRevoke(ctx context.Context, storeFlag, word string) error {
	st, err := cli.Open(ctx, a.storeName(storeFlag))
	if err != nil {
		return interviewError(err)
	}
	defer func() { _ = st.Close() }()
	all, err := st.Invitations(ctx)
	if err != nil {
		return noVerdict(err)
	}
	for _, i := range all {
		if i.ID() != word && i.Hash != word {
			continue
		}
		if err := st.Revoke(ctx, i.Hash); err != nil {
			return noVerdict(err)
		}
		fmt.Fprintf(a.stderr, "invitation %s is revoked\n", i.ID())
		return nil
	}
	return usage(fmt.Errorf("revoke an invitation: %.80q not found; list them with rehearse interview invite list", word))
}
