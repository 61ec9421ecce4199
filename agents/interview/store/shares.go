package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Share stores a new share.
func (s *Store) Share(ctx context.Context, one session.Share) error {
	err := errors.Join(checkKey("hash of the share", one.Hash), checkKey("session id", one.Session))
	if err == nil {
		err = s.engine.apply(ctx, []operation{{statement: insertShare, args: []any{
			one.Hash, one.Session, one.For, truth(one.Texts), one.Created.UnixNano(), one.Expires.UnixNano(),
		}}})
	}
	if err != nil {
		return fmt.Errorf("store a share: %w", s.engine.explain(err))
	}
	return nil
}

// truth returns a boolean as the number that both databases store.
func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

// Shares implements session.Store.
func (s *Store) Shares(ctx context.Context, of string) ([]session.Share, error) {
	statement, args := sharesOf, []any{of}
	if of == "" {
		statement, args = listShares, nil
	}
	found, err := read(ctx, s, scanShare, statement, args...)
	if err != nil {
		return nil, fmt.Errorf("list the shares: %w", err)
	}
	return found, nil
}

// OpenShare implements session.Store.
func (s *Store) OpenShare(ctx context.Context, hash string, at time.Time) (session.Share, error) {
	if checkKey("hash of the share", hash) != nil {
		return session.Share{}, session.ErrNotFound
	}
	refused := s.engine.apply(ctx, []operation{{statement: openShare, args: []any{hash, at.UnixNano()}, decides: true}})
	if refused != nil && !errors.Is(refused, errStale) {
		return session.Share{}, fmt.Errorf("open a share: %w", s.engine.explain(refused))
	}
	found, err := read(ctx, s, scanShare, selectShare, hash)
	switch {
	case err != nil:
		return session.Share{}, fmt.Errorf("open a share: %w", err)
	case len(found) == 0:
		return session.Share{}, session.ErrNotFound
	case refused != nil:
		return found[0], session.ErrConflict
	}
	return found[0], nil
}

// RevokeShare ends a share. Its error is ErrNotFound if there is none with this hash.
func (s *Store) RevokeShare(ctx context.Context, hash string) error {
	return s.revoke(ctx, revokeShare, hash)
}

func scanShare(rows *sql.Rows) (one session.Share, err error) {
	var created, expires, last int64
	err = rows.Scan(&one.Hash, &one.Session, &one.For, &one.Texts, &created, &expires, &one.Revoked, &one.Opened, &last)
	one.Created, one.Expires = time.Unix(0, created).UTC(), time.Unix(0, expires).UTC()
	if last != 0 {
		one.Last = time.Unix(0, last).UTC()
	}
	return one, err
}
