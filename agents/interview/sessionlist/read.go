// Package sessionlist reads filters of lists of interviews, for the server and the command line, and writes
// the lists as JSON and CSV.
package sessionlist

import (
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Max is the maximum length of a page of a list.
const Max = 1000

// Read reads a listing from parameters: candidate, job, invitation, status, from, to, before, min-cost,
// max-cost, sort, limit and after. An empty value counts as missing. The default of limit is 100, the maximum is most.
func Read(values url.Values, most int) (session.Listing, error) {
	l := session.Listing{Limit: min(100, most)}
	for key, given := range values {
		if len(given) > 1 {
			return l, fmt.Errorf("%s is given %d times", key, len(given))
		}
		if given[0] == "" {
			continue
		}
		if err := set(&l, key, given[0], most); err != nil {
			return l, err
		}
	}
	if _, _, _, err := l.Position(); err != nil {
		return l, err
	}
	return l, nil
}

func set(l *session.Listing, key, value string, most int) (err error) {
	switch key {
	case "candidate":
		l.Candidate = value
	case "job":
		l.Job = value
	case "invitation":
		l.Invitation = value
	case "status":
		l.Status, err = among(key, session.Status(value), session.Statuses())
	case "sort":
		l.Sort, err = among(key, session.Sort(value), session.Sorts())
	case "from":
		l.From, err = day(key, value)
	case "to":
		if l.Before, err = day(key, value); err == nil {
			l.Before = l.Before.AddDate(0, 0, 1)
		}
	case "before":
		if l.Before, err = time.Parse(time.RFC3339Nano, value); err != nil {
			err = fmt.Errorf("before must be a time such as 2026-01-31T10:00:00Z, got %.40q", value)
		}
	case "min-cost":
		l.MinCost, err = euros(key, value)
	case "max-cost":
		l.MaxCost, err = euros(key, value)
	case "limit":
		l.Limit, err = strconv.Atoi(value)
		if err != nil || l.Limit < 1 || l.Limit > most {
			err = fmt.Errorf("limit must be a number from 1 to %d, got %.40q", most, value)
		}
	case "after":
		l.After = value
	default:
		err = fmt.Errorf("unknown parameter %.40q: the parameters are candidate, job, invitation, status, from, to, before, "+
			"min-cost, max-cost, sort, limit, after and format", key)
	}
	return err
}

func among[T ~string](key string, value T, allowed []T) (T, error) {
	if !slices.Contains(allowed, value) {
		return "", fmt.Errorf("%s must be one of %s, got %.40q", key, strings.Trim(fmt.Sprint(allowed), "[]"), string(value))
	}
	return value, nil
}

func day(key, value string) (time.Time, error) {
	t, err := time.Parse(time.DateOnly, value)
	if err != nil {
		return t, fmt.Errorf("%s must be a day such as 2026-01-31, got %.40q", key, value)
	}
	return t, nil
}

func euros(key, value string) (*float64, error) {
	v, err := strconv.ParseFloat(value, 64)
	if err != nil || !(v >= 0) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("%s must be an amount in EUR such as 0.05, got %.40q", key, value)
	}
	return &v, nil
}

// Entry is one session of a list.
type Entry struct {
	// ID gives access to the interview.
	ID        string           `json:"id"`
	Candidate string           `json:"candidate"`
	Language  session.Language `json:"language"`
	// Job is the id of the job, and Invitation that of the invitation that began the session.
	Job        string         `json:"job,omitempty"`
	Invitation string         `json:"invitation,omitempty"`
	Status     session.Status `json:"status"`
	Step       session.Step   `json:"step"`
	Phase      session.Phase  `json:"phase"`
	// Failed is the code of the last error, if the owed message failed, and Limit the limit that the
	// session has reached.
	Failed   string `json:"failed,omitempty"`
	Limit    string `json:"limit,omitempty"`
	Messages int    `json:"messages"`
	Calls    int    `json:"calls"`
	// CostEUR is the cost of all calls, or nil if that of any is unknown. SpentEUR contains an estimate
	// of unknown costs; it is the amount to which limits apply.
	CostEUR   *float64 `json:"costEur"`
	SpentEUR  float64  `json:"spentEur"`
	Unpriced  int      `json:"unpricedCalls"`
	Retries   int      `json:"retries"`
	Fallbacks int      `json:"fallbacks"`
	// Since is the time since when the message is owed, or else that of the last change.
	Since   time.Time `json:"since"`
	Created time.Time `json:"created"`
	Updated time.Time `json:"updated"`
}

// Of returns the entry of a session.
func Of(s *session.Session) Entry {
	e := Entry{
		ID: s.ID, Candidate: s.Candidate, Language: s.Language, Job: s.JobID(), Invitation: s.Invitation, Status: s.Status(),
		Step: s.Step, Phase: s.Phase,
		Messages: s.Messages, Calls: s.Calls, SpentEUR: s.Spent.Amount, Unpriced: s.Unpriced,
		Retries: s.Retries, Fallbacks: len(s.Fallbacks),
		Since: s.Since().UTC(), Created: s.Created.UTC(), Updated: s.Updated.UTC(),
	}
	if s.Unpriced == 0 {
		e.CostEUR = &e.SpentEUR
	}
	if s.Owed != nil {
		e.Failed, e.Limit = s.Owed.Failed, s.Owed.Limit
	}
	return e
}
