package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
)

// Status summarizes the state of an interview for operators.
type Status string

// The statuses.
const (
	StatusOpen     Status = "open"    // waits for the candidate
	StatusOwing    Status = "owing"   // the service owes a message
	StatusStuck    Status = "stuck"   // the service owes a message, and its calls failed
	StatusLimited  Status = "limited" // the service owes a message, and the session has reached a limit
	StatusFinished Status = "finished"
)

// Statuses lists the statuses.
func Statuses() []Status {
	return []Status{StatusOpen, StatusOwing, StatusStuck, StatusLimited, StatusFinished}
}

// Owes reports whether the service owes a message in a session with this status.
func (s Status) Owes() bool { return s == StatusOwing || s == StatusStuck || s == StatusLimited }

// Status returns the status of a session.
func (s *Session) Status() Status {
	switch {
	case s.Phase == Finished:
		return StatusFinished
	case s.Owed != nil && s.Owed.Limit != "":
		return StatusLimited
	case s.Owed != nil && s.Owed.Failed != "":
		return StatusStuck
	case s.Phase == Owing:
		return StatusOwing
	}
	return StatusOpen
}

// Since returns the time since when the message is owed, or else that of the last change.
func (s *Session) Since() time.Time {
	if s.Owed != nil && !s.Owed.Since.IsZero() {
		return s.Owed.Since
	}
	return s.Updated
}

// StatusCount is the number of sessions with one status.
type StatusCount struct {
	Status   Status
	Sessions int
	// Overdue is the number of sessions whose Since is before the time that was asked for, and Oldest
	// the earliest Since.
	Overdue int
	Oldest  time.Time
}

// Sort is an order of sessions.
type Sort string

// The orders.
const (
	Newest  Sort = "newest"  // by creation
	Oldest  Sort = "oldest"  // by creation
	Latest  Sort = "latest"  // the last change first; see Since
	Longest Sort = "longest" // the longest without a change first; see Since
	Dearest Sort = "dearest" // by Spent
)

// Sorts lists the orders, the default first.
func Sorts() []Sort { return []Sort{Newest, Oldest, Latest, Longest, Dearest} }

// Listing selects sessions. The zero value selects the newest 100.
type Listing struct {
	// Candidate and Status select the sessions of one candidate and with one status; empty selects all.
	Candidate string
	Status    Status
	// Job is the id of a job, and Invitation the id of the invitation that began the session; empty selects all.
	Job, Invitation string
	// From and Before select sessions that were created at or after, and before a time.
	From, Before time.Time
	// MinCost and MaxCost limit Spent, in EUR; nil means no limit.
	MinCost, MaxCost *float64
	// Sort is the order; default Newest.
	Sort Sort
	// After is the Cursor of the last session of the previous page.
	After string
	// Limit is the maximum number of sessions; 0 means 100.
	Limit int
}

// Cursor returns the place of a session in the listing, for After.
func (l Listing) Cursor(s *Session) string {
	return strconv.FormatInt(l.Sort.Key(s), 10) + "." + s.ID
}

// eachPage is the number of sessions that Each reads at once.
const eachPage = 500

// Each returns all sessions of a listing, whatever its limit, which is the number that it reads at once;
// default 500. Sessions may be deleted meanwhile. It ends after an error.
func Each(ctx context.Context, store Store, l Listing) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		if l.Limit == 0 {
			l.Limit = eachPage
		}
		for {
			page, err := store.List(ctx, l)
			if err != nil {
				yield(Session{}, err)
				return
			}
			for _, s := range page {
				if !yield(s, nil) {
					return
				}
			}
			if len(page) < l.Limit {
				return
			}
			l.After = l.Cursor(&page[len(page)-1])
		}
	}
}

// ErrCursor means that Listing.After is not a Cursor.
var ErrCursor = errors.New("the cursor of the list is malformed")

// Position returns the key and the id of the session that After names; ok is false without one.
func (l Listing) Position() (key int64, id string, ok bool, err error) {
	if l.After == "" {
		return 0, "", false, nil
	}
	number, id, found := strings.Cut(l.After, ".")
	key, err = strconv.ParseInt(number, 10, 64)
	if err != nil || !found || id == "" {
		return 0, "", false, fmt.Errorf("%w: %.80q", ErrCursor, l.After)
	}
	return key, id, true, nil
}

// Key returns the number by which a session is ordered.
func (o Sort) Key(s *Session) int64 {
	switch o {
	case Latest, Longest:
		return Nanoseconds(s.Since())
	case Dearest:
		return MicroEUR(s.Spent.Amount)
	default:
		return Nanoseconds(s.Created)
	}
}

// Nanoseconds returns the nanoseconds since 1970. Times outside the years 1678 to 2261, which do not
// fit, keep their order relative to the others.
func Nanoseconds(t time.Time) int64 {
	switch year := t.UTC().Year(); {
	case year < 1678:
		return math.MinInt64
	case year > 2261:
		return math.MaxInt64 - 1
	}
	return t.UnixNano()
}

// MicroEUR returns an amount in EUR as a number of millionths, at most 1e12 EUR.
func MicroEUR(amount float64) int64 {
	return int64(math.Round(min(max(amount, -1e12), 1e12) * 1e6))
}
