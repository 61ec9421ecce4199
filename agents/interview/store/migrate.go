package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/pressly/goose/v3"
)

//go:embed migrations
var migrations embed.FS

// migrate makes the tables, or brings them up to date.
func migrate(ctx context.Context, db *sql.DB, dialect goose.Dialect, folder string) error {
	files, err := fs.Sub(migrations, "migrations/"+folder)
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(dialect, db, files,
		goose.WithTableName("interview_schema"), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	// Processes may open a new database at the same time. Who comes second to a step
	// fails with a table that is there already, and finds it made the next time; each
	// migration has two such steps.
	for range 4 * (len(p.ListSources()) + 1) {
		if _, err = p.Up(ctx); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("making the tables: %w", err)
	}
	stored, known, err := p.GetVersions(ctx)
	if err == nil && stored > known {
		err = fmt.Errorf("a newer version of this program wrote it (schema %d; this one knows %d): use that one", stored, known)
	}
	return err
}

// made are the statements that make the tables in one go.
var made atomic.Pointer[string]

// makeInMemory makes the tables in a new database that no other program ever sees.
// What the migrations come to is read from the first one, as a rehearsal opens
// hundreds and migrating takes far longer than making.
func makeInMemory(ctx context.Context, db *sql.DB) error {
	if text := made.Load(); text != nil {
		if _, err := db.ExecContext(ctx, *text); err != nil {
			return fmt.Errorf("making the tables: %w", err)
		}
		return nil
	}
	if err := migrate(ctx, db, goose.DialectSQLite3, "sqlite"); err != nil {
		return err
	}
	var text string
	// SQLite makes its own tables and the indexes of keys, which have no text, itself.
	const all = `SELECT group_concat(sql, ';' ORDER BY rowid) FROM sqlite_schema WHERE sql <> '' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	if err := db.QueryRowContext(ctx, all).Scan(&text); err != nil {
		return fmt.Errorf("reading the tables: %w", err)
	}
	made.Store(&text)
	return nil
}
