// Package store stores the history of runs in SQLite (a file, the default) or in PostgreSQL (shared by
// a team), with the same tables and statements.
package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/jackc/pgx/v5/stdlib"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// applicationID ("rhhs") marks the file as a history. Other databases are refused.
const applicationID = 0x72686873

// versions is the table with the applied migrations.
const versions = "history_schema"

//go:embed migrations
var migrations embed.FS

// Store is a history in a database.
type Store struct {
	db       *sql.DB
	postgres bool
	driver   string
	now      func() time.Time
}

// ErrNone means that an address has no history.
var ErrNone = errors.New("there is no history yet")

// Open opens a history for writing, and creates or updates its tables. The address is one of
// database.ParseAddress; now is the clock of this machine. Errors never contain the password.
func Open(ctx context.Context, dsn string, now func() time.Time) (*Store, error) {
	address, err := database.ParseAddress(dsn)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if !address.Postgres && address.Path != "" {
		if err := database.PrepareFile(ctx, address.Path, applicationID); err != nil {
			return nil, fmt.Errorf("open the history %s: %w", dsn, explain(err))
		}
	}
	return open(ctx, dsn, address, now, true)
}

// OpenExisting opens a history for reading and pruning. It updates tables of an older version of this
// program, and changes nothing else. The error wraps ErrNone if the history does not exist.
func OpenExisting(ctx context.Context, dsn string, now func() time.Time) (*Store, error) {
	address, err := database.ParseAddress(dsn)
	if err != nil {
		return nil, fmt.Errorf("open the history: %w", err)
	}
	if !address.Postgres && address.Path != "" {
		info, err := os.Stat(address.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("open the history %s: %w", dsn, ErrNone)
		case err != nil:
			return nil, fmt.Errorf("open the history: %w", err)
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("open the history %s: it is not a regular file", dsn)
		case info.Size() == 0:
			return nil, fmt.Errorf("open the history %s: %w (the file is empty)", dsn, ErrNone)
		}
	}
	return open(ctx, dsn, address, now, false)
}

func open(ctx context.Context, dsn string, address database.Address, now func() time.Time, create bool) (s *Store, err error) {
	s = &Store{postgres: address.Postgres, now: now}
	defer func() {
		if err != nil {
			err = fmt.Errorf("open the history %s: %w", database.Name(dsn), explain(err))
			if s.db != nil {
				_ = s.db.Close()
			}
			s = nil
		}
	}()
	if address.Postgres {
		err = s.connectPostgres(ctx, dsn)
	} else {
		err = s.connectSQLite(ctx, address.Path)
	}
	if err != nil {
		return s, err
	}
	return s, s.migrate(ctx, create)
}

func (s *Store) connectPostgres(ctx context.Context, dsn string) error {
	config, err := database.ParsePostgres(dsn)
	if err != nil {
		return err
	}
	s.db = stdlib.OpenDB(*config)
	s.db.SetMaxOpenConns(2)
	version, err := database.CheckPostgres(ctx, s.db)
	s.driver = "PostgreSQL " + version
	return err
}

// connectSQLite opens the file with a rollback journal, because a history with a write-ahead log cannot be
// read in a folder that is not writable.
func (s *Store) connectSQLite(ctx context.Context, path string) (err error) {
	if s.db, err = database.OpenSQLite(path, "busy_timeout(5000)", "synchronous(FULL)", "foreign_keys(1)", "cache_size(-16000)"); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if path != "" {
		if _, err := database.CheckFile(ctx, s.db, applicationID); err != nil {
			return err
		}
	}
	var version string
	err = s.db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version)
	s.driver = "SQLite " + version
	return err
}

// migrate creates or updates the tables. One statement recognizes the tables of this version, which is much
// faster than package goose.
func (s *Store) migrate(ctx context.Context, create bool) error {
	folder := "migrations/sqlite"
	if s.postgres {
		folder = "migrations/postgres"
	}
	files, err := fs.Sub(migrations, folder)
	if err != nil {
		return err
	}
	names, err := fs.Glob(files, "*.sql")
	if err != nil {
		return err
	}
	var stored sql.NullInt64
	err = s.db.QueryRowContext(ctx, `SELECT max(version_id) FROM `+versions).Scan(&stored)
	switch known := int64(len(names)); {
	case err == nil && stored.Int64 == known:
		return nil
	case err == nil && stored.Int64 > known:
		return &database.NewerError{Stored: stored.Int64, Known: known}
	case err != nil && !create && missingTable(err):
		return ErrNone
	case err != nil && !missingTable(err):
		return err
	}
	return database.Migrate(ctx, s.db, s.postgres, files, versions)
}

// Driver returns the name and version of the database, such as "SQLite 3.53.1" or "PostgreSQL
// 17.2".
func (s *Store) Driver() string { return s.driver }

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// clock returns the time by the clock of the database.
func (s *Store) clock(ctx context.Context) (time.Time, error) {
	if !s.postgres {
		return s.now(), nil
	}
	var now time.Time
	err := s.db.QueryRowContext(ctx, `SELECT clock_timestamp()`).Scan(&now)
	return now, err
}
