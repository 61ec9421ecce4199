package database

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// OpenSQLite returns the database in a file, or in memory if path is empty, with settings such as
// "foreign_keys(1)" for each connection. Transactions lock the file when they begin. It does not
// connect yet.
func OpenSQLite(path string, settings ...string) (*sql.DB, error) {
	query := url.Values{"_txlock": {"immediate"}}
	if len(settings) > 0 {
		query["_pragma"] = settings
	}
	if path == "" {
		return sql.Open("sqlite", "file::memory:?"+query.Encode())
	}
	return sql.Open("sqlite", "file:"+(&url.URL{Path: path}).EscapedPath()+"?"+query.Encode())
}

// PrepareFile creates a file, readable only by its owner, and its folder, unless they exist, and
// marks the file with the application ID of a store. It refuses files that are not stores.
func PrepareFile(ctx context.Context, path string, mark int) (err error) {
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
	// Without further settings, because some are stored in the file, which may belong to another
	// program.
	db, err := OpenSQLite(path, "busy_timeout(5000)")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	empty, err := CheckFile(ctx, tx, mark)
	if err != nil || !empty {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf(`PRAGMA application_id = %d`, mark)); err != nil {
		return err
	}
	return tx.Commit()
}

// CheckFile returns an error if the SQLite database is neither marked with an application ID nor
// empty.
func CheckFile(ctx context.Context, db interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}, mark int,
) (empty bool, err error) {
	var stored, tables int
	err = db.QueryRowContext(ctx, `SELECT * FROM pragma_application_id, (SELECT count(*) FROM sqlite_schema)`).
		Scan(&stored, &tables)
	switch {
	case err != nil:
		return false, err
	case stored == mark:
		return false, nil
	case tables > 0 || stored != 0:
		return false, errors.New("the file is the database of another program: name another file")
	}
	return true, nil
}

// The waits of WhileBusy, as long together as the busy_timeout of stores.
const (
	busyTries = 50
	busyPause = 100 * time.Millisecond
)

// WhileBusy calls do again, for up to 5 seconds, while another process has locked the file. SQLite itself does not wait
// where it changes the journal mode, as the first connection to a new file does.
func WhileBusy(ctx context.Context, sleep func(context.Context, time.Duration) error, do func() error) error {
	for try := 1; ; try++ {
		err := do()
		failure, ok := errors.AsType[*sqlite.Error](err)
		if !ok || failure.Code()&0xff != sqlite3.SQLITE_BUSY || try == busyTries {
			return err
		}
		if sleep(ctx, busyPause) != nil {
			return err
		}
	}
}

// Duplicate reports whether the error is a duplicate key in SQLite.
func Duplicate(err error) bool {
	failure, ok := errors.AsType[*sqlite.Error](err)
	return ok && (failure.Code() == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY || failure.Code() == sqlite3.SQLITE_CONSTRAINT_UNIQUE)
}

// ExplainSQLite adds advice to the known errors of SQLite.
func ExplainSQLite(err error) error {
	failure, ok := errors.AsType[*sqlite.Error](err)
	if !ok {
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
