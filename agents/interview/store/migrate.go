package store

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"sync/atomic"

	"github.com/rehearse-dev/rehearse/internal/database"
)

//go:embed migrations
var migrations embed.FS

// migrate creates or updates the tables.
func migrate(ctx context.Context, db *sql.DB, postgres bool) error {
	folder := "migrations/sqlite"
	if postgres {
		folder = "migrations/postgres"
	}
	files, err := fs.Sub(migrations, folder)
	if err != nil {
		return err
	}
	return database.Migrate(ctx, db, postgres, files, "interview_schema")
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
	if err := migrate(ctx, db, false); err != nil {
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
