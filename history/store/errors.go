package store

import (
	"errors"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/rehearse-dev/rehearse/internal/database"
)

// undefinedTable is the code of PostgreSQL for a table that does not exist.
const undefinedTable = "42P01"

// explain adds advice to the known errors of a database.
func explain(err error) error { return database.ExplainSQLite(database.ExplainPostgres(err)) }

// missingTable reports whether the table of a query does not exist.
func missingTable(err error) bool {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code == undefinedTable
	}
	return strings.Contains(err.Error(), "no such table")
}
