package database

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// Migrate creates or updates the tables of a store. files has the migrations, and versions is the
// table in which the database stores the applied ones. The error of a database with a newer schema
// wraps a NewerError.
func Migrate(ctx context.Context, db *sql.DB, postgres bool, files fs.FS, versions string) error {
	dialect := goose.DialectSQLite3
	if postgres {
		dialect = goose.DialectPostgres
	}
	p, err := goose.NewProvider(dialect, db, files, goose.WithTableName(versions), goose.WithDisableGlobalRegistry(true))
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
		err = &NewerError{Stored: stored, Known: known}
	}
	return err
}

// NewerError is the error of a database whose schema this program does not know.
type NewerError struct{ Stored, Known int64 }

func (e *NewerError) Error() string {
	return fmt.Sprintf("a newer version of this program wrote it (schema %d; this one knows %d): use that one", e.Stored, e.Known)
}
