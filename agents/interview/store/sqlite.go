package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"

	"github.com/pressly/goose/v3"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// applicationID ("rhrs") marks the file as a store, so that databases of other programs are
// refused.
const applicationID = 0x72687273

type sqliteEngine struct {
	db         *sql.DB
	path       string // empty in memory
	statements map[string]*sql.Stmt
	writer     chan struct{} // has a token during a write
}

// openSQLite opens a file, or a database in memory if path is empty.
func openSQLite(ctx context.Context, path string) (*Store, error) {
	if path != "" {
		if err := prepareFile(ctx, path); err != nil {
			return nil, fmt.Errorf("open the store %s: %w", path, explainSQLite(err))
		}
	}
	s, err := connectSQLite(ctx, path)
	if err != nil {
		return nil, fmt.Errorf("open the store %s: %w", cmp.Or(path, "in memory"), explainSQLite(err))
	}
	return s, nil
}

func connectSQLite(ctx context.Context, path string) (s *Store, err error) {
	db, err := sql.Open("sqlite", sqliteDSN(path))
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
		err = migrate(ctx, db, goose.DialectSQLite3, "sqlite")
	}
	if err != nil {
		return nil, err
	}
	e := &sqliteEngine{db: db, path: path, statements: map[string]*sql.Stmt{}, writer: make(chan struct{}, 1)}
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

// sqliteDSN returns the address with the settings for durable commits: a write-ahead log and
// synchronous FULL.
func sqliteDSN(path string) string {
	settings := url.Values{"_txlock": {"immediate"}, "_pragma": {"foreign_keys(1)"}}
	if path == "" {
		return "file::memory:?" + settings.Encode()
	}
	settings["_pragma"] = []string{
		"busy_timeout(5000)", "journal_mode(WAL)", "synchronous(FULL)", "fullfsync(1)", "foreign_keys(1)",
	}
	return "file:" + (&url.URL{Path: path}).EscapedPath() + "?" + settings.Encode()
}

// prepareFile creates the file, readable only by its owner, and marks it. It refuses files that are
// not stores.
func prepareFile(ctx context.Context, path string) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	// Without settings, because some are stored in the file, which may belong to another program.
	db, err := sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+
		"?_txlock=immediate&_pragma=busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	var mark, tables int
	err = tx.QueryRowContext(ctx, `SELECT * FROM pragma_application_id, (SELECT count(*) FROM sqlite_schema)`).
		Scan(&mark, &tables)
	switch {
	case err != nil:
		return err
	case mark == applicationID:
		return nil
	case tables > 0 || mark != 0:
		return errors.New("the file is the database of another program: name another file")
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, applicationID)); err != nil {
		return err
	}
	return tx.Commit()
}

func (e *sqliteEngine) query(ctx context.Context, statement string, args ...any) (*sql.Rows, error) {
	return e.statements[statement].QueryContext(ctx, args...)
}

func (e *sqliteEngine) duplicate(err error) bool {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return false
	}
	code := failure.Code()
	return code == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || code == sqlite3.SQLITE_CONSTRAINT_UNIQUE
}

func (e *sqliteEngine) explain(err error) error { return explainSQLite(err) }

func explainSQLite(err error) error {
	var failure *sqlite.Error
	if !errors.As(err, &failure) {
		return err
	}
	switch failure.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB:
		return fmt.Errorf("the file is not a SQLite database; name another file, which is created if it does not exist: %w", err)
	case sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf("the file is damaged; restore it from a backup: %w", err)
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("the file and its folder must be writable: %w", err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("the disk is full; nothing was changed: %w", err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("another program has locked the file; nothing was changed, try again: %w", err)
	}
	return err
}

func (e *sqliteEngine) close() error {
	var errs []error
	for _, s := range e.statements {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}
