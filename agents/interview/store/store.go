// Package store stores interviews in SQLite (embedded, the default) or in PostgreSQL (shared by
// several servers), with the same tables and statements.
package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/rehearse-dev/rehearse/agents/interview/session"
	"github.com/rehearse-dev/rehearse/internal/database"
)

// Store is a session.Store in a database.
//
// After an error that package session does not define, such as a lost connection, the change may or
// may not be stored: load the session again.
type Store struct {
	db     *sql.DB
	engine engine
	driver string
}

var _ session.Store = (*Store)(nil)

// engine is the part that differs between the databases.
type engine interface {
	// query runs a statement that returns rows.
	query(ctx context.Context, statement string, args ...any) (*sql.Rows, error)
	// apply runs operations in one transaction.
	apply(ctx context.Context, ops []operation) error
	// duplicate reports whether the error is a duplicate key.
	duplicate(err error) bool
	// explain adds advice to an error, if there is any.
	explain(err error) error
	// claim takes an exclusive claim on a name in this database.
	claim(ctx context.Context, name string) (release func() error, err error)
	// shred removes what the database would keep of deleted data, if it can.
	shred(ctx context.Context) error
	close() error
}

// Open opens a store, and creates or updates its tables:
//
//	sessions.db, sqlite:sessions.db   a file, which is created if it does not exist
//	memory:                           SQLite in memory, until it is closed
//	postgres://user@host/database     a server; also as postgresql://
//
// Errors never contain the password.
func Open(ctx context.Context, dsn string) (*Store, error) {
	address, err := database.ParseAddress(dsn)
	switch {
	case err != nil:
		return nil, err
	case address.Postgres:
		return openPostgres(ctx, dsn)
	}
	return openSQLite(ctx, address.Path)
}

// Name returns the address of a store without its password, for logs.
func Name(dsn string) string { return database.Name(dsn) }

// Driver returns the name and version of the database, such as "SQLite 3.53.1" or "PostgreSQL
// 17.2".
func (s *Store) Driver() string { return s.driver }

// Claim keeps other processes from serving this store under the same instance name, until release is
// called or the process ends. A store in memory has no other processes.
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
