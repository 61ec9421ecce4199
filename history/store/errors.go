package store

import (
	"errors"
	"fmt"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// Error codes of PostgreSQL.
const (
	undefinedTable  = "42P01"
	diskFull        = "53100"
	readOnly        = "25006"
	noPermission    = "42501"
	wrongPassword   = "28P01"
	unknownDatabase = "3D000"
)

// explain adds advice to the known errors of a database.
func explain(err error) error {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		advice := map[string]string{
			diskFull:        "the disk of the server is full; nothing was changed",
			readOnly:        "the server is read-only; name the primary server",
			noPermission:    "the user may not do that; it must be able to create tables, or they must exist",
			wrongPassword:   "the password is wrong; it may be in PGPASSWORD or in ~/.pgpass instead of the address",
			unknownDatabase: "create the database first",
		}[failure.Code]
		if advice != "" {
			return fmt.Errorf("%s: %w", advice, err)
		}
		return err
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return fmt.Errorf("the server cannot be reached: %w", err)
	}
	return database.ExplainSQLite(err)
}

// missingTable reports whether the table of a query does not exist.
func missingTable(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code == undefinedTable
	}
	return strings.Contains(err.Error(), "no such table")
}
