package store

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// hashOf returns the hash that is kept of the id of a deleted session. Ids are random, so the hash does
// not reveal them.
func hashOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])
}

// Delete implements session.Store. A file of SQLite contains nothing of the session afterwards, nor does
// its log, unless another process reads from it at that moment.
func (s *Store) Delete(ctx context.Context, id string, version int64) error {
	calls, err := read(ctx, s, scanBody[session.Call], selectCalls, id)
	if err != nil {
		return fmt.Errorf("delete session %s: %w", id, err)
	}
	p := plan{id: id}
	p.key("session id", id)
	p.add(deleteSession, id, version)
	p.ops[0].decides = true
	p.add(insertDeleted, hashOf(id))
	p.add(forgetInvitation, id)
	for _, t := range session.Totals(calls) {
		p.add(addTotal, t.Day, t.Model, string(t.Currency), t.Calls, t.Unpriced, t.Input, t.Output, t.Cost)
	}
	if err = p.err; err == nil {
		err = s.engine.apply(ctx, p.ops)
	}
	switch {
	case err == nil:
		return s.engine.shred(ctx)
	case errors.Is(err, errStale):
		err = s.stale(ctx, id)
	case s.engine.duplicate(err):
		err = session.ErrConflict
	}
	return fmt.Errorf("delete session %s: %w", id, s.engine.explain(err))
}

// DeletedTotals implements session.Store.
func (s *Store) DeletedTotals(ctx context.Context) ([]session.Total, error) {
	found, err := read(ctx, s, func(rows *sql.Rows) (t session.Total, err error) {
		return t, rows.Scan(&t.Day, &t.Model, &t.Currency, &t.Calls, &t.Unpriced, &t.Input, &t.Output, &t.Cost)
	}, selectTotals)
	if err != nil {
		return nil, fmt.Errorf("read the totals of deleted sessions: %w", err)
	}
	return found, nil
}

// missing returns why a session is not in the store.
func (s *Store) missing(ctx context.Context, id string) error {
	deleted, err := s.finds(ctx, selectDeleted, hashOf(id))
	switch {
	case err != nil:
		return err
	case deleted:
		return session.ErrDeleted
	}
	return session.ErrNotFound
}

// Secret returns the random value that the store keeps under a name. The first caller creates it;
// several servers of a store get the same one.
func (s *Store) Secret(ctx context.Context, name string) (string, error) {
	if err := checkKey("name of the secret", name); err != nil {
		return "", err
	}
	for range 2 {
		found, err := read(ctx, s, func(rows *sql.Rows) (value string, err error) {
			return value, rows.Scan(&value)
		}, selectSecret, name)
		if err != nil {
			return "", fmt.Errorf("read the secret %s: %w", name, err)
		}
		if len(found) > 0 {
			return found[0], nil
		}
		err = s.engine.apply(ctx, []operation{{statement: insertSecret, args: []any{name, rand.Text() + rand.Text()}}})
		if err != nil {
			return "", fmt.Errorf("store the secret %s: %w", name, s.engine.explain(err))
		}
	}
	return "", fmt.Errorf("store the secret %s: it is not there afterwards", name)
}

// shred removes deleted data from the write-ahead log. Pages of the file itself are overwritten by
// secure_delete. A reader that is still in an earlier transaction keeps the log until the next one.
func (e *sqliteEngine) shred(ctx context.Context) error {
	e.writer <- struct{}{}
	defer func() { <-e.writer }()
	var busy, logged, moved int
	err := e.db.QueryRowContext(context.WithoutCancel(ctx), `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &logged, &moved)
	if err != nil {
		return fmt.Errorf("the session is deleted, but its data may still be in the log of the file: %w", e.explain(err))
	}
	return nil
}

// shred leaves the space to the server's VACUUM.
func (e *postgresEngine) shred(context.Context) error { return nil }
