package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Invite stores a new invitation.
func (s *Store) Invite(ctx context.Context, i session.Invitation) error {
	err := checkKey("hash of the invitation", i.Hash)
	if err == nil {
		err = s.engine.apply(ctx, []operation{{statement: insertInvitation, args: []any{
			i.Hash, i.Candidate, i.Job, i.Uses, i.Created.UnixNano(), i.Expires.UnixNano(),
		}}})
	}
	if err != nil {
		return fmt.Errorf("store an invitation: %w", s.engine.explain(err))
	}
	return nil
}

// Invitations returns all invitations, newest first.
func (s *Store) Invitations(ctx context.Context) ([]session.Invitation, error) {
	found, err := read(ctx, s, scanInvitation, listInvitations)
	if err != nil {
		return nil, fmt.Errorf("list the invitations: %w", err)
	}
	return found, nil
}

// Revoke ends an invitation. Its error is ErrNotFound if there is none with this hash.
func (s *Store) Revoke(ctx context.Context, hash string) error {
	return s.revoke(ctx, revokeInvitation, hash)
}

// revoke runs a statement that ends what has a hash.
func (s *Store) revoke(ctx context.Context, statement, hash string) error {
	err := s.engine.apply(ctx, []operation{{statement: statement, args: []any{hash}, decides: true}})
	switch {
	case errors.Is(err, errStale):
		return session.ErrNotFound
	case err != nil:
		return fmt.Errorf("revoke %.10s: %w", hash, s.engine.explain(err))
	}
	return nil
}

// Invitation implements session.Store.
func (s *Store) Invitation(ctx context.Context, hash string) (session.Invitation, error) {
	found, err := read(ctx, s, scanInvitation, selectInvitation, hash)
	if err == nil && len(found) == 0 {
		err = session.ErrNotFound
	}
	if err != nil {
		return session.Invitation{}, fmt.Errorf("read an invitation: %w", err)
	}
	return found[0], nil
}

func scanInvitation(rows *sql.Rows) (i session.Invitation, err error) {
	var created, expires int64
	err = rows.Scan(&i.Hash, &i.Candidate, &i.Job, &i.Uses, &i.Used, &created, &expires, &i.Revoked, &i.Session)
	i.Created, i.Expires = time.Unix(0, created).UTC(), time.Unix(0, expires).UTC()
	return i, err
}
