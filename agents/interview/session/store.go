package session

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// The errors of a Store. Any other error is a failure of the store itself.
var (
	ErrNotFound = errors.New("session not found")
	// ErrConflict means that the session was changed after it was loaded, or exists already.
	ErrConflict = errors.New("the session was changed concurrently")
	// ErrDeleted is the ErrNotFound of a session that was deleted.
	ErrDeleted = fmt.Errorf("%w: it was deleted", ErrNotFound)
)

// Change is the change of one step, in addition to the session itself.
type Change struct {
	// Submission is the client's id of the submission; empty if it has none. It is unique within
	// a session and never deleted.
	Submission string
	// Messages and Answers are new.
	Messages []Message
	Answers  []Answer
	// Queue is new or replaces the queue of its step; nil changes nothing.
	Queue *Queue
	// Calls are new or replace those with the same number.
	Calls []Call
	// Invitation is the hash of the invitation that begins a new session; empty if none does. Create
	// uses it, and fails with ErrConflict if it cannot be used.
	Invitation string
	// Spent is added to what was spent on its days.
	Spent []Spending
}

// Store stores interviews. A commit is atomic and durable: once it has returned, a crash of
// the process or of the machine does not lose it, and until then readers see no part of it.
// Implementations are safe for concurrent use, also by several processes.
type Store interface {
	// Create stores a new session with version 1. It fails with ErrConflict if the id is in use or
	// was the id of a deleted session.
	Create(ctx context.Context, s Session, c Change) error
	// Load returns a session with the queue of its step. Its cost does not depend on the
	// number of messages.
	Load(ctx context.Context, id string) (Session, error)
	// Commit stores s, which was loaded at s.Version, and c, and returns the new
	// version. It fails with ErrConflict, and changes nothing, if the stored
	// version differs, or the submission or an answer of the change is stored already.
	Commit(ctx context.Context, s Session, c Change) (version int64, err error)
	// Submitted reports whether a submission is part of the session.
	Submitted(ctx context.Context, id, submission string) (bool, error)
	// Message returns one message by its Seq.
	Message(ctx context.Context, id string, seq int) (Message, error)
	// Messages, Answers, Queues and Calls return all of a session, ordered by Seq, Message, step
	// and N.
	Messages(ctx context.Context, id string) ([]Message, error)
	Answers(ctx context.Context, id string) ([]Answer, error)
	Queues(ctx context.Context, id string) ([]Queue, error)
	Calls(ctx context.Context, id string) ([]Call, error)
	// List returns one page of sessions. Its cost does not depend on the number of stored sessions.
	List(ctx context.Context, l Listing) ([]Session, error)
	// Counts returns the number of sessions with each status, ordered by status, and how many of them
	// have had it since before a time.
	Counts(ctx context.Context, before time.Time) ([]StatusCount, error)
	// Costs returns the sums of all calls, also of deleted sessions, from a day ("2026-03-01", UTC) on,
	// ordered by day and currency. Model, Input and Output are not filled in.
	Costs(ctx context.Context, from string) ([]Total, error)
	// Delete removes all data of a session at the stored version, or fails with ErrConflict. It
	// keeps a hash of the id, and adds the calls of the session to DeletedTotals. Later commits fail
	// with ErrNotFound; Load fails with ErrDeleted.
	Delete(ctx context.Context, id string, version int64) error
	// DeletedTotals returns the sums of the calls of deleted sessions, ordered by day.
	DeletedTotals(ctx context.Context) ([]Total, error)
	// Invitation returns the invitation with a hash, or ErrNotFound.
	Invitation(ctx context.Context, hash string) (Invitation, error)
	// Shares returns the shares of a session, or of all sessions if it is empty, newest first. They are
	// deleted with their session.
	Shares(ctx context.Context, session string) ([]Share, error)
	// OpenShare counts one use of the share with a hash at a time, and returns the share. Without such a
	// share the error is ErrNotFound; one that is expired or revoked is returned with ErrConflict.
	OpenShare(ctx context.Context, hash string, at time.Time) (Share, error)
	// SpentOn returns what was spent on a day, by one address or, if it is empty, in total. Sessions
	// that were deleted since are included. Addresses are forgotten after two days.
	SpentOn(ctx context.Context, day, address string) (Spending, error)
	// CountTry counts an attempt at the code of a session, unless the day ("2026-03-01", UTC) has had most of
	// them; allowed reports whether it was counted. ForgetTries ends the count.
	CountTry(ctx context.Context, id, day string, most int) (allowed bool, err error)
	ForgetTries(ctx context.Context, id string) error
	Close() error
}
