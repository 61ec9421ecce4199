// Package store keeps interviews in SQLite (embedded, the default) or in
// PostgreSQL (shared by several servers). Both hold the same tables and run the
// same statements, and the same contract specs test both.
package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
)

// Store is a session.Store over a database.
//
// An error that is none of those of package session leaves open whether the
// change was stored, as when the connection broke while the answer was on its
// way: load the session again.
type Store struct {
	db     *sql.DB
	engine engine
	driver string
}

var _ session.Store = (*Store)(nil)

// engine is what differs between the databases.
type engine interface {
	// query runs a statement that returns rows.
	query(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
	// apply runs operations in one transaction.
	apply(ctx context.Context, ops []operation) error
	// duplicate reports whether the error says that a key is there already.
	duplicate(err error) bool
	// explain adds what to do about an error, where something is known.
	explain(err error) error
	// claim takes the sole right to a name in this database.
	claim(ctx context.Context, name string) (release func() error, err error)
	close() error
}

// Open opens a store, and makes its tables or brings them up to date:
//
//	sessions.db, sqlite:sessions.db   a file, which is made if there is none
//	memory:                           SQLite in memory, for as long as it is open
//	postgres://user@host/database     a server; also as postgresql://
//
// No error holds the password.
func Open(ctx context.Context, dsn string) (*Store, error) {
	switch scheme, rest, found := strings.Cut(dsn, ":"); {
	case dsn == "memory:" || dsn == ":memory:" || dsn == "sqlite::memory:":
		return openSQLite(ctx, "")
	case scheme == "postgres" || scheme == "postgresql":
		return openPostgres(ctx, dsn)
	case dsn == "" || found && scheme == "sqlite" && rest == "":
		return nil, errors.New(`no store is named: write the path of a file, "memory:" or "postgres://user@host/database"`)
	case found && scheme == "sqlite":
		return openSQLite(ctx, rest)
	case found && strings.EqualFold(scheme, "file"):
		return nil, fmt.Errorf("%q addresses are not supported: write the path of the file alone, without %q and without a query", "file:", "file:")
	case strings.Contains(dsn, "://"):
		return nil, fmt.Errorf("there is no store for %q addresses: "+
			`write the path of a file, "memory:" or "postgres://user@host/database"`, scheme+"://")
	case strings.Contains(dsn, "host=") || strings.Contains(dsn, "dbname="):
		return nil, errors.New("a PostgreSQL store is written as an address: postgres://user@host/database")
	}
	return openSQLite(ctx, dsn)
}

// Name returns a store's address without its password, for logs.
func Name(dsn string) string {
	scheme, _, found := strings.Cut(dsn, "://")
	if !found {
		return dsn
	}
	u, err := url.Parse(dsn)
	if err != nil {
		return scheme + "://…"
	}
	u.RawQuery = "" // it may hold one too
	return u.Redacted()
}

// Driver returns which database really runs, such as "SQLite 3.53.1" or
// "PostgreSQL 17.2".
func (s *Store) Driver() string { return s.driver }

// Claim makes sure that no other process serves this store under the same
// instance name, until release is called or the process ends. In memory there is
// no other.
func (s *Store) Claim(ctx context.Context, instance string) (release func() error, err error) {
	if err := checkKey("instance name", instance); err != nil {
		return nil, err
	}
	return s.engine.claim(ctx, instance)
}

// Close implements session.Store.
func (s *Store) Close() error {
	return errors.Join(s.engine.close(), s.db.Close())
}
