package cli

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/console"
	"github.com/rehearse-dev/rehearse/internal/format"
	"github.com/rehearse-dev/rehearse/internal/sanitize"
	"github.com/rehearse-dev/rehearse/llm"
)

// shownID is the length of a session's id in a table.
const shownID = 9

// PrintSessions prints a table of sessions.
func PrintSessions(out io.Writer, list []session.Session) error {
	w := console.Table(2, 5, 6, 7)
	w.AppendHeader(table.Row{"candidate", "", "step", "status", "messages", "calls", "EUR", "changed (UTC)", "session"})
	for i := range list {
		s := &list[i]
		cost := format.Money(s.Spent.Amount)
		if s.Unpriced > 0 {
			cost = "unknown"
		}
		w.AppendRow(table.Row{
			console.Middle(sanitize.Line(s.Candidate, 0), 16), s.Language, shortStep(s.Step), s.Status(),
			s.Messages, s.Calls, cost, s.Updated.UTC().Format("2006-01-02 15:04"), sanitize.Line(s.ID, shownID),
		})
	}
	_, err := fmt.Fprintln(out, w.Render())
	return err
}

// shortStep returns a step's name without its sorting prefix.
func shortStep(s session.Step) string {
	rest, ok := strings.CutPrefix(string(s), "STEP_")
	if !ok {
		return string(s)
	}
	return rest[min(len("01_"), len(rest)):]
}

// PrintMessages prints the messages of a session as plain text.
func PrintMessages(out io.Writer, term console.Terminal, messages []session.Message) error {
	for i, m := range messages {
		gap := "\n"
		if i == 0 {
			gap = ""
		}
		if _, err := fmt.Fprintf(out, "%s%s\n%s\n", gap, term.Paint(console.Faint, heading(m)), sanitize.Text(m.Text, 0)); err != nil {
			return err
		}
	}
	return nil
}

// heading returns the line above a message, with its author, subject and time.
func heading(m session.Message) string {
	who := "interviewer"
	if m.Role == llm.User {
		who = "candidate"
	}
	what := string(m.Kind)
	if m.Question >= 0 {
		what = fmt.Sprintf("%s %d", m.Kind, m.Question+1)
	}
	return fmt.Sprintf("[%d] %s, %s, %s, %s", m.Seq, who, m.Step, what, m.At.UTC().Format(time.DateTime))
}

// PrintInvitations prints a table of invitations.
func PrintInvitations(out io.Writer, all []session.Invitation, now time.Time) error {
	w := console.Table(4)
	w.AppendHeader(table.Row{"invitation", "candidate", "job", "used", "state", "expires (UTC)"})
	for _, i := range all {
		w.AppendRow(table.Row{
			i.ID(), sanitize.Line(i.Candidate, 64), sanitize.Line(i.Job, 64), fmt.Sprintf("%d of %d", i.Used, i.Uses), i.State(now),
			i.Expires.UTC().Format("2006-01-02 15:04"),
		})
	}
	_, err := fmt.Fprintln(out, w.Render())
	return err
}

// PrintShares prints a table of links to audits.
func PrintShares(out io.Writer, all []session.Share, now time.Time) error {
	w := console.Table(6)
	w.AppendHeader(table.Row{"link", "session", "for", "answers", "state", "opened", "expires (UTC)"})
	for _, s := range all {
		answers := "no"
		if s.Texts {
			answers = "yes"
		}
		w.AppendRow(table.Row{
			s.ID(), s.Session, console.Middle(sanitize.Line(s.For, 0), 24), answers, s.State(now), s.Opened,
			s.Expires.UTC().Format("2006-01-02 15:04"),
		})
	}
	_, err := fmt.Fprintln(out, w.Render())
	return err
}
