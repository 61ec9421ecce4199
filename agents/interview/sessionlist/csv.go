package sessionlist

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Columns are the columns of CSV.
func Columns() []string {
	return []string{
		"session", "candidate", "language", "status", "step", "phase", "failed", "limit", "messages", "calls", "retries", "fallbacks",
		"cost_eur", "spent_eur", "unpriced_calls", "created", "since", "updated", "job", "invitation",
	}
}

// CSV writes the pages of a list as CSV (RFC 4180) with a line of column names. page returns the next
// sessions, and none at the end.
func CSV(w io.Writer, page func() ([]session.Session, error)) error {
	out := csv.NewWriter(w)
	if err := out.Write(Columns()); err != nil {
		return fmt.Errorf("write the list: %w", err)
	}
	for {
		found, err := page()
		if err != nil {
			return err
		}
		for i := range found {
			if err := out.Write(record(&found[i])); err != nil {
				return fmt.Errorf("write the list: %w", err)
			}
		}
		out.Flush()
		if err := out.Error(); err != nil {
			return fmt.Errorf("write the list: %w", err)
		}
		if len(found) == 0 {
			return nil
		}
	}
}

func record(s *session.Session) []string {
	e := Of(s)
	cost := ""
	if e.CostEUR != nil {
		cost = amount(*e.CostEUR)
	}
	return []string{
		cell(session.ShortID(e.ID)), cell(e.Candidate), cell(string(e.Language)),
		string(e.Status), cell(string(e.Step)), cell(string(e.Phase)),
		cell(e.Failed), cell(e.Limit), strconv.Itoa(e.Messages), strconv.Itoa(e.Calls), strconv.Itoa(e.Retries), strconv.Itoa(e.Fallbacks),
		cost, amount(e.SpentEUR), strconv.Itoa(e.Unpriced), moment(e.Created), moment(e.Since), moment(e.Updated),
		cell(e.Job), cell(e.Invitation),
	}
}

func amount(v float64) string { return strconv.FormatFloat(v, 'f', 6, 64) }

func moment(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// formulaSigns begin a formula in spreadsheets, some after a conversion of wide letters or past a
// line break.
const formulaSigns = "=+-@\t\r\n|%＝＋－＠"

// cell protects a text from being read as a formula by a spreadsheet: an apostrophe comes first. A
// text that begins with an apostrophe gets another, so that the original is known.
func cell(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if text != "" && strings.ContainsAny(firstRune(strings.TrimLeft(text, " \u00a0")), formulaSigns+"'") {
		return "'" + text
	}
	return text
}

func firstRune(text string) string {
	for _, r := range text {
		return string(r)
	}
	return ""
}

// Pages returns the pages of a listing up to its limit, for CSV; a limit of 0 means all sessions.
func Pages(l session.Listing, list func(session.Listing) ([]session.Session, error)) func() ([]session.Session, error) {
	left, all := l.Limit, l.Limit == 0
	return func() ([]session.Session, error) {
		if left == 0 && !all {
			return nil, nil
		}
		l.Limit = Max
		if !all {
			l.Limit = min(left, Max)
		}
		found, err := list(l)
		if err != nil || len(found) == 0 {
			return nil, err
		}
		left -= len(found)
		l.After = l.Cursor(&found[len(found)-1])
		return found, nil
	}
}
