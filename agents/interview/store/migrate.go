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

// migrate creates or updates the tables.
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
	// Several processes may open a new database at the same time. The slower one fails because a
	// table exists already, and succeeds with that step in the next round. Each migration has two
	// such steps.
	for range 4 * (len(p.ListSources()) + 1) {
		if _, err = p.Up(ctx); err == nil {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("create the tables: %w", err)
	}
	stored, known, err := p.GetVersions(ctx)
	if err == nil && stored > known {
		err = fmt.Errorf("a newer version of this program wrote it (schema %d; this one knows %d): use that one", stored, known)
	}
	return err
}

// schemaSQL caches the statements that create all tables.
var schemaSQL atomic.Pointer[string]

// createInMemory creates the tables in a new database in memory. It migrates only the first one and
// reuses the resulting schema, because a run opens hundreds and migrating is much slower.
func createInMemory(ctx context.Context, db *sql.DB) error {
	if text := schemaSQL.Load(); text != nil {
		if _, err := db.ExecContext(ctx, *text); err != nil {
			return fmt.Errorf("create the tables: %w", err)
		}
		return nil
	}
	if err := migrate(ctx, db, goose.DialectSQLite3, "sqlite"); err != nil {
		return err
	}
	var text string
	// SQLite creates its internal tables, and the indexes of keys, which have no text.
	const all = `SELECT group_concat(sql, ';' ORDER BY rowid) FROM sqlite_schema WHERE sql <> '' AND name NOT LIKE 'sqlite\_%' ESCAPE '\'`
	if err := db.QueryRowContext(ctx, all).Scan(&text); err != nil {
		return fmt.Errorf("read the tables: %w", err)
	}
	schemaSQL.Store(&text)
	return nil
}
