package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"

	"github.com/rehearse-dev/rehearse/clock"
	"github.com/rehearse-dev/rehearse/internal/database"
)

// applicationID ("rhrs") marks the file as a store, so that databases of other programs are
// refused.
const applicationID = 0x72687273

type sqliteEngine struct {
	db         *sql.DB
	path       string // empty in memory
	statements map[string]*sql.Stmt
	group
}

// openSQLite opens a file, or a database in memory if path is empty.
func openSQLite(ctx context.Context, path string) (*Store, error) {
	if path != "" {
		if err := database.PrepareFile(ctx, path, applicationID); err != nil {
			return nil, fmt.Errorf("open the store %s: %w", path, database.ExplainSQLite(err))
		}
	}
	s, err := connectSQLite(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", cmp.Or(path, "in memory"), database.ExplainSQLite(err))
	}
	return s, nil
}

func connectSQLite(ctx context.Context, path string) (s *Store, err error) {
	db, err := open(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			_ = db.Close()
		}
	}()
	if path == "" {
		db.SetMaxOpenConns(1) // each connection is a separate database
	} else {
		db.SetMaxOpenConns(4)
		db.SetMaxIdleConns(4)
	}
	if path == "" {
		err = createInMemory(ctx, db)
	} else {
		err = database.WhileBusy(ctx, clock.Real().Sleep, func() error { return migrate(ctx, db, false) })
	}
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{db: db, path: path, statements: map[string]*sql.Stmt{}, group: group{writer: make(chan struct{}, 1)}}
	for _, text := range statements {
		if e.statements[text], err = db.PrepareContext(ctx, text); err != nil {
			return nil, fmt.Errorf("prepare %q: %w", text, err)
		}
	}
	var version string
	if err := db.QueryRowContext(ctx, `SELECT sqlite_version()`).Scan(&version); err != nil {
		return nil, err
	}
	return &Store{db: db, engine: e, driver: "SQLite " + version}, nil
}

// open returns the database with the settings for durable commits, a write-ahead log and synchronous
// FULL, which overwrites deleted data.
func open(path string) (*sql.DB, error) {
	if path == "" {
		return database.OpenSQLite("", "foreign_keys(1)")
	}
	return database.OpenSQLite(path,
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "foreign_keys(1)", "secure_delete(1)")
}

func (e *sqliteEngine) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	if prepared, ok := e.statements[statement]; ok {
		return prepared.QueryContext(ctx, args...)
	}
	return e.db.QueryContext(ctx, statement, args...)
}

func (e *sqliteEngine) duplicate(err error) bool { return database.Duplicate(err) }

func (e *sqliteEngine) explain(err error) error { return database.ExplainSQLite(err) }

func (e *sqliteEngine) close() error {
	var errs []error
	for _, s := range e.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
