package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/rehearse-dev/rehearse/agents/interview/audit"
	"github.com/rehearse-dev/rehearse/agents/interview/kind"
	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/reports/doc"
	"github.com/rehearse-dev/rehearse/reports/rundir"
)

const auditExitCodes = `Exit codes:
  0    written, and every check passes; scenarios of a run may have failed
  1    written, and the data is inconsistent, or files of the run were changed
  2    usage: the session or store does not exist, or the candidate has several sessions
  3    the store could not be read, or the files not be written`

// auditFlags are the flags of audit.
type auditFlags struct {
	store   string
	out     string
	prices  string
	answers bool
	asJSON  bool
	latest  bool
	key     string
}

func (a *app) auditCommand() *cobra.Command {
	var flags auditFlags
	cmd := &cobra.Command{
		Use:   "audit RUN|SESSION|CANDIDATE",
		Short: "Audit a run, or an interview: who ran what, at which cost, and is it intact?",
		Long: `audit of the folder of a run shows on one page what was run, when, by whom and from which commit, with
which program, prices and settings; what was skipped, and what changed since the baseline and in which commits; and
whether the files are as they were when the run ended. It writes run_audit_ID.json and .html, and starts nothing.
--key checks who signed the run (rehearse run --sign).

Without such a folder, audit reads one session of an interview and writes session_audit_CANDIDATE.json and an HTML page with the same
content, which needs neither network nor scripts. It checks that messages, answers, queues and calls
agree with each other. If a candidate has several sessions, name one by the start of its id, or take
the newest with --latest: anybody may start a session under a candidate's id. The files of such a
candidate are named session_audit_CANDIDATE+SESSION. The session is only read, and may continue
meanwhile.

Questions and answers are left out; --answers includes them, and only the owner can then read the files.
Most of the session's id, which opens the interview, is left out in any case. To give somebody the audit
of one interview as a link, use "rehearse interview share".

` + auditExitCodes,
		Example: `  rehearse audit rehearse-runs/20261123-101500
  rehearse audit release --key release-key.pub --json
  rehearse audit lea
  rehearse audit lea --answers --out private
  rehearse audit 4KQZ --store postgres://axiom@db/interviews --json`,
		Args:              arguments(1, 1, "name the folder of one run, one session, or one candidate"),
		ValidArgsFunction: a.completeSessions,
		RunE: func(cmd *cobra.Command, args []string) error {
			if recording := runToAudit(args[0]); recording != "" {
				return a.auditRun(cmd.Context(), recording, flags)
			}
			if _, err := os.Stat(rundir.File(args[0], rundir.ExperimentFile)); err == nil {
				return usage(fmt.Errorf("%s has an experiment, and audit takes a run; see rehearse report %[1]s", args[0]))
			}
			return a.audit(cmd.Context(), args[0], flags)
		},
	}
	f := cmd.Flags()
	a.storeFlag(f, &flags.store)
	f.StringVarP(&flags.out, "out", "o", runsFolder, "folder for the files")
	f.BoolVar(&flags.answers, "answers", false, "include questions and answers")
	f.StringVar(&flags.prices, "prices", "", "a price file whose exchange rate overrides the shipped one")
	f.BoolVar(&flags.latest, "latest", false, "take the newest of several sessions of a candidate")
	f.StringVar(&flags.key, "key", "", "a `file` with the public key, or the allowed signers, that must have signed the run")
	jsonFlag(f, &flags.asJSON, "the audit")
	return cmd
}

func (a *app) audit(ctx context.Context, word string, flags auditFlags) error {
	options, err := auditOptions(flags.prices)
	if err != nil {
		return usage(err)
	}
	options.Texts = flags.answers
	st, found, err := a.existingSession(ctx, flags.store, word, flags.latest)
	if exit, ok := errors.AsType[*exitError](err); ok && exit.code == exitUsage {
		exit.err = fmt.Errorf("there is no run in a folder %s, and no such interview: %w", word, exit.err)
	}
	if err != nil {
		return err
	}
	defer func() { _ = st.Close() }() // it was only read
	data, err := audit.Read(ctx, st, found.ID)
	if err != nil {
		return noVerdict(err)
	}
	result := audit.Of(data, options)
	others, err := st.List(ctx, session.Listing{Candidate: found.Candidate, Limit: 2})
	if err != nil {
		return noVerdict(fmt.Errorf("look for the session: %w", err))
	}
	files, err := kind.WriteAudit(flags.out, result, len(others) > 1)
	if err != nil {
		return noVerdict(err)
	}
	if flags.asJSON {
		err = audit.JSON(a.stdout, result)
	} else {
		err = doc.Terminal(a.stdout, kind.AuditDocument(result), console.TerminalOf(a.stdout, a.getenv))
	}
	if err != nil {
		return noVerdict(fmt.Errorf("print the audit: %w", err))
	}
	for _, file := range files {
		fmt.Fprintln(a.stderr, "wrote", file)
	}
	if result.Verdict == audit.Fail {
		return quiet(exitFail)
	}
	return nil
}

// auditOptions returns the options of an audit without texts. It redacts the secrets of this
// process's environment.
func auditOptions(prices string) (audit.Options, error) {
	table, err := priceTable(prices)
	if err != nil {
		return audit.Options{}, err
	}
	return audit.Options{
		Price:     table.Pricer(""),
		EURPerUSD: table.EURPerUSD, RateDate: table.RateDate, PriceDate: table.Date, Redact: redactor().Text,
	}, nil
}

// auditOf returns a function that writes audits for the server, with texts only for a share with texts.
func (a *app) auditOf(
	st session.Store, options audit.Options,
) func(context.Context, io.Writer, string, bool, *session.Share) error {
	return func(ctx context.Context, w io.Writer, id string, html bool, share *session.Share) error {
		data, err := audit.Read(ctx, st, id)
		if err != nil {
			return err
		}
		options := options
		options.Share, options.Texts = share, share != nil && share.Texts
		if html {
			return kind.AuditPage(w, audit.Of(data, options))
		}
		return audit.JSON(w, audit.Of(data, options))
	}
}
